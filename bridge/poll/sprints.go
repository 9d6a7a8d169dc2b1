package poll

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"planbridge/bridge/burndown"
	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// planning is the adapter that reads sprints. A round that adopts must prove that nothing is
// missing.
func (r *round) planning() Planning {
	if r.adopting || r.o.News == nil {
		return r.o.Planning
	}
	return r.o.News
}

// readSprints stores the changes of the sprints, and reads the items of those that are due.
func (r *round) readSprints(ctx context.Context) error {
	if r.light {
		return r.readSprintItems(ctx, r.pace.lightSprints(r.began))
	}
	r.calls++
	sprints, err := r.planning().Sprints(ctx)
	if err != nil {
		return fmt.Errorf("list sprints: %w", err)
	}
	for _, s := range sprints {
		r.sprints[s.ID] = false
	}
	r.listed = sprints
	if err := r.storeSprints(ctx, sprints); err != nil {
		return err
	}
	return r.readSprintItems(ctx, r.due(sprints))
}

// readSprintItems reads the items of sprints. A sprint that cannot be read leaves the round
// incomplete.
func (r *round) readSprintItems(ctx context.Context, due []Sprint) error {
	for _, s := range due {
		r.calls++
		err := r.o.Guard.Do("sprint", string(s.ID), func() error {
			cards, tasks, err := r.planning().SprintItems(ctx, s.ID)
			if err == nil {
				r.sprint(s.ID, cards, tasks)
			}
			return err
		})
		switch {
		case err == nil:
			r.sprints[s.ID] = true
			continue
		case guard.Panicked(err): // it is told
		case unanswered(err) || ctx.Err() != nil:
			return fmt.Errorf("list items of sprint %s: %w", s.ID, err)
		default:
			r.o.Logger.Warn("sprint could not be read", "sprint", s.ID, "err", err)
		}
		r.complete = false
	}
	return nil
}

// due chooses the sprints that this round reads: those that may still change, and now and then
// one of the others.
func (r *round) due(sprints []Sprint) []Sprint {
	if r.adopting {
		return sprints
	}
	var live, old []Sprint
	for _, s := range sprints {
		if s.Past && !s.Active && !s.Future && r.clock.Now().Sub(s.End) > endedSprintTime {
			old = append(old, s)
		} else {
			live = append(live, s)
		}
	}
	if turn := int(r.rounds); len(old) > 0 && turn%oldSprintRounds == 0 {
		live = append(live, old[turn/oldSprintRounds%len(old)])
	}
	return live
}

// sprint collects the content of a sprint's listing.
func (r *round) sprint(id mapping.ObjectID, cards []mapping.Card, tasks []mapping.Task) {
	for i := range cards {
		c := &cards[i]
		r.withTasks[c.ID] = r.withTasks[c.ID] || len(c.Tasks) > 0
		r.sprintTasks = append(r.sprintTasks, c.Tasks...)
		if s := r.sprintCards[c.ID]; s != nil {
			if c.Version > s.card.Version {
				s.sprint = id
			}
			s.card = newest(s.card, *c)
		} else {
			r.sprintCards[c.ID] = &sprintCard{*c, id}
		}
	}
	for i := range tasks {
		r.withTasks[tasks[i].Owner] = true
	}
	r.sprintTasks = append(r.sprintTasks, tasks...)
}

// newest is the newer of two sights of a card (the first one where the versions are equal),
// completed from the other one.
func newest(newer, older mapping.Card) mapping.Card {
	if older.Version > newer.Version {
		newer, older = older, newer
	}
	if newer.Tasks == nil {
		newer.Tasks = older.Tasks
	}
	if newer.Users == nil {
		newer.Users = older.Users
	}
	return newer
}

// storeSprints stores the projected part of the sprints, where it changed. It runs before the
// cards, so that a card's key finds its sprint.
func (r *round) storeSprints(ctx context.Context, sprints []Sprint) (err error) {
	storedSprints := make([]mapping.Sprint, len(sprints))
	for i, s := range sprints {
		storedSprints[i] = mapping.Sprint{ID: s.ID, Title: s.Title, Summary: s.Summary, End: s.End, Past: s.Past && !s.Active && !s.Future}
	}
	slices.SortFunc(storedSprints, func(a, b mapping.Sprint) int { return cmp.Compare(a.ID, b.ID) })
	data := store.Encode(storedSprints)
	was := r.Poller.storedSprints
	if bytes.Equal(data, was) {
		return nil
	}
	if was == nil {
		if was, err = store.ReadDoc(ctx, r.o.Store, r.o.Project, store.DocSprints); err != nil {
			return err
		}
	}
	if !bytes.Equal(data, was) {
		if err := store.WriteDoc(ctx, r.o.Store, r.o.Project, store.DocSprints, data); err != nil {
			return err
		}
	}
	r.Poller.storedSprints = data
	r.o.Host.SprintsChanged()
	return nil
}

// recordBurndowns records the burndowns of the active sprints. It is no part of the round's
// success: a service may not have them.
func (r *round) recordBurndowns(ctx context.Context) {
	if r.burndowns == nil {
		return
	}
	var active []burndown.Sprint
	for _, s := range r.listed {
		if s.Active {
			active = append(active, burndown.Sprint{ID: s.ID, Title: s.Title, Start: s.Start, End: s.End})
		}
	}
	_ = r.guarded("burndowns of", r.o.Project, func() error { r.burndowns.Record(ctx, active); return nil })
}
