package reconcile

import (
	"fmt"
	"iter"

	"planbridge/mapping"
)

// Preview is the reading of both items of a root link, and the decision about them as the
// next reconcile would make it. It asks for no write.
type Preview struct {
	w   work
	out *mapping.Preview
}

// BeginPreview begins a preview of the link of a state, which the preview changes.
func BeginPreview(s State) *Preview { return &Preview{w: newWork(s)} }

// Steps are the reads that the preview needs, as of [Work.Steps].
func (p *Preview) Steps() iter.Seq[*Step] { return stepwise(p.w.state, p.run) }

// Result is nil for a link whose pair does not exist yet or whose route is not configured. An
// error means that the decision could not be made; a side that cannot be read is no error.
func (p *Preview) Result() (*mapping.Preview, error) { return p.out, p.w.err }

func (p *Preview) run() (err error) {
	w := p.w
	l := w.link
	if w.route == nil || !w.served || l.Issue.Number == 0 || l.Card.ID == "" {
		return nil
	}
	w.hidden = visibility(w).public(l.Issue.Repo, false)
	out := &mapping.Preview{Unread: map[mapping.Side]string{}}
	if err := reader(w).lookAtIssue(); err != nil {
		out.Unread[mapping.GitHub] = err.Error()
	}
	if err := reader(w).lookAtCard(); err != nil {
		out.Unread[mapping.Planning] = err.Error()
	}
	if out.Plan, err = decider(w).resolve(); err != nil {
		return fmt.Errorf("decide about %s: %w", where(&l.Pair), err)
	}
	out.GitHub, out.Planning = w.g, w.p
	p.out = out
	return nil
}

// Cleaning is the reading of a root link's items, and what of the bridge's would be taken
// off them. It asks for no write, and judges nothing by what it reads.
type Cleaning struct {
	w   work
	out []mapping.CleanStep
}

// BeginCleaning begins to look what would be taken off the link of a state, which it changes.
func BeginCleaning(s State) *Cleaning {
	c := &Cleaning{w: newWork(s)}
	c.w.link.Cleaning, c.w.link.Parted = true, false
	return c
}

// Steps are the reads that are needed, as of [Work.Steps].
func (c *Cleaning) Steps() iter.Seq[*Step] { return stepwise(c.w.state, c.run) }

// Result is what would be taken off, in its order. An item that cannot be looked at is a step
// of its own.
func (c *Cleaning) Result() ([]mapping.CleanStep, error) { return c.out, c.w.err }

func (c *Cleaning) run() error {
	w := c.w
	if w.route == nil {
		w.route = w.set.Routes.Lend(w.link.Project)
	}
	if w.route == nil || !w.served {
		return nil
	}
	if w.pair.State == mapping.Dormant {
		w.happens(mapping.EventRouteBack)
	}
	c.look(cleaner(w))
	for _, p := range w.link.Parts {
		c.look(cleaner(partWorker(w).part(p)))
	}
	if w.over() {
		return ErrOver
	}
	return nil
}

// look adds what would be taken off the items of one pair.
func (c *Cleaning) look(w cleaner) {
	if s := w.pair.State; s != mapping.Linked && s != mapping.Left && s != mapping.Orphaned {
		return
	}
	unread := func(side mapping.Side, err error) {
		if err != nil && !(IsGone(err) && w.pair.State == mapping.Orphaned) {
			c.out = append(c.out, w.step(side, "cannot be looked at: %v", err))
		}
	}
	if w.pair.Away == "" && w.owner.Issue.Number != 0 {
		unread(mapping.GitHub, reader(w).lookAtIssue())
	}
	var tasks []mapping.Task
	if w.pair.Card.ID != "" {
		err := reader(w).lookAtItem()
		if err == nil {
			tasks, err = w.tasksOfCard()
		}
		unread(mapping.Planning, err)
	}
	for _, m := range w.marks(tasks) {
		c.out = append(c.out, m.CleanStep)
	}
}
