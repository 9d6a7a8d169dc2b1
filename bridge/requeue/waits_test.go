package requeue_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/bridge/guard"
	"planbridge/bridge/logtest"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/requeue"
	"planbridge/mapping"
	"planbridge/store"
)

// answering are services that all answer.
type answering struct{}

func (answering) Away(string) bool                    { return false }
func (answering) Back(string, time.Time) bool         { return true }
func (answering) Probe(context.Context, string) error { return nil }

// planning is a service that a test takes away and brings back.
type planning struct {
	away   atomic.Bool
	failed atomic.Pointer[time.Time] // the last time; nil: never
}

func (p *planning) Away(string) bool { return p.away.Load() }

func (p *planning) Back(_ string, since time.Time) bool {
	failed := time.Time{}
	if at := p.failed.Load(); at != nil {
		failed = *at
	}
	return !p.away.Load() && !failed.Before(since)
}

func (*planning) Probe(context.Context, string) error {
	return errors.New("no probe is the first to be answered")
}

// TestKeysThatWaitForPlanning: waiting keys are woken once another request than a probe found
// planning back. Planning that answers, and never failed, wakes nothing: it may answer 404 to
// everything.
func TestKeysThatWaitForPlanning(t *testing.T) {
	service := reconcile.ServicePlanning(project)
	for name, tt := range map[string]struct {
		outage, failed bool
		waiting        int
	}{
		"another request finds it back":     {outage: true, waiting: 0},
		"it was back before the key waited": {failed: true, waiting: 0},
		"it answers and never failed":       {waiting: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, _ := newDesk(t, mapping.Linked, "acme/web")
				p := &planning{}
				log := slog.New(slog.DiscardHandler)
				r := requeue.New(requeue.Options{
					Store: d, Settings: d, Queue: d, Services: p, FirstRuns: d, Guard: guard.New(log),
					Pauses: requeue.NewPauses(requeue.PauseOptions{}), Clock: clock.Runtime{}, Logger: log,
				})
				ctx, cancel := context.WithCancel(t.Context())
				tick, ended := make(chan time.Time), make(chan struct{})
				go func() { defer close(ended); r.WatchPlanning(ctx, tick) }()
				if tt.outage {
					p.away.Store(true)
					tick <- time.Now()
					synctest.Wait() // the outage was seen
					p.away.Store(false)
				}
				if now := time.Now(); tt.failed {
					p.failed.Store(&now)
				}
				claim, err := d.ClaimKey(ctx, store.Key{Project: project, Link: "l1"}, time.Minute)
				if err == nil {
					err = d.Finish(ctx, claim, nil, nil, store.Outcome{Kind: store.Wait, Service: service, Reason: "it is away"})
				}
				if err != nil {
					t.Fatal(err)
				}
				r.WakeIfReady(ctx, project, service)
				tick <- time.Now()
				tick <- time.Now()
				cancel()
				<-ended
				depth, err := d.Depth(t.Context(), project)
				if err != nil || depth.Waiting[service] != tt.waiting {
					t.Errorf("%d keys wait, want %d: %v", depth.Waiting[service], tt.waiting, err)
				}
			})
		})
	}
}

// shut is a GitHub that refused the token and takes it again.
type shut struct{ answering }

func (shut) Away(string) bool { return true }

// TestProbeEndsARefusal: the fact that GitHub refuses the token ends with the probe that GitHub
// takes, not with the next catch-up.
func TestProbeEndsARefusal(t *testing.T) {
	d, _ := newDesk(t, mapping.Linked, "acme/web")
	text := &logtest.Text{}
	log := slog.New(factlog.NewHandler(slog.NewTextHandler(text, nil), clock.Runtime{}))
	r := requeue.New(requeue.Options{Store: d, Settings: d, Queue: d, Services: shut{}, FirstRuns: d, Pauses: requeue.NewPauses(requeue.PauseOptions{}), Clock: clock.Runtime{}, Logger: log})
	for _, fact := range []string{factlog.Away, factlog.Refused} {
		log.Error("waiting", "service", reconcile.ServiceGitHub, factlog.Fact, fact)
	}
	if err := r.WakeWaiting(t.Context()); err != nil {
		t.Fatal(err)
	}
	factlog.Flush(t.Context(), log)
	for _, fact := range []string{factlog.Away, factlog.Refused} {
		if n := text.Lines(`service=github over="` + fact + `"`); n != 1 {
			t.Errorf("%d lines end %q:\n%s", n, fact, text)
		}
	}
}

