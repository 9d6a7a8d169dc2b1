package reconcile

import (
	"fmt"

	"planbridge/mapping"
)

// Some reads serve no decision about the pair: they choose its route, make a preview, or list
// the marks that a cleaning would remove. They change nothing that is recorded of the item.

// toChoose returns the issue that decides the route: its snapshot, or a read.
func (w looker) toChoose() (*mapping.Issue, error) {
	shown := w.shownOrPlace()
	if reader(w).issueSeen() != nil || w.owner.Issue.Number == 0 {
		return shown, nil
	}
	read, err := do(w, ReadIssue{w.owner.Issue.Repo, w.owner.Issue.Number})
	switch {
	case err == nil:
		return &read, nil
	case unreachable(err): // later rules find out where it is
		return shown, nil
	}
	return nil, onGitHub(err)
}

// shownOrPlace is the issue's snapshot, or an issue that has only its repository.
func (w looker) shownOrPlace() *mapping.Issue {
	if shown := reader(w).issueSeen(); shown != nil {
		return shown
	}
	return &mapping.Issue{Repo: w.owner.Issue.Repo}
}

// lookAtIssue reads the issue, and draws no conclusion from an answer "gone" or a read that
// may lag.
func (w looker) lookAtIssue() error {
	issue, err := do(w, ReadIssue{w.owner.Issue.Repo, w.owner.Issue.Number})
	if err == nil {
		err = differentIssue(&w.owner.Issue, &issue)
	}
	if err == nil {
		reader(w).setIssue(&issue)
	}
	return err
}

// lookAtItem is lookAtIssue for the pair's card or task.
func (w looker) lookAtItem() error {
	card, err := reader(w).askPlanning(w.pair.Partner())
	if err == nil {
		reader(w).setCard(card)
	}
	return err
}

// lookAtCard is lookAtItem for a card and its tracking task.
func (w looker) lookAtCard() error {
	if err := w.lookAtItem(); err != nil {
		return err
	}
	child := w.tracking()
	if child == nil {
		return nil
	}
	task, err := do(w, ReadTask{child.Card.ID})
	if err != nil {
		return fmt.Errorf("tracking task: %w", err)
	}
	w.p[mapping.State] = task.State
	return nil
}
