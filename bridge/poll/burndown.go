package poll

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

const (
	// burndownEvery is how often burndowns are read at most: they move by the
	// hour, polls come by the half-minute.
	burndownEvery = 5 * time.Minute
	// chartsKept bounds the charts that are kept of sprints that have ended.
	chartsKept = 20
)

// burndowns is when the burndowns of the active sprints are read again.
type burndowns struct {
	next   time.Time
	of     []Sprint // that were read last
	failed bool     // the last reading went wrong, which was said
}

// readBurndowns stores the burndowns of the active sprints, now and then and
// when other sprints become active or one is changed. It is no part of the round's success: a
// service may not have them.
func (r *round) readBurndowns(ctx context.Context) {
	b := &r.Poller.burndowns
	if r.o.Charts == nil {
		return
	}
	var active []Sprint
	for _, s := range r.listed {
		if s.Active {
			active = append(active, s)
		}
	}
	now := r.clock.Now()
	if now.Before(b.next) && slices.Equal(active, b.of) {
		return
	}
	b.next, b.of = now.Add(burndownEvery), active
	err := r.storeBurndowns(ctx, active)
	if err != nil && !b.failed && ctx.Err() == nil {
		r.o.Logger.Warn("burndowns could not be read; to be tried again", "after", burndownEvery.String(), "err", err)
	}
	b.failed = err != nil
}

// storeBurndowns keeps the charts of ended sprints as they were last.
func (r *round) storeBurndowns(ctx context.Context, active []Sprint) error {
	var was []mapping.Burndown
	if err := r.readDoc(ctx, store.DocBurndown, &was); err != nil {
		return err
	}
	if len(active) == 0 && !slices.ContainsFunc(was, func(b mapping.Burndown) bool { return b.Active }) {
		return nil
	}
	var charts []mapping.Burndown
	for _, s := range active {
		c, err := r.o.Charts.Burndown(ctx, s.ID)
		if err != nil {
			return fmt.Errorf("burndown of sprint %s: %w", s.ID, err)
		}
		c.Sprint, c.Title, c.Active, c.Read = s.ID, s.Title, true, r.clock.Now().UTC()
		charts = append(charts, c)
	}
	old := slices.DeleteFunc(was, func(b mapping.Burndown) bool {
		return slices.ContainsFunc(active, func(s Sprint) bool { return s.ID == b.Sprint })
	})
	slices.SortStableFunc(old, func(a, b mapping.Burndown) int { return cmp.Compare(b.Read.Unix(), a.Read.Unix()) })
	for _, c := range old[:min(len(old), chartsKept)] {
		c.Active = false
		charts = append(charts, c)
	}
	return r.putDoc(ctx, store.DocBurndown, encode(charts))
}
