package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// showLabels writes the labels that project the card, one by one: the set is never replaced.
// The recorded labels are good enough to begin with. Adding a label twice does no harm, and
// the answer lists all labels of the issue.
func (w labelProjector) showLabels() error {
	add, remove := w.labelsToShow()
	if len(add)+len(remove) > 0 {
		if err := pacer(w).foldShow(); err != nil && freshness(w).showsOwnEvent() {
			return err // the issue's labels are not known
		} else if err != nil {
			return fmt.Errorf("%w: %w", errShare, err)
		}
		s := w.sharing(add, remove)
		if err := saver(w).reserves(Reserve{Class: WriteEdit, Sharing: s}); err != nil {
			return w.waitForShare(err, s)
		}
	}
	if w.issue == nil && w.mayBeThere(add) || len(add)+len(remove) > 0 && freshness(w).showsOwnEvent() {
		if err := reader(w).readIssue(); err != nil {
			return err
		}
		add, remove = w.labelsToShow()
	}
	if len(add)+len(remove) == 0 {
		w.link.Shown.Waited = false
		return nil
	}
	return w.relabel(add, remove)
}

// relabel writes the labels. Where they have to wait for their share of the budget, nothing
// has changed.
func (w labelProjector) relabel(add, remove []string) error {
	s := w.sharing(add, remove)
	for _, l := range add {
		if err := w.ensureLabel(l); err != nil {
			return w.waitForShare(err, s)
		}
	}
	pace := w.pair.Pace
	if err := pacer(w).paceShow(); err != nil {
		return err
	}
	w.link.Shown.Make(add, w.set.Scheme)
	if err := saver(w).writing(); err != nil {
		return err
	}
	begun, err := w.write(add, remove, s)
	if limited := (*mapping.RateLimited)(nil); !begun && errors.As(err, &limited) {
		w.pair.Pace = pace
		return w.waitForShare(err, s)
	}
	w.link.Shown.Waited = false
	if err == nil {
		projector(w).noteShown("labels", changedNames(add, remove))
	}
	return err
}

// waitForShare puts off labels that wait for their share of the budget. Labels that may share
// a request with other issues come back at one common moment, so that one request takes many
// of them.
func (w labelProjector) waitForShare(err error, s Sharing) error {
	var limited *mapping.RateLimited
	if s.Node == "" || !errors.As(err, &limited) {
		return fmt.Errorf("%w: %w", errShare, err)
	}
	w.link.Shown.Waited = true
	joint := *limited
	joint.After, joint.Joint = w.untilShared(limited.After), true
	return fmt.Errorf("%w: %w", errShare, onGitHub(&joint))
}

// write adds labels and removes others, and reports whether any of that happened.
func (w labelProjector) write(add, remove []string, s Sharing) (begun bool, err error) {
	issue := mapping.Issue{Repo: w.owner.Issue.Repo, Number: w.owner.Issue.Number}
	if w.issue != nil {
		issue = *w.issue
	}
	if len(add) > 0 {
		if err := githubWriter(w).addLabels(&issue, add, s); err != nil {
			return false, err
		}
		w.carries(issue.Labels)
		if missing := slices.DeleteFunc(slices.Clone(add), func(l string) bool { return containsFold(issue.Labels, l) }); len(missing) > 0 {
			return true, onGitHub(fmt.Errorf("add labels: %q were dropped in silence: %w", missing, mapping.ErrForbidden))
		}
	}
	for i, l := range remove {
		if err := githubWriter(w).removeLabel(&issue, l, s); err != nil {
			return len(add)+i > 0, err
		}
		w.carries(issue.Labels)
	}
	return true, nil
}

// sharing says whether the labels may share a request with other issues. A label with a card's
// number belongs to one issue, and is created when it is added.
func (w labelProjector) sharing(add, remove []string) Sharing {
	if slices.ContainsFunc(slices.Concat(add, remove), w.set.Scheme.IsCardLabel) {
		return Sharing{}
	}
	return Sharing{w.owner.Issue.NodeID, w.link.Shown.Waited}
}

// labelsToShow compares the issue's labels, as far as they are known, with those that project
// the card.
func (w labelProjector) labelsToShow() (add, remove []string) {
	s := w.link.Shown
	current := s.Labels
	if w.issue != nil {
		current = w.issue.Labels
		s.Carry(current, w.cardToShow(), w.set.Scheme)
	}
	return s.Project(current, w.cardToShow(), w.set.Scheme)
}

// cardToShow is the part of the card that labels project.
func (w labelProjector) cardToShow() *mapping.Card {
	card := w.link.Shown.Card(w.pair.Card.BucketName)
	if card.CID = w.pair.Card.CID; w.card != nil && w.card.CID != 0 {
		card.CID = w.card.CID
	}
	return card
}

// mayBeThere reports whether a label to add may already be on an issue that was not read.
func (w labelProjector) mayBeThere(add []string) bool {
	return slices.ContainsFunc(add, func(l string) bool {
		return w.set.Scheme.IsCardLabel(l) && !containsFold(w.link.Shown.Made, l)
	})
}

// carries records the issue's labels after a write.
func (w labelProjector) carries(now []string) {
	w.link.Shown.Carry(now, w.cardToShow(), w.set.Scheme)
	if w.issue != nil {
		issue := *w.issue
		issue.Labels = now
		reader(w).setIssue(&issue)
	}
}

// ensureLabel gives a label its colour and description before its first use. GitHub creates
// unknown labels without both when they are added. So one key creates the label. Where that has to
// wait, or GitHub does not do what it is asked, so does the label; any other failure loses only its
// colour. A label that belongs to one issue gets neither.
func (w labelProjector) ensureLabel(name string) error {
	if w.set.Scheme.IsCardLabel(name) {
		return nil
	}
	key := "label " + name + " in " + w.owner.Issue.Repo
	if get(w, PauseLeft{key}).Wait > 0 {
		return nil
	}
	makes := "making " + key
	if get(w, PauseLeft{makes}).Wait > 0 {
		return onGitHub(&mapping.RateLimited{API: "github", After: time.Second, Why: "another key makes the label " + name, Turn: true})
	}
	_ = get(w, PauseAfter{Name: makes, First: making, Most: making})
	err := onGitHub(done(w, EnsureLabel{w.owner.Issue.Repo, w.set.Scheme.Spec(name)}))
	send(w, PauseOver{makes})
	limited, moved := (*mapping.RateLimited)(nil), (*mapping.MovedError)(nil)
	switch {
	case isWithheld(err): // nor is the label added
		return nil
	case errors.As(err, &limited), errors.As(err, &moved), isUnanswered(err), errors.Is(err, mapping.ErrUnauthorized):
		return err // adding the label would fail alike
	case err != nil:
		w.log.Warn("a label goes without its colour", "label", name, "err", err)
	}
	_ = get(w, PauseAfter{Name: key, First: ensured, Most: ensured})
	return nil
}

const (
	// ensured is how long a label is believed to exist. GitHub creates a label again that a
	// person deletes before, without its colour.
	ensured = 24 * time.Hour
	// making bounds how long a key waits for a label that another key creates.
	making = 10 * time.Second
)