// TestWaitsEndWhereAnotherReplicaWokeThem: the fact that keys wait also ends in a process that
// did not wake them, once none waits.
func TestWaitsEndWhereAnotherReplicaWokeThem(t *testing.T) {
	d, _ := newDesk(t, mapping.Linked, "acme/web")
	text := &logtest.Text{}
	log := slog.New(factlog.NewHandler(slog.NewTextHandler(text, nil), clock.Runtime{}))
	r := requeue.New(requeue.Options{Store: d, Settings: d, Queue: d, Services: answering{}, FirstRuns: d, Pauses: requeue.NewPauses(requeue.PauseOptions{}), Clock: clock.Runtime{}, Logger: log})
	const service = "repository:acme/web"
	over := func() int {
		t.Helper()
		if err := r.WakeWaiting(t.Context()); err != nil {
			t.Fatal(err)
		}
		factlog.Flush(t.Context(), log)
		return text.Lines(`over="keys wait"`)
	}
	claim, err := d.ClaimKey(t.Context(), store.Key{Project: project, Link: "l1"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Finish(t.Context(), claim, nil, nil, store.Outcome{Kind: store.Wait, Service: service, Reason: "it is archived"}); err != nil {
		t.Fatal(err)
	}
	log.Warn("waiting", "service", service, factlog.Fact, factlog.KeysWait)
	if n := over(); n != 0 {
		t.Errorf("it is over %d times while a key waits", n)
	}
	if _, err := d.Wake(t.Context(), project, service, store.WakePerSecond); err != nil { // by another replica
		t.Fatal(err)
	}
	if n := over(); n != 1 {
		t.Errorf("the log says\n%s", text)
	}
	if n := over(); n != 1 {
		t.Errorf("the log says that it is over again\n%s", text)
	}
}

// at is the store's epoch.
type at string

func (e at) Read(context.Context) (string, error) { return string(e), nil }

// TestKeysThatWaitForAListing: a card's key waits until the issues of the repository were listed for
// its project. It also goes on where the repository has another name by now, or where another
// repository gets the route's new issues.
func TestKeysThatWaitForAListing(t *testing.T) {
	const service = "listing:acme/web"
	route := mapping.Route{Name: "web", Project: project, Repositories: []string{"acme/web", "acme/api"}, Direction: mapping.Both, CreateIssues: true, NewCardsIn: "acme/web"}
	for name, tt := range map[string]struct {
		listed  string
		change  func(d *desk)
		waiting int
	}{
		"it was not listed":               {waiting: 1},
		"it was listed in an older epoch": {listed: "e1 p", waiting: 1},
		"it was listed for others":        {listed: "e2 p2", waiting: 1},
		"it was listed":                   {listed: "e2 p2 p"},
		"GitHub refused to list it":       {listed: "e2 unreadable p"},
		"it was renamed":                  {change: func(d *desk) { d.called = "acme/site" }},
		"its route makes no issues now": {waiting: 1, change: func(d *desk) {
			route := route
			route.CreateIssues = false
			d.routes = mapping.NewRoutes([]mapping.Route{route})
		}},
		"new issues are made in another": {change: func(d *desk) {
			route := route
			route.NewCardsIn, d.called = "acme/api", "acme/api"
			d.routes = mapping.NewRoutes([]mapping.Route{route})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := newDesk(t, mapping.Linked, "acme/web")
			d.routes = mapping.NewRoutes([]mapping.Route{route})
			r := requeue.New(requeue.Options{
				Store: d, Settings: d, Queue: d, Services: answering{}, Repositories: d, FirstRuns: d, Epoch: at("e2"), Timeout: clock.Timeout(time.Second),
				Pauses: requeue.NewPauses(requeue.PauseOptions{}), Clock: clock.Runtime{}, Logger: slog.New(slog.DiscardHandler),
			})
			claim, err := d.ClaimKey(t.Context(), store.Key{Project: project, Link: "l1"}, time.Minute)
			if err == nil {
				err = d.Finish(t.Context(), claim, nil, nil, store.Outcome{Kind: store.Wait, Service: service, Reason: "it was not listed"})
			}
			if err == nil {
				err = d.PutDoc(t.Context(), "", store.DocRepositoryAdopted("Acme/Web"), []byte(tt.listed))
			}
			if err != nil {
				t.Fatal(err)
			}
			if tt.change != nil {
				tt.change(d)
			}
			if err := r.WakeWaiting(t.Context()); err != nil {
				t.Fatal(err)
			}
			depth, err := d.Depth(t.Context(), project)
			if err != nil || depth.Waiting[service] != tt.waiting {
				t.Errorf("%d keys wait, want %d: %v", depth.Waiting[service], tt.waiting, err)
			}
		})
	}
}
