package reconcile_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

// TestPeopleAreNoRunaway: however often people edit, and with nothing folded, no link
// is parked.
func TestPeopleAreNoRunaway(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	for name, sides := range map[string][]mapping.Side{
		"on GitHub": {mapping.GitHub}, "in planning": {mapping.Planning}, "on both sides": {mapping.GitHub, mapping.Planning},
	} {
		for _, coalesce := range []time.Duration{0, folded} {
			t.Run(fmt.Sprint(name, " folded ", coalesce), func(t *testing.T) {
				t.Parallel()
				err := inWorld(t, func(w *world) {
					w.coalesce, w.every = coalesce, 2*time.Second
					w.restart()
					w.agree()
					w.takeTime(20 * time.Millisecond)
					end := w.flood(func(n int) {
						edit := to(fmt.Sprint("tok", 100+n))
						if sides[n%len(sides)] == mapping.GitHub {
							w.editIssue(mapping.Title, edit)
						} else {
							w.editCard(mapping.Title, edit)
						}
					})
					parked := w.stepUntil(end.Add(2*time.Minute), func() bool { return len(w.failures()) > 0 })
					w.settle()
					if parked || !w.equal() {
						w.fail("failures %+v, equal %v", w.failures(), w.equal())
					}
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// programs are two of them, one on each side: each answers what the bridge writes on
// its side, a moment later. It returns what ends them.
func (w *world) programs(answer time.Duration, hub, plan func(was string) string) (end func()) {
	ended := false
	var look func()
	seen := map[mapping.Side]string{mapping.GitHub: w.issue().Title, mapping.Planning: w.card().Title.Value}
	look = func() {
		if ended {
			return
		}
		if now := w.issue().Title; now != seen[mapping.GitHub] {
			w.editIssue(mapping.Title, hub)
			seen[mapping.GitHub] = w.issue().Title
		}
		if now := w.card().Title.Value; now != seen[mapping.Planning] {
			w.editCard(mapping.Title, plan)
			seen[mapping.Planning] = w.card().Title.Value
		}
		w.after(answer, look)
	}
	w.after(answer, look)
	return func() { ended = true }
}

// TestProgramsThatAnswerEachOther: two programs that answer each other are stopped,
// stay so whatever they do, and go on when an operator says so.
func TestProgramsThatAnswerEachOther(t *testing.T) {
	t.Parallel()
	grows := func(by int) func(string) string {
		return func(was string) string {
			n, err := strconv.Atoi(strings.TrimPrefix(was, "tok"))
			if err != nil {
				t.Errorf("title %q", was)
			}
			return fmt.Sprint("tok", n+by)
		}
	}
	for name, c := range map[string]struct {
		hub, plan       func(string) string
		coalesce, every time.Duration
		within          time.Duration
	}{
		"back and forth":             {to("tok7"), to("tok8"), folded, 2 * time.Second, 2 * time.Minute},
		"further and further":        {grows(1), grows(2), folded, 2 * time.Second, 2 * time.Minute},
		"nothing folded":             {grows(1), grows(2), 0, 2 * time.Second, time.Minute},
		"polls that are far between": {grows(1), grows(2), folded, pollInterval, 15 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := inWorld(t, func(w *world) {
				w.coalesce, w.every = c.coalesce, c.every
				w.restart()
				w.agree()
				end := w.programs(300*time.Millisecond, c.hub, c.plan)
				w.editIssue(mapping.Title, to("tok2"))
				began := time.Now()
				if !w.stepUntil(began.Add(c.within), func() bool { return len(w.failures()) > 0 }) {
					w.fail("not parked within %s", c.within)
					return
				}
				t.Logf("parked after %s and %d writes", time.Since(began), w.hub.writes+w.plan.writes)
				if reason := w.failures()[0].Reason; !strings.Contains(reason, "answering each other") {
					w.fail("parked because %s", reason)
				}
				writes := w.hub.writes + w.plan.writes
				for n := range 5 {
					w.editIssue(mapping.Title, to(fmt.Sprint("tok", 2000+n)))
					w.editCard(mapping.Title, to(fmt.Sprint("tok", 3000+n)))
					w.stepUntil(time.Now().Add(time.Minute), func() bool { return false })
				}
				if now := w.hub.writes + w.plan.writes; len(w.failures()) != 1 || now != writes {
					w.fail("after further changes: failures %+v, %d writes more", w.failures(), now-writes)
					return
				}
				end()
				w.check(w.store.Enqueue(context.Background(), w.failures()[0].Key, 0, false))
				w.settle()
				if len(w.failures()) > 0 || !w.equal() {
					w.fail("after an operator's retry: failures %+v, equal %v", w.failures(), w.equal())
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
