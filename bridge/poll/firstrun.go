package poll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// EnsureFirstRun returns when a route began to run, in whole seconds: now, if
// it never ran before. Issues that nobody touched since do not enter. The store
// keeps it, so that it outlasts restarts; replicas that call it at the same
// moment may disagree by that moment until they ask again.
func EnsureFirstRun(ctx context.Context, s store.State, route *mapping.Route, now time.Time) (time.Time, error) {
	name := "route:" + route.Name + ":first_run"
	doc, err := s.Doc(ctx, route.Project, name)
	if errors.Is(err, store.ErrNotFound) {
		now = now.UTC().Truncate(time.Second)
		if err := s.PutDoc(ctx, route.Project, name, []byte(now.Format(time.RFC3339))); err != nil {
			return time.Time{}, fmt.Errorf("store first run of route %s: %w", route.Name, err)
		}
		return now, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read first run of route %s: %w", route.Name, err)
	}
	at, err := time.Parse(time.RFC3339, string(doc))
	if err != nil {
		return time.Time{}, fmt.Errorf("read first run of route %s: %w", route.Name, err)
	}
	return at, nil
}
