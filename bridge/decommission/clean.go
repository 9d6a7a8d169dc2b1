package decommission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/bridge/inventory"
	"planbridge/bridge/services"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// An operator has the bridge's marks removed, from one pair or from a route that ends. The
// operator's part is a flag in the links' records. The engine does the work, by the rules of the
// core. A pair that was begun goes on even if the operator's request ends.

// cleaningAtOnce is how many pairs of a route are taken apart at the same time. Live changes of
// other routes thus go on beside them.
const cleaningAtOnce = 50

// notYet is why a run is refused whose dry run is possible. It is an [status.ErrState].
type notYet string

func (why notYet) Error() string { return string(why) + ": not possible now" }

func (notYet) Unwrap() error { return status.ErrState }

// MayClean reports why the pairs of a request cannot be taken apart, or moved. For a dry run,
// refused says why the run itself would be refused.
func (d *Decommissioner) MayClean(ctx context.Context, ask status.CleanAsk) (refused string, err error) {
	err = d.mayClean(ctx, ask)
	if why := notYet(""); ask.DryRun && errors.As(err, &why) {
		return string(why), nil
	}
	return "", err
}

func (d *Decommissioner) mayClean(ctx context.Context, ask status.CleanAsk) error {
	switch {
	case (ask.Item == "") == (ask.Route == "") || ask.Item != "" && ask.Moves():
		return status.BadAsk("clean: expected an item or a route")
	case d.set().DryRun:
		return notYet("the service runs dry and writes nothing")
	case ask.Moves():
		return d.mayMove(ctx, ask)
	case ask.Item != "":
		_, err := d.o.Finder.Find(ctx, ask.Item)
		return err
	case d.set().Routes.ByName(ask.Route) == nil:
		if err := d.o.Finder.InReach(ctx, ask.Route); err != nil {
			return err
		}
		return d.o.Finder.Links(ctx, ask.Route, func(*mapping.Link) error { return nil })
	}
	since, err := d.o.Pauses.PausedSince(ctx, ask.Route)
	if err == nil && since.IsZero() {
		err = notYet(fmt.Sprintf("route %s runs, and would make everything again: pause it, or take it out of the configuration, first", ask.Route))
	}
	return err
}

// Clean takes pairs apart, and reports its progress by update. In a dry run it only reads.
func (d *Decommissioner) Clean(ctx context.Context, ask status.CleanAsk, update func(func(*status.Job))) (err error) {
	if err := d.o.Services.Ready(ctx); err != nil {
		return err
	}
	c := &cleaner{Decommissioner: d, ask: ask, update: update, began: map[store.Key]begun{}, left: map[mapping.FormerCard]bool{}}
	if ask.Item != "" {
		l, err := d.o.Finder.Find(ctx, ask.Item)
		if err == nil {
			err = c.link(ctx, l)
		}
		if err != nil {
			return err
		}
		return c.awaitRoom(ctx, 0)
	}
	if err := d.o.Finder.InReach(ctx, ask.Route); err != nil {
		return err
	}
	visit := c.link
	if ask.Moves() {
		if c.to, err = d.destination(ctx, ask); err != nil {
			return err
		}
		visit = c.move
	}
	if err := c.each(ctx, func(*mapping.Link) error { c.expected++; return nil }); err != nil {
		return err
	}
	if c.expected == 0 && !ask.Moves() {
		return c.restored(ctx)
	}
	if err := c.each(ctx, func(l *mapping.Link) error { return visit(ctx, l) }); err != nil {
		return err
	}
	return c.awaitRoom(ctx, 0)
}

// restored fails where no complete poll has read a project of the request under the store's present
// epoch. The markers restore the links of a lost store, and some may still be missing then.
func (c *cleaner) restored(ctx context.Context) error {
	projects := c.set().Routes.Projects()
	if route := c.set().Routes.ByName(c.ask.Route); route != nil {
		projects = []mapping.ObjectID{route.Project}
	}
	epoch, err := c.o.Store.Epoch(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		adopted, err := store.ReadDoc(ctx, c.o.Store, project, store.DocAdopted)
		if err != nil {
			return err
		}
		if string(adopted) != epoch {
			return fmt.Errorf("route %s has no link yet: the store is new or was lost, and a service that runs restores the links of project %s from the markers: %w",
				c.ask.Route, c.set().Routes.ProjectName(project), status.ErrState)
		}
	}
	return nil
}

