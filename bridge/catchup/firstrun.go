package catchup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// FirstRunTime is when a route began to run, in whole seconds. It is compared with GitHub's times,
// and so uses GitHub's clock, as watermarks do. Until GitHub has reported its time, it uses the
// bridge's own clock.
type FirstRunTime struct {
	At   time.Time
	Ours bool // At is by the bridge's own clock
}

// ByGitHub is the same moment by GitHub's clock, which is ahead of ours by the given time.
func (f FirstRunTime) ByGitHub(ahead time.Duration) FirstRunTime {
	if !f.Ours {
		return f
	}
	return FirstRunTime{At: f.At.Add(ahead).UTC().Truncate(time.Second)}
}

// byOurs follows, in the store, a moment of the bridge's own clock.
const byOurs = " (own clock)"

func (f FirstRunTime) encode() string {
	text := f.At.UTC().Truncate(time.Second).Format(time.RFC3339)
	if f.Ours {
		text += byOurs
	}
	return text
}

func decodeFirstRun(text string) (f FirstRunTime, err error) {
	text, f.Ours = strings.CutSuffix(text, byOurs)
	f.At, err = time.Parse(time.RFC3339, text)
	return f, err
}

// RouteDocs begins the names of a project's documents about routes. firstRunOf ends the name of the
// one with a route's first run.
const (
	RouteDocs  = "route:"
	firstRunOf = ":first_run"
)

// RouteOf returns the route of such a document, whose name is given without its beginning.
func RouteOf(name string) string { return strings.TrimSuffix(name, firstRunOf) }

func docFirstRun(id string) string { return RouteDocs + id + firstRunOf }

// InheritFirstRun gives a route the first run of another one whose repositories it takes over. A
// route that ran already keeps its own.
func InheritFirstRun(ctx context.Context, s Documents, project mapping.ObjectID, from, to string) error {
	began, err := store.ReadDoc(ctx, s, project, docFirstRun(from))
	if err != nil || began == nil {
		return err
	}
	if own, err := store.ReadDoc(ctx, s, project, docFirstRun(to)); err != nil || own != nil {
		return err
	}
	return store.WriteDoc(ctx, s, project, docFirstRun(to), began)
}

// EnsureFirstRun returns when a route began to run; the argument began is the answer for a route
// that never ran. Issues that nobody touched since do not enter. The store keeps the time, so that
// it survives restarts. A time of the bridge's own clock is corrected once clock knows how far
// GitHub's is ahead. Replicas that call it at the same moment may differ by that moment, or by
// their clocks, until they ask again.
func EnsureFirstRun(ctx context.Context, s store.State, route *mapping.Route, began FirstRunTime, clock func() (ahead time.Duration, known bool)) (FirstRunTime, error) {
	name := docFirstRun(route.Identity())
	doc, err := store.ReadDoc(ctx, s, route.Project, name)
	if err != nil {
		return FirstRunTime{}, err
	}
	if doc != nil {
		began, err = decodeFirstRun(string(doc))
	}
	if err != nil {
		return FirstRunTime{}, fmt.Errorf("read first run of route %s: %w", route.Name, err)
	}
	began.At = began.At.UTC().Truncate(time.Second)
	if ahead, known := clock(); known {
		began = began.ByGitHub(ahead)
	}
	if text := began.encode(); text != string(doc) {
		if err := s.PutDoc(ctx, route.Project, name, []byte(text)); err != nil {
			return FirstRunTime{}, fmt.Errorf("store first run of route %s: %w", route.Name, err)
		}
	}
	return began, nil
}
