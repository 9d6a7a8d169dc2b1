package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// run lets the bridge work by itself for a while.
func (w *world) run(d time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.engine.Run(ctx, time.Minute)
	}()
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Second)
		synctest.Wait() // the world is one goroutine's
		w.keepAppointments()
		w.engine.Kick()
	}
	cancel()
	<-ended
}

// TestAWorkerGoesOn has one worker take key after key in the step that ends the one before, and
// makes that step fail. No key is lost, and none is worked twice.
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
	passes(t, func(w *world) {
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
	if d.Live+d.Bulk != 0 || d.Failures != 0 {
		w.fail("left in the queue: %+v", d)
	}
}
