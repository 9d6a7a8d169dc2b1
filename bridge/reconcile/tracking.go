package reconcile

import (
	"planbridge/mapping"
)

// ensureTracking gives a linked card its tracking task: a card has no writable
// state (planning-api.md 4.2), a task has (4.4), so one task carries open, in
// progress and closed, both ways.
func (w *work) ensureTracking() error {
	if !w.route.TrackingTask || w.route.Direction == mapping.ToGitHub {
		return nil
	}
	child := w.trackingPair()
	if child == nil {
		w.addChild(mapping.EventWanted, &mapping.Pair{
			Kind: mapping.Tracking, Nonce: w.newNonce(w.link.Project), Intent: &mapping.Intent{Side: mapping.Planning},
		})
		child = w.trackingPair()
	}
	if child.State != mapping.Creating {
		return nil
	}
	if _, refused := w.pair.Refused[mapping.State]; refused {
		return nil
	}
	wants := []*want{{w: w, intent: child.Intent, user: w.route.Username}}
	if err := w.mayExist(wants); err != nil {
		return err
	}
	return w.makeTasks(creation{what: "create tracking task", free: true}, newTasks{
		marks: func(k *want, _ *mapping.Task, m mapping.Marker) bool {
			return m.Partner == trackingPartner && k.intent.Sent // else it is a copied card's
		},
		taken: func(_ *want, t *mapping.Task, how string) error {
			w.trackedBy(child, t, how)
			return nil
		},
		may:  func(*want) (bool, error) { return true, nil },
		item: func(*want) NewItem { return w.trackingItem(child) },
		no: func(_ *want, why *mapping.Rejection) {
			w.refuseValue(mapping.Planning, mapping.State, mapping.StateTodo, why)
		},
	}, wants)
}

// trackingPartner is what the marker of a tracking task says it stands for.
const trackingPartner = "tracking"

func (w *work) trackingItem(child *mapping.Pair) NewItem {
	mark := mapping.Marker{Kind: mapping.MarkTask, Link: w.link.ID, Nonce: child.Nonce, Partner: trackingPartner}
	return NewItem{
		Title:   "GitHub " + issueName(w.owner.Issue.Repo, w.owner.Issue.Number),
		Summary: w.set.Keys.AppendFooter("This task carries the state of the issue: to do is open, in progress is its label, done is closed.", mark, w.owner.Issue.Repo, w.owner.Issue.Number, w.issueURL()),
	}
}

// trackedBy completes the tracking task. Its first base is a new task's state
// (planning-api.md part 3), so that an issue that is already in progress or
// closed is a change of GitHub.
func (w *work) trackedBy(child *mapping.Pair, task *mapping.Task, how string) {
	w.happensTo(child, mapping.EventCompleted)
	child.Card.ID, child.Intent = task.ID, nil
	if m, ok := w.itemMark(task); ok {
		child.Nonce = m.Nonce
	}
	state := task.State
	if state.Value == "" {
		state.Value = mapping.StateTodo
	}
	w.setBase(mapping.State, mapping.Base{GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: state.Version})
	w.p[mapping.State] = state
	w.pair.Card.CountersVersion++
	w.notePart(string(mapping.Tracking), mapping.Planning, mapping.State, "create", "tracking task "+string(task.ID)+" "+how)
}
