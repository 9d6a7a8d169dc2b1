package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// A person exchanges the estimate's label while the bridge adds the label of a question. The answer
// shows it: planning's value is not written over it as if nobody had changed it, and both values
// are kept.
func TestEstimateChangesWhileALabelIsAdded(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		policy(mapping.PolicyAsk)(w)
		w.restart()
		w.agree()
		w.hub.lag = func(int) time.Duration { return -1 } // no event tells of what follows
		w.editIssue(mapping.Title, to("tok8"))
		w.rewriteCard(mapping.Title, "tok9")
		w.editCard(mapping.Estimate, to("8"))
		w.befall("AddLabels", "", func() { w.editIssue(mapping.Estimate, to("5")) })
		w.settle()
		if !slices.ContainsFunc(w.conflicts(), func(c mapping.Conflict) bool {
			return c.Attribute == mapping.Estimate && c.GitHub == "5" && c.Planning == "8"
		}) {
			w.fail("the estimate that a person set is lost: labels %v, conflicts %+v", w.issue().Labels, w.conflicts())
		}
	})
}

// TestEstimateLabelIsAddedWhileAnotherIsTakenOff: a card is made with one of two estimate labels,
// and the other is removed. A person sets a third one meanwhile. It is the newest, and not a
// returned older one.
func TestEstimateLabelIsAddedWhileAnotherIsTakenOff(t *testing.T) {
	passes(t, func(w *world) {
		w.race("RemoveLabel", func() {
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "points/8") })
		})
		w.openIssue("tok1", body, "points/3", "points/5")
		w.settle()
		w.verifyEqual(values{mapping.Estimate: "8"})
	})
}

// TestARemovedEstimateLabelMayBeHalfOfAnExchange: a person takes the label off and sets
// another one a second later. Nothing is written on GitHub in between.
func TestARemovedEstimateLabelMayBeHalfOfAnExchange(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		before := w.hub.writes
		w.editIssue(mapping.Estimate, to(""))
		w.after(time.Second, func() { w.editIssue(mapping.Estimate, to("8")) })
		w.settle()
		w.verify(ends{want: values{mapping.Estimate: "8"}})
		if n := w.hub.writes - before; n > 0 {
			w.fail("%d writes to GitHub", n)
		}
	})
}

// TestTheNewestEstimateLabelWinsWhileOneIsHeld: a person sets an estimate label beside another one that
// is not agreed on yet, for whatever reason. The newer one counts though it is smaller, be it the
// one that both sides agreed on before. The history names the label that goes.
func TestTheNewestEstimateLabelWinsWhileOneIsHeld(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(w *world) (release func()){
		"planning refuses the value": func(w *world) func() {
			w.plan.refuse = func(a mapping.Attribute, value string) *mapping.Rejection {
				if a != mapping.Estimate || value != "100" {
					return nil
				}
				return &mapping.Rejection{Field: string(a), Message: "not this"}
			}
			return func() {}
		},
		"planning is away": func(w *world) func() {
			w.takeDown("planning:"+string(project), "UpdateCard")
			return w.bringBack
		},
		"people are asked": func(w *world) func() {
			w.decideBy(mapping.PolicyAsk)
			w.editCard(mapping.Estimate, to("7"))
			return func() {}
		},
	} {
		for _, newer := range []string{"5", "3"} {
			want := newer
			if newer == "3" && name == "people are asked" {
				want = "7" // GitHub's is again what was agreed on
			}
			t.Run(name+", then "+newer, func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.agree()
					release := hold(w)
					w.editIssue(mapping.Estimate, to("100"))
					w.after(time.Minute, func() {
						w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "points/"+newer) })
					})
					w.after(2*time.Minute, release)
					w.settle()
					if _, all := scheme.EstimateOf(w.issue().Labels, ""); len(all) != 1 || all[0] != "points/"+want {
						w.fail("the labels are %v", w.issue().Labels)
					}
					if off := w.entries("label"); len(off) != 1 || !strings.Contains(off[0].Why, "points/100") {
						w.fail("the history says %+v", off)
					}
					if l := w.link(); len(l.Asking) == 0 {
						w.verifyEqual(values{mapping.Estimate: want})
					}
				})
			})
		}
	}
}

// TestAStaleReadTakesNoHeldEstimateLabelOff: people are asked, and the label that was agreed on is
// taken off beside the newer one. A read that still shows it does not make it the newest.
func TestAStaleReadTakesNoHeldEstimateLabelOff(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.decideBy(mapping.PolicyAsk)
		w.agree()
		w.hub.lag, w.hub.stale = never, 5*time.Second
		w.befall("RemoveLabel", "", func() {
			w.after(time.Second, func() { w.look(w.link(), true) })
		})
		w.editCard(mapping.Estimate, to("7"))
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "points/100") })
		w.after(6*time.Second, func() { w.look(w.link(), true) })
		w.settle()
		if _, all := scheme.EstimateOf(w.issue().Labels, ""); len(all) != 1 || all[0] != "points/100" {
			w.fail("the labels are %v", w.issue().Labels)
		}
	})
}

// TestTheNewestEstimateLabelWinsWhereTheOlderOneStays: the request that takes the older label off
// does not happen. The newer one counts all the same when that is tried again.
func TestTheNewestEstimateLabelWinsWhereTheOlderOneStays(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{lost, answerLost, late} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.befall("RemoveLabel", f, func() {})
				w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "points/1") })
				w.settle()
				w.verifyEqual(values{mapping.Estimate: "1"})
			})
		})
	}
}

// TestOfTwoEstimateLabelsTheHistoryNamesTheOneThatGoes: an issue is opened with two estimate labels.
func TestOfTwoEstimateLabelsTheHistoryNamesTheOneThatGoes(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.openIssue("tok1", body, "points/3", "points/5")
		w.settle()
		if off := w.entries("label"); len(off) != 1 || !strings.Contains(off[0].Why, "points/3") {
			w.fail("the history says %+v", off)
		}
	})
}
