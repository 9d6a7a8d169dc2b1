package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// errShare: the labels wait for their share of GitHub's write budget; nothing of
// the issue was asked or written for them.
var errShare = errors.New("labels")

// showLabels brings the labels that show the card in line, one by one: the set
// is never replaced. So what is known of it is good enough to begin with: adding a label again
// does no harm, and the answer tells which ones the issue has.
func (w labelProjector) showLabels() error {
	add, remove := w.labelsToShow()
	if len(add)+len(remove) > 0 {
		if err := pacer(w).foldShow(); err != nil && freshness(w).showsOwnEvent() {
			return err // what the issue has is not known
		} else if err != nil {
			return fmt.Errorf("%w: %w", errShare, err)
		}
		if err := saver(w).reserve(WriteEdit); err != nil {
			return fmt.Errorf("%w: %w", errShare, err)
		}
	}
	if w.issue == nil && w.mayBeThere(add) {
		if err := reader(w).readIssue(); err != nil {
			return err
		}
		add, remove = w.labelsToShow()
	}
	if len(add)+len(remove) > 0 && freshness(w).showsOwnEvent() {
		if err := reader(w).readIssue(); err != nil {
			return err
		}
		add, remove = w.labelsToShow()
	}
	if len(add)+len(remove) == 0 {
		return nil
	}
	if err := pacer(w).paceShow(); err != nil {
		return err
	}
	for _, l := range add {
		w.ensureLabel(l)
	}
	w.link.Shown.Make(add, w.set.Scheme)
	if err := saver(w).writing(); err != nil {
		return err
	}
	issue := mapping.Issue{Repo: w.owner.Issue.Repo, Number: w.owner.Issue.Number}
	if w.issue != nil {
		issue = *w.issue
	}
	if len(add) > 0 {
		if err := githubWriter(w).addLabels(&issue, add); err != nil {
			return err
		}
		w.carries(issue.Labels)
		if missing := slices.DeleteFunc(slices.Clone(add), func(l string) bool { return containsFold(issue.Labels, l) }); len(missing) > 0 {
			return onGitHub(fmt.Errorf("add labels: %q were dropped in silence: %w", missing, mapping.ErrForbidden))
		}
	}
	for _, l := range remove {
		if err := githubWriter(w).removeLabel(&issue, l); err != nil {
			return err
		}
		w.carries(issue.Labels)
	}
	projector(w).noteShown("labels", fmt.Sprintf("%q on, %q off", add, remove))
	return nil
}

// labelsToShow compares the labels that the issue has, as far as is known, with
// those that show the card.
func (w labelProjector) labelsToShow() (add, remove []string) {
	s := w.link.Shown
	current := s.Labels
	if w.issue != nil {
		current = w.issue.Labels
		s.Carry(current, w.cardToShow(), w.set.Scheme)
	}
	return s.Project(current, w.cardToShow(), w.set.Scheme)
}

// cardToShow is the part of the card that labels show.
func (w labelProjector) cardToShow() *mapping.Card {
	card := w.link.Shown.Card(w.pair.Card.BucketName)
	if card.CID = w.pair.Card.CID; w.card != nil && w.card.CID != 0 {
		card.CID = w.card.CID
	}
	return card
}

// mayBeThere reports whether a label to add may be a person's on an issue that was
// not looked at for it.
func (w labelProjector) mayBeThere(add []string) bool {
	return slices.ContainsFunc(add, func(l string) bool {
		return w.set.Scheme.IsCardLabel(l) && !containsFold(w.link.Shown.Made, l)
	})
}

// carries takes in the labels that the issue has after a write.
func (w labelProjector) carries(now []string) {
	w.link.Shown.Carry(now, w.cardToShow(), w.set.Scheme)
	if w.issue != nil {
		issue := *w.issue
		issue.Labels = now
		reader(w).setIssue(&issue)
	}
}

// ensureLabel gives a label its colour and description before it is first
// added. GitHub makes unknown labels when they are added, so nothing is lost
// where this goes wrong, nor for a label that is of one issue alone.
func (w labelProjector) ensureLabel(name string) {
	if w.set.Scheme.IsCardLabel(name) {
		return
	}
	key := "label " + name + " in " + w.owner.Issue.Repo
	if get(w, PauseLeft{key}).Wait > 0 {
		return
	}
	spec := w.set.Scheme.Spec(name)
	_ = get(w, PauseAfter{Name: key, First: ensured, Most: ensured})
	err := done(w, EnsureLabel{w.owner.Issue.Repo, spec})
	if isWithheld(err) {
		tell(w, PauseOver{key}) // nor is the label added
	} else if err != nil {
		w.log.Warn("a label goes without its colour", "label", name, "err", err)
	}
}

// ensured is how long a label is believed to be there. One that a person deletes before is made
// again by GitHub, without its colour.
const ensured = 24 * time.Hour
