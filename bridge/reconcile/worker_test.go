package reconcile_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
)

// run lets the bridge work by itself for a while.
func (w *world) run(d time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.recon.Run(ctx, time.Minute)
	}()
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Second)
		synctest.Wait() // the world is one goroutine's
		w.keepAppointments()
		w.recon.Kick()
	}
	cancel()
	<-ended
}

// TestAWorkerGoesOn has one worker take key after key in the step that ends the
// one before, and that step fail: no key is lost, none is worked twice.
func TestAWorkerGoesOn(t *testing.T) {
	t.Parallel()
	const issues = 6
	for _, meets := range []fate{"", lost, answerLost} {
		t.Run("step "+string(meets), func(t *testing.T) {
			t.Parallel()
			err := inWorld(t, func(w *world) {
				w.crowd = 1
				w.restart()
				for n := range issues {
					w.openIssue(fmt.Sprint("tok", n), "text")
				}
				steps := 0
				w.faults.armed = true
				w.faults.draw = func(p point) fate {
					if p.name == "FinishAndClaim" {
						if steps++; steps%3 == 2 {
							return meets
						}
					}
					return ""
				}
				w.run(10 * time.Minute)
				w.faults.armed = false
				w.settle()
				if steps < issues || w.faults.fired != (meets != "") {
					w.fail("%d keys were ended by a worker that goes on, faults %v", steps, w.faults.fired)
				}
				w.verifyOneEach(issues)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAnItemOfAnotherLinkMakesNothing: a link whose one item turns out to be
// another link's goes before anything is made for it.
func TestAnItemOfAnotherLinkMakesNothing(t *testing.T) {
	t.Parallel()
	err := inWorld(t, func(w *world) {
		w.faults.armed = true
		w.faults.draw = func(p point) fate {
			if p.name == "Save" {
				return taken
			}
			return ""
		}
		w.openIssue("tok1", "text")
		w.run(10 * time.Minute)
		w.faults.armed = false
		w.verifyOneEach(0)
		if links := w.links(); len(links) != 0 || !w.faults.fired {
			w.fail("left are %d links, faults %v", len(links), w.faults.fired)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// verifyOneEach demands that each issue has one card.
func (w *world) verifyOneEach(issues int) {
	var titles []string
	for _, c := range w.plan.cards {
		titles = append(titles, c.Title.Value)
	}
	slices.Sort(titles)
	if len(titles) != issues || len(slices.Compact(titles)) != issues {
		w.fail("%d issues have the cards %q", issues, titles)
	}
	d, err := w.store.Depth(context.Background(), project)
	w.check(err)
	if d.Live != 0 || d.Failures != 0 {
		w.fail("left in the queue: %+v", d)
	}
}

// orderly notes the order in which keys are ended.
type orderly struct {
	store.Store
	mu    sync.Mutex
	ended []store.Key
	most  int
	all   chan struct{} // closed when most were ended; nil: nobody waits
}

func (o *orderly) note(c *store.Claim) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = append(o.ended, c.Key)
	if o.all != nil && len(o.ended) == o.most {
		close(o.all)
	}
}

func (o *orderly) Finish(ctx context.Context, c *store.Claim, l *mapping.Link, h []mapping.Entry, out store.Outcome) error {
	defer o.note(c)
	return o.Store.Finish(ctx, c, l, h, out)
}

func (o *orderly) FinishAndClaim(ctx context.Context, c *store.Claim, l *mapping.Link, h []mapping.Entry, out store.Outcome, ttl time.Duration) (*store.Claim, error) {
	defer o.note(c)
	return o.Store.FinishAndClaim(ctx, c, l, h, out, ttl)
}

// TestABusyProjectLeavesOthersTheirTurn: a worker that goes on does not keep to
// one project for long.
func TestABusyProjectLeavesOthersTheirTurn(t *testing.T) {
	const busy, few = 200, 3
	synctest.Test(t, func(t *testing.T) {
		s, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() //nolint:errcheck // the file is thrown away
		projects := map[mapping.ObjectID]int{"busy": busy, "quiet": few}
		for p, n := range projects {
			var obs []store.Observation
			for i := range n {
				obs = append(obs, store.Observation{Create: &mapping.Link{ID: mapping.LinkID(fmt.Sprint(i)), Project: p, State: mapping.Linked}})
			}
			if _, err := s.Observe(t.Context(), p, obs); err != nil {
				t.Fatal(err)
			}
		}
		o := &orderly{Store: s}
		r := reconcile.New(reconcile.Options{ // without a route a key is ended at once
			Store: o, Planning: func(mapping.ObjectID) reconcile.Planning { return nil },
			Settings: func() *reconcile.Settings { return &reconcile.Settings{Routes: mapping.NewRoutes(nil)} },
			Projects: func() []mapping.ObjectID { return []mapping.ObjectID{"busy", "quiet"} },
			Logger:   slog.New(slog.NewTextHandler(io.Discard, nil)), Concurrency: 1,
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.Run(ctx, time.Minute)
		}()
		time.Sleep(time.Minute)
		cancel()
		<-ended
		if len(o.ended) != busy+few {
			t.Fatalf("%d keys were worked, want %d", len(o.ended), busy+few)
		}
		for i, k := range o.ended {
			if k.Project == "quiet" && i > busy/5 {
				t.Errorf("%s came after %d keys of the busy project", k, i)
			}
		}
	})
}

// slowly is a store whose keys take a while to be worked, and notes when one
// was claimed by who had none.
type slowly struct {
	store.Store
	mu    sync.Mutex
	began []time.Time
}

const taking = 250 * time.Millisecond

func (s *slowly) Claim(ctx context.Context, project mapping.ObjectID, ttl time.Duration) (*store.Claim, time.Duration, error) {
	claim, wait, err := s.Store.Claim(ctx, project, ttl)
	if claim != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.began = append(s.began, time.Now())
	}
	return claim, wait, err
}

func (s *slowly) FinishAndClaim(ctx context.Context, c *store.Claim, l *mapping.Link, h []mapping.Entry, out store.Outcome, ttl time.Duration) (*store.Claim, error) {
	time.Sleep(taking)
	return s.Store.FinishAndClaim(ctx, c, l, h, out, ttl)
}

// TestReplicasShareWhatNobodyToldThem: keys that become due later are begun by
// each replica when they do, and keys that another made due within a look.
func TestReplicasShareWhatNobodyToldThem(t *testing.T) {
	const many, replicas, look = 40, 3, time.Second
	for _, tt := range []struct{ delay, within time.Duration }{{10*time.Second + 300*time.Millisecond, time.Millisecond}, {0, look}} {
		synctest.Test(t, func(t *testing.T) {
			s, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // the file is thrown away
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			var each []*slowly
			for range replicas {
				o := &slowly{Store: s}
				each = append(each, o)
				r := reconcile.New(reconcile.Options{ // without a route there is nothing to do
					Store: o, Planning: func(mapping.ObjectID) reconcile.Planning { return nil },
					Settings: func() *reconcile.Settings { return &reconcile.Settings{Routes: mapping.NewRoutes(nil)} },
					Projects: func() []mapping.ObjectID { return []mapping.ObjectID{project} },
					Logger:   slog.New(slog.DiscardHandler), Concurrency: 1,
				})
				running.Go(func() { r.Run(ctx, time.Minute) })
				time.Sleep(look / replicas)
			}
			var obs []store.Observation
			for i := range many {
				obs = append(obs, store.Observation{Create: &mapping.Link{ID: mapping.LinkID(fmt.Sprint(i)), Project: project, State: mapping.Linked}, Delay: tt.delay})
			}
			due := time.Now().Add(tt.delay)
			if _, err := s.Observe(t.Context(), project, obs); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			cancel()
			running.Wait()
			for i, o := range each {
				if len(o.began) == 0 {
					t.Errorf("delay %v: replica %d did nothing", tt.delay, i)
				} else if late := o.began[0].Sub(due); late < 0 || late > tt.within {
					t.Errorf("delay %v: replica %d began %v after the keys were due, want at most %v", tt.delay, i, late, tt.within)
				}
			}
		})
	}
}
