package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// ensureTracking gives a linked card its tracking task: a card has no writable
// state (planning-api.md 4.2), a task has (4.4), so one task carries open, in
// progress and closed, both ways.
func (w *work) ensureTracking(ctx context.Context) error {
	if w.link.Task || !w.route.TrackingTask || w.set.DryRun || w.route.Direction == mapping.ToGitHub {
		return nil
	}
	child := w.link.Child(mapping.Tracking)
	if child == nil {
		w.addChild(mapping.EventWanted, mapping.Child{
			Kind: mapping.Tracking, Nonce: mapping.NewNonceIn(w.link.Project), Intent: &mapping.Intent{Side: mapping.Planning},
		})
		child = w.link.Child(mapping.Tracking)
	}
	if child.State != mapping.Creating {
		return nil
	}
	if _, refused := w.link.Refused[mapping.State]; refused {
		return nil
	}
	behind, err := w.behind(ctx)
	if err != nil {
		return err
	}
	if behind || child.Intent.Sent {
		found, err := w.adoptTracking(ctx, child)
		if found || err != nil {
			return err
		}
	}
	return w.makeTracking(ctx, child)
}

// adoptTracking looks among the card's tasks for the one that carries the
// marker (planning-api.md endpoint 13).
func (w *work) adoptTracking(ctx context.Context, child *mapping.Child) (bool, error) {
	if wait := w.set.Settle.Planning - time.Since(child.Intent.At); wait > 0 && !child.Intent.At.IsZero() {
		return false, later(wait, "the create of the tracking task may still be under way")
	}
	tasks, err := w.atPlanning().Tasks(ctx, w.link.Card.ID)
	if err != nil {
		return false, onPlanning(fmt.Errorf("tasks of card %s: %w", w.link.Card.ID, err))
	}
	slices.SortFunc(tasks, func(a, b mapping.Task) int { return cmp.Compare(a.CID, b.CID) }) // of copies the oldest
	for i := range tasks {
		_, marks := w.set.Keys.Body(tasks[i].Summary.Value)
		for _, m := range marks {
			if m.Kind == mapping.MarkTask && m.Partner == trackingPartner {
				w.Metrics.Prevented.WithLabelValues("lookup").Inc()
				child.Nonce = m.Nonce
				w.trackedBy(child, &tasks[i], "found by its marker")
				return true, nil
			}
		}
	}
	if child.Intent.Lookups++; child.Intent.Lookups < 2 && !child.Intent.At.IsZero() {
		return false, later(lookupGap, "absence of the tracking task is to be proven by a second lookup")
	}
	child.Intent.Sent, child.Intent.Lookups = false, 0
	return false, nil
}

// trackingPartner is what the marker of a tracking task says it stands for.
const trackingPartner = "tracking"

func (w *work) makeTracking(ctx context.Context, child *mapping.Child) error {
	mark := mapping.Marker{Kind: mapping.MarkTask, Link: w.link.ID, Nonce: child.Nonce, Partner: trackingPartner}
	item := NewItem{
		Title:   "GitHub " + issueName(w.link.Issue.Repo, w.link.Issue.Number),
		Summary: w.set.Keys.AppendFooter("This task carries the state of the issue: to do is open, in progress is its label, done is closed.", mark, w.link.Issue.Repo, w.link.Issue.Number, w.issueURL()),
	}
	task, err := send(ctx, w, child.Intent, func(ctx context.Context) (mapping.Task, error) {
		return w.atPlanning().CreateTask(ctx, w.link.Card.ID, w.route.Username, item)
	})
	var refused *mapping.Rejection
	switch {
	case errors.As(err, &refused):
		w.refuseValue(mapping.Planning, mapping.State, mapping.StateTodo, refused)
		return nil
	case isGone(err):
		return w.missing(ctx, mapping.Planning, err)
	case err != nil:
		return uncertainCreate(child.Intent, w.set.Settle.Planning, onPlanning(fmt.Errorf("create tracking task: %w", err)))
	}
	w.trackedBy(child, &task, "made")
	return nil
}

// trackedBy completes the tracking task. Its first base is a new task's state
// (planning-api.md part 3), so that an issue that is already in progress or
// closed is a change of GitHub.
func (w *work) trackedBy(child *mapping.Child, task *mapping.Task, how string) {
	w.happensTo(child, mapping.EventCompleted)
	child.Task, child.Intent = task.ID, nil
	state := task.State
	if state.Value == "" {
		state.Value = mapping.StateTodo
	}
	w.setBase(mapping.State, mapping.Base{GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: state.Version})
	w.p[mapping.State] = state
	w.link.Card.CountersVersion++
	w.note(mapping.Planning, mapping.State, "create", "tracking task "+string(task.ID)+" "+how)
}
