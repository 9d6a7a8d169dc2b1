package reconcile

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
	"planbridge/store"
)

// GitHub tells of each write of ours in an event that shows the issue as that
// write left it, and by the time it comes we may have made the next one. Each
// write leaves a step behind, and each step explains one event of our own
// account that shows exactly it. An event that no step explains is a snapshot as
// any other: somebody did something between two of our writes, or has our
// account, or the step's answer was lost.

// stepped notes what a write of ours made of the issue, where that is known as a
// whole. Until all of it has been dealt with, the issue is read again.
func (w *work) stepped(issue *mapping.Issue) {
	if issue.ID == 0 {
		return
	}
	w.owner.Unfinished = true
	journal.Step(&w.pair.Journal, mapping.DigestIssue(issue), w.Now())
}

// isStep reports whether a snapshot that came at a time of our clock shows a
// step of ours, and takes in what that tells: what is older is stale. The step
// is spent: another one that shows the same is not explained by it.
func (w *work) isStep(seen *mapping.Issue, came time.Time) bool {
	if !w.Whose(seen.Editor).Ours() || !journal.TakeStep(&w.pair.Journal, mapping.DigestIssue(seen), came) {
		return false
	}
	if known := &w.owner.Issue; seen.UpdatedAt.After(known.UpdatedAt) {
		known.UpdatedAt = seen.UpdatedAt
	}
	return true
}

// ownEvent takes in an event of our own account: one that shows no step goes to
// the inbox, as the store would have put it there.
func (w *work) ownEvent(e *mapping.OwnEvent) error {
	if w.isStep(&e.Issue, e.Came) {
		w.count(CountEchoes, string(mapping.GitHub))
		return nil
	}
	ref, at, digest := mapping.IssueRef(e.Issue.ID), e.Issue.UpdatedAt.Unix(), mapping.DigestIssue(&e.Issue)
	old, had := w.claim.Inbox[ref]
	if had && (old.At > at || old.At == at && old.Digest == digest) {
		return nil
	}
	data, err := json.Marshal(&e.Issue)
	if err != nil {
		return fmt.Errorf("snapshot of %s: %w", ref, err)
	}
	s := store.Snapshot{At: at, Digest: digest, Data: data, Seen: e.Came}
	if had {
		s.Ambiguous, s.Seen = old.At == at, old.Seen
	}
	if w.claim.Inbox == nil {
		w.claim.Inbox = map[mapping.Ref]store.Snapshot{}
	}
	w.claim.Inbox[ref] = s
	return nil
}

// addLabels adds labels to the issue, and sees what it has then. Each of them
// has an event of its own.
func (w *work) addLabels(issue *mapping.Issue, add []string) error {
	now, err := do(w, AddLabels{issue.Repo, issue.Number, add})
	if err != nil {
		return onGitHub(fmt.Errorf("add labels: %w", err))
	}
	for i := range len(add) - 1 {
		between := *issue
		between.Labels = slices.Concat(issue.Labels, add[:i+1])
		w.stepped(&between)
	}
	issue.Labels = now
	w.stepped(issue)
	return nil
}

// removeLabel takes a label off the issue, and sees what it has then.
func (w *work) removeLabel(issue *mapping.Issue, label string) (err error) {
	if issue.Labels, err = do(w, RemoveLabel{issue.Repo, issue.Number, label}); err != nil {
		return onGitHub(fmt.Errorf("remove label %s: %w", label, err))
	}
	w.stepped(issue)
	return nil
}
