package reconcile

import (
	"fmt"
	"strconv"

	"planbridge/mapping"
)

// makeSubTasks makes the tasks of all new sub-issues with one request, exactly
// once each: every one carries its marker, by which it is known again in the
// answer, in whatever order that comes, and among the card's tasks, where the
// answer was lost.
func (w *work) makeSubTasks() error {
	var wanted []*work
	for _, p := range w.link.Parts {
		if p.State == mapping.Creating && p.Intent.Side == mapping.Planning {
			wanted = append(wanted, w.part(p))
		}
	}
	wanted = w.withinRoom(wanted)
	if len(wanted) == 0 || w.set.DryRun {
		return nil
	}
	wants := make([]*want, len(wanted))
	for i, pw := range wanted {
		wants[i] = &want{w: pw, intent: pw.pair.Intent}
	}
	if err := w.mayExist(wants); err != nil {
		return err
	}
	err := w.makeTasks(creation{what: "create tasks"}, newTasks{
		marks: func(k *want, _ *mapping.Task, m mapping.Marker) bool {
			return m.Partner == strconv.FormatInt(k.w.owner.Issue.ID, 10)
		},
		taken: func(k *want, t *mapping.Task, how string) error {
			return w.passed(k.w, k.w.takeTask(t, how))
		},
		may: func(k *want) (bool, error) {
			ok, err := k.w.taskReady(k)
			return ok, w.passed(k.w, err)
		},
		item: (*want).newItem,
		no: func(k *want, why *mapping.Rejection) {
			k.w.refuseValue(mapping.Planning, mapping.Title, k.base[mapping.Title].GitHub, why)
		},
	}, wants)
	for _, pw := range wanted {
		err = worst([]error{err, w.passed(pw, nil)})
	}
	return err
}

// takeTask links the part with its task.
func (w *work) takeTask(t *mapping.Task, how string) error {
	if w.issue == nil {
		if err := w.fetch(); err != nil {
			return err
		}
	}
	if w.pair.Intent.Base == nil { // made for an earlier record of the pair
		w.pair.Intent.Base = map[mapping.Attribute]mapping.Base{}
	}
	w.linkTask(t, how)
	return nil
}

// taskReady makes sure that the sub-issue is at hand and that the task may be
// made. It is read: what an event told before the link knew the sub-issue may
// have been lost with a link that was to be its own. A value that planning
// refused waits until it changes.
func (w *work) taskReady(k *want) (bool, error) {
	if err := w.fetch(); err != nil {
		return false, err
	}
	if ok, why := w.accepts(); !ok {
		return false, w.refuse(why)
	}
	if refused, ok := w.pair.Refused[mapping.Title]; ok && refused.Value == mapping.DigestText(w.g[mapping.Title].Value) {
		return false, nil
	}
	if err := w.alone(); err != nil {
		return false, err
	}
	if err := w.oneEstimate(); err != nil {
		return false, err
	}
	k.user, k.base = w.username(), w.firstBase()
	return true, nil
}

// linkTask completes the part with the task that its intent made.
func (w *work) linkTask(t *mapping.Task, how string) {
	w.pair.Card = mapping.CardID{ID: t.ID, CID: t.CID, Version: t.Version}
	w.setTask(t)
	w.pair.Base = map[mapping.Attribute]mapping.Base{mapping.State: bornTodo(t.State)}
	for a, base := range w.pair.Intent.Base {
		w.pair.Base[a] = w.answered(a, base, base.Planning, w.p[a])
	}
	if w.issue != nil {
		w.know(w.issue) // what was handed over with the sub-issue may be older
	}
	w.root.pair.Card.CountersVersion++
	w.root.tasks.take(*t)
	w.linked(mapping.Planning, fmt.Sprintf("task %s %s", t.ID, how))
}
