package reconcile

import (
	"errors"
	"fmt"
	"iter"

	"planbridge/mapping"
)

// Inspection reads the items of a root link, and says what a reconcile would do with them. It
// writes nothing.
type Inspection[R any] struct {
	w   work
	run func(work) (R, error)
	out R
}

// Steps are the necessary reads, as in [Work.Steps].
func (i *Inspection[R]) Steps() iter.Seq[*Step] {
	return stepwise(i.w.state, func() (err error) {
		i.out, err = i.run(i.w)
		return err
	})
}

// Result is the result of the inspection.
func (i *Inspection[R]) Result() (R, error) { return i.out, i.w.err }

// BeginPreview begins to decide about the state's link as the next reconcile would; it changes
// that link. The result is nil for a link without a pair or a route. An error says that the
// decision could not be made; a side that cannot be read is no error.
func BeginPreview(s State) *Inspection[*mapping.Preview] {
	return &Inspection[*mapping.Preview]{w: newWork(s), run: preview}
}

func preview(w work) (_ *mapping.Preview, err error) {
	l := w.link
	if w.route == nil || !w.served || l.Issue.Number == 0 || l.Card.ID == "" {
		return nil, nil //nolint:nilnil // there is nothing to decide about
	}
	w.hidden = visibility(w).public(l.Issue.Repo, false)
	out := &mapping.Preview{Unread: map[mapping.Side]string{}}
	noteUnread(out, mapping.GitHub, looker(w).lookAtIssue())
	noteUnread(out, mapping.Planning, looker(w).lookAtCard())
	out.GitHub, out.Planning = w.g, w.p
	if len(out.Gone) > 0 {
		return out, nil
	}
	if out.Plan, err = decider(w).resolve(); err != nil {
		return nil, fmt.Errorf("decide about %s: %w", where(&l.Pair), err)
	}
	return out, nil
}

// noteUnread notes that a side could not be read.
func noteUnread(p *mapping.Preview, side mapping.Side, err error) {
	if err == nil {
		return
	}
	p.Unread[side] = err.Error()
	if IsGone(err) || errors.Is(err, mapping.ErrMoved) {
		p.Gone = append(p.Gone, side)
	}
}

// BeginCleaning begins to list the marks that a cleaning would remove from the state's link,
// which it changes.
func BeginCleaning(s State) *Inspection[[]mapping.CleanStep] {
	w := newWork(s)
	w.link.Cleaning, w.link.Parted = true, false
	return &Inspection[[]mapping.CleanStep]{w: w, run: planCleaning}
}

func planCleaning(w work) (steps []mapping.CleanStep, err error) {
	if w.route == nil {
		w.route = w.set.Routes.Lend(w.link.Project)
	}
	if w.route == nil || !w.served {
		return nil, nil
	}
	if w.pair.State == mapping.Dormant {
		w.happens(mapping.EventRouteBack)
	}
	if steps, err = cleaner(w).plan(); err != nil {
		return nil, err
	}
	for _, p := range w.link.SubLinks {
		its, err := cleaner(partWorker(w).part(p)).plan()
		if err != nil {
			return nil, err
		}
		steps = append(steps, its...)
	}
	if w.over() {
		return steps, ErrOver
	}
	return steps, nil
}

// plan lists the marks of one pair's items. An item that a service refuses to show is a step
// of its own. A service that does not answer is an error.
func (w cleaner) plan() (steps []mapping.CleanStep, err error) {
	if s := w.pair.State; s != mapping.Linked && s != mapping.Left && s != mapping.Orphaned {
		return nil, nil
	}
	if w.pair.Away == "" && w.owner.Issue.Number != 0 {
		if steps, err = w.unread(mapping.GitHub, looker(w).lookAtIssue()); err != nil {
			return nil, err
		}
	}
	var tasks []mapping.Task
	if w.pair.Card.ID != "" {
		err := looker(w).lookAtItem()
		if err == nil {
			tasks, err = w.tasksOfCard()
		}
		refused, err := w.unread(mapping.Planning, err)
		if err != nil {
			return nil, err
		}
		steps = append(steps, refused...)
	}
	for _, m := range w.marks(tasks) {
		steps = append(steps, m.CleanStep)
	}
	return steps, nil
}

// unread is a plan's step for an item whose read failed with err.
func (w cleaner) unread(side mapping.Side, err error) ([]mapping.CleanStep, error) {
	switch {
	case err == nil, IsGone(err) && w.pair.State == mapping.Orphaned:
		return nil, nil
	case mapping.Refused(err):
		step := w.step(side, "cannot be looked at: %v", err)
		step.Unread = true
		return []mapping.CleanStep{step}, nil
	}
	return nil, fmt.Errorf("%s cannot be looked at: %w", where(w.pair), err)
}
