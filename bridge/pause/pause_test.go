package pause_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/bridge/clock"
	"planbridge/bridge/pause"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// routes are the settings of two routes of two projects.
type routes struct{}

func (routes) Settings() *reconcile.Settings {
	return &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{
		{Name: "web", Project: "p", Repositories: []string{"acme/web"}},
		{Name: "api", Project: "q", Repositories: []string{"acme/api"}},
	})}
}

// process is a service that runs: it keeps what it was told last of each route.
type process struct {
	told   map[string]bool
	kicked int
}

func (p *process) Kick()                                { p.kicked++ }
func (p *process) NotePaused(route string, paused bool) { p.told[route] = paused }

// waits has a new key wait for the pause of a route.
func waits(t *testing.T, s store.Store, project mapping.ObjectID, route string) {
	t.Helper()
	l := &mapping.Link{ID: "l1", Project: project, Route: route, Pair: mapping.Pair{State: mapping.Linked, Card: mapping.CardID{ID: "card"}}}
	if _, err := s.Observe(t.Context(), project, []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	claim, _, err := s.Claim(t.Context(), project, time.Minute)
	if err == nil {
		err = s.Finish(t.Context(), claim, claim.Link, nil, store.Outcome{Kind: store.Wait, Service: reconcile.ServicePaused(route), Reason: "the route is paused"})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPause: the keys of a paused route wait until it is resumed, and no other key is woken then.
// A second pause keeps the moment of the first.
func TestPause(t *testing.T) {
	now := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	ticks := clock.Func(func() time.Time { return now })
	s := memstore.New(memstore.Options{Clock: ticks}).Open(nil)
	told := &process{told: map[string]bool{}}
	p := pause.New(pause.Options{Store: s, Settings: routes{}, Process: told, Clock: ticks})
	paused := func(want map[string]time.Time) {
		t.Helper()
		if got, err := p.Paused(t.Context()); err != nil || !cmp.Equal(got, want) {
			t.Errorf("paused %v, %v; want %v", got, err, want)
		}
	}
	waiting := func(project mapping.ObjectID) int {
		t.Helper()
		d, err := s.Depth(t.Context(), project)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, n := range d.Waiting {
			sum += n
		}
		return sum
	}
	do := func(act func(context.Context, string) error, route string) {
		t.Helper()
		if err := act(t.Context(), route); err != nil {
			t.Fatal(err)
		}
	}
	waits(t, s, "p", "web")
	waits(t, s, "q", "api")
	began := now
	do(p.Pause, "web")
	do(p.Pause, "api")
	now = now.Add(time.Hour)
	do(p.Pause, "web")
	paused(map[string]time.Time{"web": began, "api": began})
	if !told.told["web"] || told.kicked != 0 {
		t.Errorf("told %v, kicked %d times", told.told, told.kicked)
	}

	do(p.Resume, "web")
	now = now.Add(time.Minute)
	paused(map[string]time.Time{"api": began})
	if web, api := waiting("p"), waiting("q"); web != 0 || api != 1 {
		t.Errorf("%d keys of web wait and %d of api, want 0 and 1", web, api)
	}
	if told.told["web"] || !told.told["api"] || told.kicked != 1 {
		t.Errorf("told %v, kicked %d times", told.told, told.kicked)
	}
	do(p.Resume, "web") // of a route that is not paused it changes nothing
	paused(map[string]time.Time{"api": began})
}

// TestPauseOfAnUnknownRoute changes nothing.
func TestPauseOfAnUnknownRoute(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	told := &process{told: map[string]bool{}}
	p := pause.New(pause.Options{Store: s, Settings: routes{}, Process: told, Clock: clock.Runtime{}})
	for what, act := range map[string]func(context.Context, string) error{"pause": p.Pause, "resume": p.Resume} {
		if err := act(t.Context(), "none"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if names, err := s.Docs(t.Context(), "", "paused:"); err != nil || len(names)+len(told.told) > 0 {
		t.Errorf("documents %v, told %v, %v", names, told.told, err)
	}
}

// TestPauseThatCannotBeRead: a document that is no moment is an error that names the route, and
// no pause.
func TestPauseThatCannotBeRead(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	if err := s.PutDoc(t.Context(), "", pause.DocPaused("web"), []byte("yesterday")); err != nil {
		t.Fatal(err)
	}
	p := pause.New(pause.Options{Store: s, Settings: routes{}, Process: &process{told: map[string]bool{}}, Clock: clock.Runtime{}})
	if _, err := p.Paused(t.Context()); err == nil || !strings.Contains(err.Error(), "pause of route web") {
		t.Errorf("%v", err)
	}
}
