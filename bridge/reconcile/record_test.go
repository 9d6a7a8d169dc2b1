package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/mapping"
)

// worst is a text of n bytes, in lines, that compresses as badly as texts do.
func worst(n int, seed uint64) string {
	chance := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	for b.Len() < n-65 {
		for range 4 {
			fmt.Fprintf(&b, "%016x", chance.Uint64())
		}
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

const largest = 64 << 10 // a body of GitHub's

// sayings are the texts of both sides, without what is ours.
func (w *world) sayings() (github, planning string) {
	github, _ = keys.Body(w.issue().Body)
	planning, _ = keys.Body(w.card().Summary.Value)
	return strings.TrimSpace(github), strings.TrimSpace(planning)
}

// setSummary is a person who replaces a text on one side.
func (w *world) setSummary(side mapping.Side, text string) {
	if side == mapping.GitHub {
		w.editIssue(mapping.Summary, to(text))
		return
	}
	w.editCard(mapping.Summary, func(old string) string {
		body, _ := keys.Body(old)
		return text + strings.TrimPrefix(old, body)
	})
}

// TestLargestBodiesAreEditedAgainAndAgain: the record of GitHub's largest body stays within
// its bound, with any text. It may be written any number of times before GitHub reports the first
// write. GitHub may never report it.
func TestLargestBodiesAreEditedAgainAndAgain(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	for name, lags := range map[string][]int{"late": {40}, "never": {0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.openIssue("Title", worst(largest, 0))
				w.settle()
				w.lags(lags)
				const edits = 5
				for n := range uint64(edits) {
					side := mapping.Planning
					if n%4 == 3 {
						side = mapping.GitHub
						w.settle()
					}
					w.setSummary(side, worst(largest, 1+n))
					w.stepUntil(time.Now().Add(45*time.Second), func() bool { return false })
				}
				w.settle()
				if g, p := w.sayings(); g != worst(largest, edits) || p != g {
					w.fail("the sides hold %d and %d bytes, want the last text", len(g), len(p))
				}
				w.verifyRest()
			})
		})
	}
}

// TestRecordOverItsBoundParks: even one write of a text may have no room in the record. The
// key is parked with the record's size and its bound, and nothing is written. When people have
// shortened the texts it goes on.
func TestRecordOverItsBoundParks(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	for _, side := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		t.Run(string(side), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.openIssue("Title", worst(5*largest/2, 0))
				w.settle()
				hub, plan := w.hub.writes, w.plan.writes
				w.setSummary(side, worst(5*largest/2, 1))
				w.settle()
				parked := w.failures()
				if len(parked) != 1 || !strings.Contains(parked[0].Reason, "the link's record has ") || !strings.Contains(parked[0].Reason, fmt.Sprint(mapping.MaxRecord)) {
					w.fail("the failures are %+v, want one that names the record's size and bound", parked)
				}
				if w.hub.writes != hub || w.plan.writes != plan {
					w.fail("%d writes to GitHub, %d to planning, want none", w.hub.writes-hub, w.plan.writes-plan)
				}
				for _, side := range []mapping.Side{mapping.GitHub, mapping.Planning} {
					w.setSummary(side, "short")
				}
				w.settle()
				if g, p := w.sayings(); g != "short" || p != g {
					w.fail("the sides say %q and %q, want the short text", g, p)
				}
				w.verifyRest()
			})
		})
	}
}

// TestSubIssuesOverTheBoundPark: sub-issues whose texts have no room in one record wait
// with a reason. A text with room stays the same on both sides, and nothing is made twice.
func TestSubIssuesOverTheBoundPark(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	passes(t, func(w *world) {
		withTasks(w)
		w.restart()
		w.openIssue("Title", "text")
		w.settle()
		const subs = 8
		for n := range subs {
			w.openSub(0, fmt.Sprint("Sub ", n), worst(largest, uint64(n)))
			w.settle()
		}
		parked := w.failures()
		if len(parked) != 1 || !strings.Contains(parked[0].Reason, "the link's record has ") {
			w.fail("the failures are %+v, want one that names the record's size", parked)
		}
		var titles []string
		for _, t := range w.plan.tasks {
			titles = append(titles, t.Title.Value)
		}
		slices.Sort(titles)
		if n := len(titles); n < 4 || n > subs || len(slices.Compact(titles)) != n {
			w.fail("%d tasks: %q", n, titles)
		}
	})
}