// each visits the links of the request.
func (c *cleaner) each(ctx context.Context, visit func(*mapping.Link) error) error {
	return c.o.Finder.Links(ctx, c.ask.Route, func(l *mapping.Link) error {
		if _, named := c.o.Finder.ProjectName(l.Project); !named { // it is parted, or erased
			return nil
		}
		if l.State == mapping.Erased || c.to == nil && l.Moving.HandsOver() || c.to != nil && (l.HandedOver() || l.Before != nil && c.left[*l.Before]) {
			return nil
		}
		return visit(l)
	})
}

// countLink counts a link.
func (c *cleaner) countLink() {
	c.update(func(j *status.Job) {
		j.Clean.Links++
		j.Total = max(c.expected, j.Clean.Links)
	})
}

// cleaner carries out one request.
type cleaner struct {
	*Decommissioner
	ask    status.CleanAsk
	to     *mapping.Route // of a move: the route as it leads there; nil: pairs are taken apart
	update func(func(*status.Job))
	inHand []store.Key
	began  map[store.Key]begun
	// expected is how many links the route had at the beginning.
	expected int
	left     map[mapping.FormerCard]bool // of a move: the cards of the links at the beginning
}

// begun is a link whose work has begun.
type begun struct {
	where string // its pair
	at    time.Time
	apart bool // its pair was
}

// link begins the work on a link, or plans it. A pair of a route that a run left clean is not
// checked again, as the bridge's marks do not come back by themselves.
func (c *cleaner) link(ctx context.Context, l *mapping.Link) error {
	c.countLink()
	switch {
	case c.ask.Route != "" && l.Parted && l.Clean:
		c.update(func(j *status.Job) { j.Done++; j.Clean.There++ })
		return nil
	case c.ask.DryRun:
		return c.listMarks(ctx, l)
	}
	return c.startWork(ctx, l)
}

// startWork begins the work on a link and keeps it in hand.
func (c *cleaner) startWork(ctx context.Context, l *mapping.Link) error {
	key := store.Key{Project: l.Project, Link: l.ID}
	at, err := c.begin(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		c.gone()
		return nil
	}
	if err != nil {
		return fmt.Errorf("clean %s: %w", l.Where(), err)
	}
	return c.await(ctx, l, at)
}

// await watches a link until its work has ended.
func (c *cleaner) await(ctx context.Context, l *mapping.Link, at time.Time) error {
	key := store.Key{Project: l.Project, Link: l.ID}
	c.inHand, c.began[key] = append(c.inHand, key), begun{l.Where(), at, l.Parted}
	return c.awaitRoom(ctx, cleaningAtOnce)
}

// listMarks lists the marks that would be removed.
func (c *cleaner) listMarks(ctx context.Context, l *mapping.Link) error {
	steps, err := c.o.Services.PlanCleaning(ctx, l)
	if err != nil {
		return err
	}
	c.update(func(j *status.Job) {
		j.Done++
		if l.Parted && len(steps) == 0 {
			j.Clean.There++
		}
		for _, s := range steps {
			j.Clean.Took(status.CleanStep{Item: s.Where, Side: string(s.Side), What: s.What})
		}
	})
	return nil
}

// begin records in a link that it is to be taken apart, or to move, and makes its key due. It
// returns when. A link that was begun before goes on.
func (c *cleaner) begin(ctx context.Context, key store.Key) (time.Time, error) {
	claim, err := c.o.Holder.Hold(ctx, key)
	if err != nil {
		return time.Time{}, err
	}
	l, now := claim.Link, c.o.Clock.Now().UTC()
	var history []mapping.Entry
	switch {
	case c.to == nil && !l.Cleaning:
		history = []mapping.Entry{c.o.Holder.Entry(ctx, "taken apart", "")}
	case c.to != nil && l.Moving == nil:
		history, l.Moving = []mapping.Entry{c.o.Holder.Entry(ctx, "to be moved", "")}, &mapping.Moving{}
	}
	if c.to == nil {
		l.Cleaning, l.Parted = true, false
		l.Stay()
	}
	if err := c.o.Store.Finish(ctx, claim, l, history, store.Outcome{Kind: store.Again}); err != nil {
		return now, err
	}
	c.o.Queue.Kick()
	return now, nil
}

