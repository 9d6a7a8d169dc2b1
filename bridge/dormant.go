package bridge

import (
	"context"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// resumeDormant makes the links due that are dormant though their route is
// configured: it was put back by a reload, or while no replica ran.
func (a *App) resumeDormant(ctx context.Context) error {
	set := a.set.Load()
	for _, project := range set.projects() {
		t, err := a.store.Tally(ctx, project)
		if err != nil {
			return fmt.Errorf("count dormant links: %w", err)
		}
		if t.Links != nil && !hasDormant(set, t) {
			continue
		}
		n := 0
		for cursor := ""; ; {
			links, next, err := a.store.List(ctx, project, cursor, linksPage)
			if err != nil {
				return fmt.Errorf("list dormant links: %w", err)
			}
			for _, l := range links {
				if l.State != mapping.Dormant || l.Parted || set.Routes.ByName(l.Route) == nil {
					continue
				}
				key := store.Key{Project: project, Link: l.ID}
				if err := a.store.Enqueue(ctx, key, time.Duration(n)*time.Second/wakePerSecond, false); err != nil {
					return fmt.Errorf("resume %s: %w", whereOf(l), err)
				}
				n++
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		if n > 0 {
			a.log.Info("links are resumed whose route is back", "project", project, "links", n)
			a.engine.Kick()
		}
	}
	return nil
}

// hasDormant reports whether a configured route has dormant links.
func hasDormant(set *settings, t store.Tally) bool {
	for route, states := range t.Links {
		if states[mapping.Dormant] > 0 && set.Routes.ByName(route) != nil {
			return true
		}
	}
	return false
}
