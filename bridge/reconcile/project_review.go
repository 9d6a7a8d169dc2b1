package reconcile

import (
	"fmt"
	"time"

	"planbridge/mapping"
)

// showReview closes the issue where the card's review says so: once for each changed value, so
// that a person can reopen it. The tracking task then gets the closed state like any other.
//
// The link records the review only after GitHub answered the close. Before the request it records
// that a close may be under way. A later claim that finds that record asks GitHub whether the issue
// was closed. It may be open because the request failed, or because a person has reopened it.
func (w reviewProjector) showReview() error {
	s := w.link.Shown
	if mapping.ReviewOf(s.Review) == mapping.ReviewOf(w.link.Review) && s.Closing.IsZero() {
		w.link.Review = s.Review
		return nil
	}
	defer w.showing(false)() // a review is a person's change
	if err := pacer(w).foldShow(); err != nil && s.Closing.IsZero() {
		return err
	}
	if err := reader(w).fetch(); err != nil {
		return err
	}
	acted := w.actedOn()
	verdict := mapping.ReviewAction(w.link.Review, s.Review, w.issue.State)
	if !acted && (verdict == mapping.VerdictCloseCompleted || verdict == mapping.VerdictCloseNotPlanned) {
		if err := w.closeFor(verdict); err != nil {
			return err
		}
	}
	w.link.Review = s.Review
	return nil
}

// actedOn reports whether the card's review closed the issue before. The answer to that write may
// have been lost. Or the store has lost the link since, and the review's label says so.
func (w reviewProjector) actedOn() bool {
	s := w.link.Shown
	if w.round.first {
		return w.set.Scheme.Reviewed(w.issue.Labels, s.Review)
	}
	if s.Closing.IsZero() {
		return false
	}
	acted := w.issue.State == "closed"
	if !acted {
		at, err := do(w, ReadActed{w.owner.Issue.Repo, w.owner.Issue.Number, s.Closing, mapping.Act{Event: mapping.ActClosed}})
		acted = !at.IsZero()
		if err != nil {
			// Where GitHub does not tell, a reopened issue was closed.
			w.log.Warn("looking for a close whose answer was lost", "err", err)
			acted = w.issue.StateReason == "reopened"
		}
	}
	s.Closing = time.Time{}
	return acted
}

func (w reviewProjector) closeFor(verdict mapping.Verdict) error {
	if err := saver(w).brakeClose(); err != nil {
		return err
	}
	if err := pacer(w).paceShow(); err != nil {
		return err
	}
	s := w.link.Shown
	s.Closing = w.issue.UpdatedAt
	if err := saver(w).writing(); err != nil {
		s.Closing = time.Time{}
		return err
	}
	state, reason, was := "closed", string(verdict), reader(w).viewOf(w.issue)[mapping.State].Value
	issue, err := do(w, EditIssue{w.owner.Issue.Repo, w.owner.Issue.Number, IssueEdit{State: &state, StateReason: &reason}, false})
	if err != nil {
		if Certain(err) {
			s.Closing = time.Time{}
		}
		return onGitHub(fmt.Errorf("close for the review: %w", err))
	}
	s.Closing = time.Time{}
	freshness(w).wrote(mapping.State, was, w.Now(), &issue)
	reader(w).issueIs(&issue)
	projector(w).noteShown(mapping.State, fmt.Sprintf("the review is %s: closed as %s", s.Review, reason))
	return nil
}
