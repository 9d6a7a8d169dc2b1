package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
)

// makeSubTasks makes the tasks of all new sub-issues with one request, exactly
// once each: every one carries its marker, by which it is known again in the
// answer, in whatever order that comes, and among the card's tasks, where the
// answer was lost.
func (w *work) makeSubTasks(ctx context.Context) error {
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
	behind, err := w.behind(ctx)
	if err != nil {
		return err
	}
	if behind && !w.tasks.listed {
		if err := w.needTasks(ctx); err != nil {
			return err
		}
	}
	wanted, err = w.findTasks(ctx, wanted)
	var ready []*work
	for _, pw := range wanted {
		ok, readyErr := pw.taskReady(ctx)
		if ok {
			ready = append(ready, pw)
		}
		err = worst([]error{err, w.passed(pw, readyErr)})
	}
	for user, batch := range mapping.Sorted(byUser(ready)) {
		err = worst([]error{err, w.postSubTasks(ctx, user, batch)})
	}
	return err
}

// byUser parts a batch by the people in whose name its tasks are made: nearly
// always one.
func byUser(ready []*work) map[string][]*work {
	out := map[string][]*work{}
	for _, pw := range ready {
		out[pw.username()] = append(out[pw.username()], pw)
	}
	return out
}

// findTasks takes those among the card's tasks that were made already, and
// returns the parts whose tasks certainly are not. Absence is proven by two
// readings after the time that a create may be under way.
func (w *work) findTasks(ctx context.Context, wanted []*work) (absent []*work, put error) {
	var unsure []*work
	for _, pw := range wanted {
		switch found, err := w.adoptTask(ctx, pw); {
		case found || err != nil:
			put = worst([]error{put, w.passed(pw, err)})
		case !pw.link.Intent.Sent:
			absent = append(absent, pw)
		case w.set.Settle.Planning > time.Since(pw.link.Intent.At):
			put = worst([]error{put, later(w.set.Settle.Planning-time.Since(pw.link.Intent.At), "the create of a task may still be under way")})
		default:
			unsure = append(unsure, pw)
		}
	}
	if len(unsure) == 0 {
		return absent, put
	}
	if err := w.readTasks(ctx, nil); err != nil {
		return absent, err
	}
	if !w.tasks.listed {
		return absent, later(lookupGap, "the card's tasks cannot be read")
	}
	for _, pw := range unsure {
		found, err := w.adoptTask(ctx, pw)
		if found || err != nil {
			put = worst([]error{put, w.passed(pw, err)})
			continue
		}
		if pw.link.Intent.Lookups++; pw.link.Intent.Lookups < 2 {
			put = worst([]error{put, later(lookupGap, "absence of a task is to be proven by a second lookup")})
			continue
		}
		pw.link.Intent.Sent, pw.link.Intent.Lookups = false, 0
		absent = append(absent, pw)
	}
	return absent, put
}

// adoptTask links the part with the task that carries its marker, if that was
// seen; of copies the oldest.
func (w *work) adoptTask(ctx context.Context, pw *work) (bool, error) {
	for _, t := range w.tasks.inOrder() {
		if !pw.ours(t.Summary.Value, mapping.MarkTask) {
			continue
		}
		if err := pw.fetch(ctx); err != nil {
			return false, err
		}
		if pw.link.Intent.Base == nil { // made for an earlier record of the pair
			pw.link.Intent.Base = map[mapping.Attribute]mapping.Base{}
		}
		w.Metrics.Prevented.WithLabelValues("lookup").Inc()
		pw.linkTask(&t, "found by its marker")
		return true, w.passed(pw, nil)
	}
	return false, nil
}

// taskReady makes sure that the sub-issue is at hand and that the task may be
// made. It is read: what an event told before the link knew the sub-issue may
// have been lost with a link that was to be its own. A value that planning
// refused waits until it changes.
func (w *work) taskReady(ctx context.Context) (bool, error) {
	if err := w.fetch(ctx); err != nil {
		return false, err
	}
	if ok, why := w.accepts(); !ok {
		return false, w.refuse(why)
	}
	if refused, ok := w.link.Refused[mapping.Title]; ok && refused.Value == mapping.DigestText(w.g[mapping.Title].Value) {
		return false, nil
	}
	if err := w.alone(ctx); err != nil {
		return false, err
	}
	if _, err := w.brake(ctx, "creates", w.set.Brakes.CreatesPerMinute, 1); err != nil {
		return false, err
	}
	return true, w.oneEstimate(ctx)
}

