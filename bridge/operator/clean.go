package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"planbridge/bridge/inventory"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// An operator has what the bridge made taken off, of one pair or of a route that goes. The
// operator's part is to say so in the links' records; the engine does it like all else, by
// the rules of the core. What was begun goes on whatever becomes of the question.

// cleaningAtOnce is how many pairs of a route are taken apart at the same time: live
// changes of other routes go on beside them.
const cleaningAtOnce = 50

// MayClean reports why what a question means cannot be taken apart. The error of a route
// that runs is [status.ErrState].
func (o *Operator) MayClean(ctx context.Context, ask status.CleanAsk) error {
	switch {
	case (ask.Item == "") == (ask.Route == ""):
		return fmt.Errorf("clean: expected an item or a route: %w", status.ErrName)
	case o.set().DryRun && !ask.DryRun:
		return fmt.Errorf("clean: the service runs dry and takes nothing off: %w", status.ErrState)
	case ask.Item != "":
		_, err := o.Find(ctx, ask.Item)
		return err
	case o.set().Routes.ByName(ask.Route) == nil:
		return o.Links(ctx, ask.Route, func(*mapping.Link) error { return nil })
	}
	since, err := o.PausedSince(ctx, ask.Route)
	if err == nil && since.IsZero() {
		err = fmt.Errorf("route %s runs, and would make everything again: pause it, or take it out of the configuration, first: %w", ask.Route, status.ErrState)
	}
	return err
}

// Clean takes pairs apart, and tells how far it is by update. In a dry run it only reads.
func (o *Operator) Clean(ctx context.Context, ask status.CleanAsk, update func(func(*status.Job))) error {
	if err := o.services.Ready(ctx); err != nil {
		return err
	}
	c := &cleaner{Operator: o, ask: ask, update: update, began: map[store.Key]time.Time{}}
	if ask.Item != "" {
		l, err := o.Find(ctx, ask.Item)
		if err == nil {
			err = c.link(ctx, l)
		}
		if err != nil {
			return err
		}
		return c.settle(ctx, 0)
	}
	if err := o.Links(ctx, ask.Route, func(l *mapping.Link) error { return c.link(ctx, l) }); err != nil {
		return err
	}
	return c.settle(ctx, 0)
}

// cleaner is one such question at work.
type cleaner struct {
	*Operator
	ask    status.CleanAsk
	update func(func(*status.Job))
	inHand []store.Key
	began  map[store.Key]time.Time
}

// link begins with a link, or looks at it.
func (c *cleaner) link(ctx context.Context, l *mapping.Link) error {
	if l.State == mapping.Erased {
		return nil
	}
	c.update(func(j *status.Job) { j.Total++; j.Clean.Links++ })
	if c.set().Routes.Lend(l.Project) == nil {
		return fmt.Errorf("%s: no route leads to its project any more: put its route back and pause it: %w", l.Where(), status.ErrState)
	}
	if c.ask.DryRun {
		return c.look(ctx, l)
	}
	key := store.Key{Project: l.Project, Link: l.ID}
	began, err := c.begin(ctx, key)
	if err != nil {
		return fmt.Errorf("clean %s: %w", l.Where(), err)
	}
	c.inHand, c.began[key] = append(c.inHand, key), began
	return c.settle(ctx, cleaningAtOnce)
}

// look says what would be taken off.
func (c *cleaner) look(ctx context.Context, l *mapping.Link) error {
	p, done, err := c.services.Previewer()
	if err != nil {
		return err
	}
	defer done()
	steps, err := p.PlanCleaning(ctx, l)
	if err != nil {
		return err
	}
	c.update(func(j *status.Job) {
		j.Done++
		for _, s := range steps {
			j.Clean.Took(status.CleanStep{Item: s.Where, Side: string(s.Side), What: s.What})
		}
	})
	return nil
}

// begin says in a link's record that it is to be taken apart, and makes its key due. It
// returns when. One that was begun with before goes on.
func (c *cleaner) begin(ctx context.Context, key store.Key) (time.Time, error) {
	claim, err := c.hold(ctx, key)
	if err != nil {
		return time.Time{}, err
	}
	l, now := claim.Link, c.now().UTC()
	var history []mapping.Entry
	if !l.Cleaning {
		history = []mapping.Entry{c.byActor(ctx, "taken apart", "")}
	}
	l.Cleaning, l.Parted = true, false
	if err := c.store.Finish(ctx, claim, l, history, store.Outcome{Kind: store.Again}); err != nil {
		return now, err
	}
	c.process.Kick()
	return now, nil
}

// settle waits until at most so many links are in hand.
func (c *cleaner) settle(ctx context.Context, most int) error {
	for {
		kept := c.inHand[:0]
		waits := map[string]bool{}
		for _, key := range c.inHand {
			ended, err := c.ended(ctx, key, waits)
			if err != nil {
				return err
			}
			if !ended {
				kept = append(kept, key)
			}
		}
		c.inHand = kept
		c.update(func(j *status.Job) { j.WaitsFor = slices.Sorted(maps.Keys(waits)) })
		if len(c.inHand) <= most {
			return nil
		}
		if err := inventory.Wait(ctx, inventory.LookEvery); err != nil {
			return err
		}
	}
}

// ended reports whether a link is parted, or was given up, and tells what was done to it.
func (c *cleaner) ended(ctx context.Context, key store.Key, waits map[string]bool) (bool, error) {
	l, err := c.store.Link(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		c.update(func(j *status.Job) { j.Done++ })
		return true, nil
	}
	if err != nil {
		return false, err
	}
	at, err := c.store.Standing(ctx, key)
	if err != nil {
		return false, err
	}
	failed := l.Cleaning && at.State == store.KeyParked
	if l.Cleaning && !failed {
		if at.Service != "" {
			waits[at.Service] = true
		}
		return false, nil
	}
	history, err := c.store.History(ctx, key, mapping.MaxHistory)
	if err != nil {
		return false, err
	}
	began := c.began[key]
	delete(c.began, key)
	c.update(func(j *status.Job) {
		j.Done++
		for i := len(history) - 1; i >= 0; i-- {
			if e := &history[i]; e.What == mapping.Cleaned && !e.At.Before(began) {
				j.Clean.Took(status.CleanStep{Item: cleanedItem(l, e), Side: string(e.Side), What: e.Why})
			}
		}
		if failed {
			j.Clean.Failed++
			j.Clean.Took(status.CleanStep{Item: l.Where(), What: "given up: " + at.Reason})
		} else {
			j.Clean.Parted++
		}
	})
	return true, nil
}

// cleanedItem is the item that an entry of a link's history is about.
func cleanedItem(l *mapping.Link, e *mapping.Entry) string {
	if e.Part != "" {
		return e.Part
	}
	return l.Where()
}
