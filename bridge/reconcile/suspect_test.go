package reconcile_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
	"planbridge/store"
)

// fatal is a store in which saving one issue's link ends the process, or never
// ends.
type fatal struct {
	store.Store
	w       *world
	number  int           // of the issue
	forever chan struct{} // nil: the process ends; else what is waited for
	saves   []time.Time
}

func (s *fatal) Save(ctx context.Context, c *store.Claim, l *mapping.Link) error {
	if l.Issue.Number != s.number {
		return s.Store.Save(ctx, c, l)
	}
	s.saves = append(s.saves, time.Now())
	if s.forever != nil {
		<-s.forever
		return s.Store.Save(ctx, c, l)
	}
	s.w.faults.crashed = true
	runtime.Goexit()
	return nil
}

// meetsFatal opens three issues, of which the second one is fatal.
func meetsFatal(w *world, forever chan struct{}) *fatal {
	s := &fatal{Store: w.store, w: w, number: 2, forever: forever}
	w.store = s
	w.restart()
	for n := range 3 {
		w.openIssue(fmt.Sprint("tok", n+1), "text")
	}
	return s
}

// verifyParked demands that one key is parked and all others have their cards.
func (w *world) verifyParked(where, reason string, attempts int) {
	fs, err := w.store.Failures(context.Background(), project, 10)
	w.check(err)
	if len(fs) != 1 || fs[0].Where != where || !strings.Contains(fs[0].Reason, reason) || fs[0].Attempts != attempts {
		w.fail("failures %+v, want %s with %q after %d attempts", fs, where, reason, attempts)
	}
	if len(w.plan.cards) != 2 {
		w.fail("%d cards, want those of the other two issues", len(w.plan.cards))
	}
}

// TestAKeyThatEndsTheProcessIsParked: a key that ends the process is tried as often as a failing
// one, with the same pauses, and delays no other key.
func TestAKeyThatEndsTheProcessIsParked(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		s := meetsFatal(w, nil)
		w.settle()
		if len(s.saves) != 12 {
			w.fail("worked %d times, want 12", len(s.saves))
		}
		w.verifyParked("acme/web#2", "the process ended 12 times while this was worked", 12)
		for i := 2; i < len(s.saves); i++ { // the lease, and half the back-off at least
			if gap, least := s.saves[i].Sub(s.saves[i-1]), min(time.Second<<i/2, 5*time.Minute)/2; gap < least {
				w.fail("attempt %d came %v after the one before, want %v at least", i+1, gap, least)
			}
		}

		// A change has it tried once more.
		w.hub.change(w.hub.issues[1], dev, func(i *mapping.Issue) { i.Title = "tok9" })
		w.settle()
		if len(s.saves) != 13 {
			w.fail("worked %d times after a change, want once more", len(s.saves))
		}
		s.number = 0
		w.hub.change(w.hub.issues[1], dev, func(i *mapping.Issue) { i.Title = "tok8" })
		w.settle()
		w.verifyOneEach(3)
		w.hub.change(w.hub.issues[1], dev, func(i *mapping.Issue) { i.Title = "tok7" })
		w.settle()
		s.number = 2
		s.saves = nil
		w.hub.change(w.hub.issues[1], dev, func(i *mapping.Issue) { i.Title = "tok6" })
		w.settle()
		if len(s.saves) != 12 {
			w.fail("worked %d times after a success, want 12", len(s.saves))
		}
	})
}

// All keys that a process had in hand when it ended go on at once. Keys that were in hand twice are
// spaced, and so they are after the first time where the second parks.
func TestWhatWasInHandGoesOn(t *testing.T) {
	t.Parallel()
	const issues = 6
	for _, c := range []struct {
		abandoned, attempts int
		spaced              bool
	}{{1, 12, false}, {1, 4, false}, {2, 12, true}, {1, 3, true}} {
		t.Run(fmt.Sprintf("%d of %d", c.abandoned, c.attempts), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.host.retry.MaxAttempts = c.attempts
				for n := range issues {
					w.openIssue(fmt.Sprint("tok", n), "text")
				}
				time.Sleep(time.Minute)
				w.keepAppointments()
				for range c.abandoned {
					for range issues {
						if claim, _, err := w.store.Claim(context.Background(), project, time.Minute); claim == nil {
							w.fail("no key is due: %v", err)
						}
					}
					time.Sleep(time.Minute)
				}
				w.run(time.Second)
				if n := strings.Count(w.log.String(), "to be tried again"); (n > 0) != c.spaced {
					w.fail("%d keys were put off", n)
				}
				if !c.spaced {
					w.verifyOneEach(issues)
				}
				w.run(time.Minute)
				w.verifyOneEach(issues)
			})
		})
	}
}

// TestAWorkThatDoesNotEndIsGivenUp: a goroutine that goes on beyond its lease costs its key an
// attempt and no other key anything. It is not begun a second time in the process, and stores
// nothing when it comes back.
func TestAWorkThatDoesNotEndIsGivenUp(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.crowd = 1 // with one seat the others need that of the one that is given up
		forever := make(chan struct{})
		s := meetsFatal(w, forever)
		w.run(20 * time.Minute)
		if len(s.saves) != 1 {
			w.fail("begun %d times in one process, want once", len(s.saves))
		}
		w.verifyParked("acme/web#2", "without an end", 1)
		if !strings.Contains(w.log.String(), "did not end with its lease") {
			w.fail("the log does not tell of it")
		}
		close(forever)
		synctest.Wait()
		s.number = 0
		w.run(time.Minute)
		w.verifyParked("acme/web#2", "without an end", 1)
		w.hub.change(w.hub.issues[1], dev, func(i *mapping.Issue) { i.Title = "tok9" })
		w.run(20 * time.Minute)
		w.verifyOneEach(3)
	})
}

// TestAStopDoesNotWaitForWorkThatDoesNotEnd: its key goes back to the queue.
func TestAStopDoesNotWaitForWorkThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.crowd = 1
		forever := make(chan struct{})
		s := meetsFatal(w, forever)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan time.Time)
		go func() {
			w.engine.Run(ctx, 8*time.Second)
			ended <- time.Now()
		}()
		time.Sleep(5 * time.Second)
		w.keepAppointments()
		w.engine.Kick()
		time.Sleep(5 * time.Second)
		stopped := time.Now()
		cancel()
		if took := (<-ended).Sub(stopped); took > 12*time.Second {
			w.fail("a stop takes %v", took)
		}
		close(forever)
		synctest.Wait()
		d, err := w.store.Depth(context.Background(), project)
		w.check(err)
		id, err := w.store.Find(context.Background(), project, mapping.IssueRef(w.hub.issues[1].ID))
		w.check(err)
		_, err = w.store.ClaimKey(context.Background(), store.Key{Project: project, Link: id}, time.Minute)
		if err != nil || len(s.saves) != 1 || d.Failures != 0 {
			w.fail("worked %d times, then claimed with %v; in the queue: %+v", len(s.saves), err, d)
		}
	})
}

// A key that was worked to its end may be claimed again at once: it is never taken
// for one that is still being worked.
func TestAKeyIsClaimedAgainAtOnce(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		key := store.Key{Project: project, Link: w.link().ID}
		for range 5000 / mappingtest.Worlds {
			claim, err := w.store.ClaimKey(context.Background(), key, time.Minute)
			if w.check(err); err != nil {
				return
			}
			w.engine.Work(context.Background(), claim)
			failures, err := w.store.Failures(context.Background(), project, 1)
			if w.check(err); len(failures) > 0 {
				w.fail("%+v", failures[0])
				return
			}
		}
	})
}