// newTask is the task as it is made, with the base that it has once it is.
func (w *work) newTask() NewItem {
	view, _ := mapping.IssueView(w.issue, w.set.Scheme, w.set.Keys, nil)
	hours := mapping.PlanningForm(mapping.Estimate, view[mapping.Estimate].Value, "")
	if refused, ok := w.link.Refused[mapping.Estimate]; ok && refused.Value == mapping.DigestText(hours) {
		hours = ""
	}
	summary := mapping.PlanningForm(mapping.Summary, view[mapping.Summary].Value, "")
	w.link.Intent.Base = map[mapping.Attribute]mapping.Base{
		mapping.Title:    {GitHub: view[mapping.Title].Value, Planning: view[mapping.Title].Value},
		mapping.Summary:  {GitHub: view[mapping.Summary].Value, Planning: summary},
		mapping.Estimate: {GitHub: view[mapping.Estimate].Value, Planning: hours},
	}
	return NewItem{Title: view[mapping.Title].Value, Summary: w.cardText(summary), Estimate: hours}
}

// postSubTasks makes one request for the tasks of a batch and links what was
// answered.
func (w *work) postSubTasks(ctx context.Context, user string, batch []*work) error {
	items := make([]NewItem, len(batch))
	for i, pw := range batch {
		items[i] = pw.newTask()
		*pw.link.Intent = mapping.Intent{
			Side: mapping.Planning, Nonce: pw.link.Nonce, Base: pw.link.Intent.Base, Sent: true, At: time.Now().UTC(),
		}
	}
	wctx, cancel, err := w.writing(ctx)
	if err != nil {
		unsent(batch)
		return err
	}
	made, err := w.atPlanning().CreateTasks(wctx, w.link.Card.ID, user, items)
	cancel()
	var waiting []*work
	for _, pw := range batch {
		if !pw.linkMade(made, len(batch) == 1) {
			waiting = append(waiting, pw)
		}
		err = worst([]error{err, w.passed(pw, nil)})
	}
	var refused *mapping.Rejection
	switch {
	case len(waiting) == 0:
		return nil
	case errors.As(err, &refused):
		unsent(waiting)
		return w.tasksRefused(ctx, user, waiting, refused)
	case err != nil && certain(err):
		unsent(waiting)
		if isGone(err) {
			return w.missing(ctx, mapping.Planning, err)
		}
		return onPlanning(fmt.Errorf("create tasks: %w", err))
	case err == nil:
		err = fmt.Errorf("%d of %d tasks are not in the answer", len(waiting), len(batch))
	}
	return later(w.set.Settle.Planning, "create tasks: %v; to be looked for before they are made again", err)
}

func unsent(batch []*work) {
	for _, pw := range batch {
		pw.link.Intent.Sent = false
	}
}

// linkMade takes the part's task out of an answer.
func (w *work) linkMade(made []mapping.Task, alone bool) bool {
	for i := range made {
		if w.ours(made[i].Summary.Value, mapping.MarkTask) || alone {
			w.linkTask(&made[i], "made for the sub-issue")
			return true
		}
	}
	return false
}

// tasksRefused sorts out a refused batch: each on its own, and of one that is
// alone first the person's name and then the estimate is left out.
func (w *work) tasksRefused(ctx context.Context, user string, batch []*work, refused *mapping.Rejection) error {
	if len(batch) > 1 {
		return w.postOneByOne(ctx, user, batch)
	}
	pw := batch[0]
	hours := pw.link.Intent.Base[mapping.Estimate].Planning
	switch {
	case user != w.route.Username && !isAttribute(refused.Field):
		w.refuseUser(user, refused)
		return w.postSubTasks(ctx, w.route.Username, batch)
	case hours != "" && (refused.Field == "" || refused.Field == string(mapping.Estimate)):
		pw.refuseValue(mapping.Planning, mapping.Estimate, hours, refused)
		return w.postSubTasks(ctx, user, batch)
	}
	pw.refuseValue(mapping.Planning, mapping.Title, pw.link.Intent.Base[mapping.Title].GitHub, refused)
	return w.passed(pw, nil)
}

// postOneByOne makes the tasks of a refused batch each on its own, so that one
// refused value does not keep the others. Whether a part of the batch was taken
// no document tells, so it is looked for first.
func (w *work) postOneByOne(ctx context.Context, user string, batch []*work) error {
	if err := w.readTasks(ctx, nil); err != nil {
		return err
	}
	var errs []error
	for _, pw := range batch {
		found, err := w.adoptTask(ctx, pw)
		if !found && err == nil {
			err = w.postSubTasks(ctx, user, []*work{pw})
		}
		errs = append(errs, w.passed(pw, err))
	}
	return worst(errs)
}

// linkTask completes the part with the task that its intent made.
func (w *work) linkTask(t *mapping.Task, how string) {
	w.link.Card = mapping.CardID{ID: t.ID, CID: t.CID, Version: t.Version}
	w.setTask(t)
	w.link.Base = map[mapping.Attribute]mapping.Base{mapping.State: bornTodo(t.State)}
	for a, base := range w.link.Intent.Base {
		w.link.Base[a] = w.answered(a, base, base.Planning, w.p[a])
	}
	if w.issue != nil {
		w.know(w.issue) // what was handed over with the sub-issue may be older
	}
	w.root.link.Card.CountersVersion++
	w.root.tasks.take(*t)
	w.linked(mapping.Planning, fmt.Sprintf("task %s %s", t.ID, how))
}
