package reconcile

import (
	"iter"

	"planbridge/mapping"
)

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
		unread(mapping.GitHub, w.lookAtIssue())
	}
	var tasks []mapping.Task
	if w.pair.Card.ID != "" {
		err := w.lookAtItem()
		if err == nil {
			tasks, err = w.tasksOfCard()
		}
		unread(mapping.Planning, err)
	}
	for _, m := range w.marks(tasks) {
		c.out = append(c.out, m.CleanStep)
	}
}

func (w cleaner) lookAtIssue() error {
	issue, err := do(w, ReadIssue{w.owner.Issue.Repo, w.owner.Issue.Number})
	if err == nil {
		err = differentIssue(&w.owner.Issue, &issue)
	}
	if err == nil {
		reader(w).setIssue(&issue)
	}
	return err
}

func (w cleaner) lookAtItem() error {
	if w.pair.IsTask() {
		task, err := do(w, ReadTask{w.pair.Card.ID})
		if err == nil {
			reader(w).setTask(&task)
		}
		return err
	}
	card, err := do(w, ReadCard{w.pair.Card.ID})
	if err == nil {
		reader(w).setCard(&card)
	}
	return err
}