// awaitRoom waits until at most so many links are in hand.
func (c *cleaner) awaitRoom(ctx context.Context, most int) error {
	for {
		kept := c.inHand[:0]
		waits := status.Waits{}
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
		c.update(func(j *status.Job) { j.WaitFor(waits) })
		if len(c.inHand) <= most {
			return nil
		}
		if err := inventory.Wait(ctx, inventory.LookEvery); err != nil {
			return err
		}
	}
}

// gone counts a link that no longer exists. It had no card yet; where its route moves, its
// issue enters the other project.
func (c *cleaner) gone() {
	c.update(func(j *status.Job) {
		if j.Done++; c.to != nil {
			j.Clean.Moved++
		}
	})
}

// ended reports whether a link is parted, has moved, or was parked, and adds its steps to the
// result.
func (c *cleaner) ended(ctx context.Context, key store.Key, waits status.Waits) (bool, error) {
	l, err := c.o.Store.Link(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		c.gone()
		return true, nil
	}
	if err != nil {
		return false, err
	}
	pending, at := l.Cleaning || c.to != nil && l.Moving != nil || c.beingMade(l), key
	if pending && l.HandedOver() { // its issue still waits for the new card
		at = store.Key{Project: l.Moving.Project, Link: l.Moving.Link}
		next, err := c.o.Store.Link(ctx, at)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
		pending = err == nil && c.beingMade(next)
	}
	standing := store.Standing{}
	if pending {
		if standing, err = c.o.Store.Standing(ctx, at); err != nil && !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
	}
	given := ""
	switch question := l.AwaitsAnswer(); {
	case standing.State == store.KeyParked:
		given = "given up: " + standing.Reason
	case pending && c.to != nil && standing.State == store.KeyResting && question != "":
		given = cannotMove + question
	case pending:
		if standing.Service != "" {
			waits.Add(services.Words(standing.Service, c.set().Routes), time.Time{})
		} else if standing.State == store.KeyLater && standing.At.After(c.o.Clock.Now()) {
			waits.Add(standing.Reason, standing.At)
		}
		return false, nil
	}
	return true, c.reportDone(ctx, key, l, given)
}

// reportDone counts a finished link, and lists its steps; given is why nothing more happens to it.
func (c *cleaner) reportDone(ctx context.Context, key store.Key, l *mapping.Link, given string) error {
	history, err := c.o.Store.History(ctx, key, mapping.MaxHistory)
	if err != nil {
		return err
	}
	began := c.began[key]
	delete(c.began, key)
	c.update(func(j *status.Job) {
		j.Done++
		took := false
		for i := len(history) - 1; i >= 0; i-- {
			if e := &history[i]; isCleaningStep(e) && !e.At.Before(began.at) {
				took = true
				j.Clean.Took(status.CleanStep{Item: cmp.Or(e.Part, began.where), Side: string(e.Side), What: e.Why})
			}
		}
		switch {
		case given != "":
			j.Clean.Failed++
			j.Clean.Took(status.CleanStep{Item: began.where, What: given})
		case c.to == nil && began.apart && !took:
			j.Clean.There++
		case c.to == nil:
			j.Clean.Parted++
		case l.HandedOver(), l.Project == c.to.Project:
			j.Clean.Moved++
		default:
			j.Clean.Stayed++
		}
	})
	return nil
}

// isCleaningStep reports whether an entry of a history is part of that list.
func isCleaningStep(e *mapping.Entry) bool {
	return e.What == mapping.Cleaned || e.What == mapping.LeftBehind || e.What == mapping.Stayed
}
