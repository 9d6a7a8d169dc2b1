package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
)

// deed is one thing that somebody does at some moment.
type deed struct {
	after  time.Duration // since the deed before
	where  mapping.Side
	attr   mapping.Attribute
	change int
}

func (d deed) String() string {
	return fmt.Sprintf("%s: %s %s %d", d.after, d.where, d.attr, d.change)
}

var moments = []time.Duration{0, time.Millisecond, 300 * time.Millisecond, time.Second, 7 * time.Second, 40 * time.Second, 90 * time.Second, 10 * time.Minute}

func deeds() *rapid.Generator[[]deed] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) deed {
		return deed{
			after:  rapid.SampledFrom(moments).Draw(t, "after"),
			where:  rapid.SampledFrom([]mapping.Side{mapping.GitHub, mapping.Planning}).Draw(t, "where"),
			attr:   rapid.SampledFrom(append(slices.Clone(mapping.Attributes), shows)).Draw(t, "attribute"),
			change: rapid.IntRange(0, 3).Draw(t, "change"),
		}
	}), 1, 8)
}

// do lets the deed happen; n makes what is written unique.
func (d deed) do(w *world, n int) {
	edit := func(was string) string {
		tok := fmt.Sprint("tok", 100+n)
		text, _ := keys.Body(was)
		mark := strings.TrimPrefix(was, text)
		switch lines := strings.Split(text, "\n\n"); {
		case d.attr == mapping.Estimate:
			return fmt.Sprint(100 + n)
		case d.attr == mapping.State:
			return []string{mapping.StateTodo, mapping.StateInProgress, mapping.StateDone, mapping.StateDone}[d.change]
		case d.attr == mapping.Title:
			return strings.TrimSpace([]string{tok, was + " " + tok, tok + " " + was, tok}[d.change])
		case d.change == 0:
			return tok + "\n\n" + was
		case d.change == 1:
			lines[len(lines)/2] = tok
			return strings.Join(lines, "\n\n") + mark
		case d.change == 2 && len(lines) > 1:
			return strings.Join(lines[:len(lines)-1], "\n\n") + mark
		}
		return tok + mark
	}
	if d.attr == shows {
		w.showAnything(d.where, d.change)
	} else if d.where == mapping.GitHub {
		w.editIssue(d.attr, edit)
	} else {
		w.editCard(d.attr, edit)
	}
}

// weather is what befalls the calls in their order: mostly nothing.
func weather() *rapid.Generator[[]int] { return rapid.SliceOfN(rapid.IntRange(0, 23), 0, 80) }

// A parent is spared the third time. One that cannot be read three times in a row is given up, and
// its sub-issue rightly becomes a card.
func (w *world) suffer(weather []int) {
	parents := 0
	w.faults.draw = func(p point) fate {
		if len(weather) == 0 {
			return ""
		}
		n := weather[0] - 18
		weather = weather[1:]
		if n >= 0 && p.name == "Parent" {
			parents++
		}
		if fates := p.fates(); n >= 0 && n < len(fates) && (p.name != "Parent" || parents < 3) {
			return fates[n]
		}
		return ""
	}
}

// disturb lets GitHub's events lag, and lets faults befall the calls.
func (w *world) disturb(lags, weather []int) {
	w.lags(lags)
	w.faults.armed = true
	w.suffer(weather)
}

// begin makes a pair, whose issue came first or, as a mirror, whose card.
func (w *world) begin(mirror bool) {
	if mirror {
		mirrored(w)
	} else {
		linked(w)
	}
	w.settle()
}

// live lets people do their deeds, each some time after the one before.
func (w *world) live(todo []deed) {
	at := 5 * time.Second
	for i, d := range todo {
		at += d.after
		w.after(at, func() { d.do(w, i) })
	}
}

// lags are how events of GitHub come: late, in another order, or never.
func (w *world) lags(ms []int) {
	w.hub.lag = func(n int) time.Duration {
		switch ms := ms[n%len(ms)]; {
		case ms < 3:
			return -1
		default:
			return time.Duration(ms*ms*ms) * time.Millisecond
		}
	}
}

// TestAnythingMayHappen lets people edit both sides at random while calls fail,
// processes die and events are late or lost.
func TestAnythingMayHappen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		mirror := rapid.Bool().Draw(rt, "mirror")
		rule := rapid.SampledFrom([]mapping.Policy{mapping.PolicyMerge, mapping.PolicyGitHub, mapping.PolicyPlanning}).Draw(rt, "policy")
		silent, whole := rapid.Bool().Draw(rt, "silent"), rapid.Bool().Draw(rt, "whole")
		stale := time.Duration(rapid.IntRange(0, 2).Draw(rt, "stale")) * time.Second
		todo, sky := deeds().Draw(rt, "deeds"), weather().Draw(rt, "weather")
		lags := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 8).Draw(rt, "lags")
		dice, coalesce := rapid.Uint64().Draw(rt, "dice"), drawFold(rt)
		err := inWorld(t, func(w *world) {
			w.dice.Seed(dice, 0)
			w.route.DefaultPolicy, w.plan.silent, w.plan.whole, w.coalesce = rule, silent, whole, coalesce
			w.restart()
			w.begin(mirror)
			w.hub.stale = stale
			w.disturb(lags, sky)
			w.live(todo)
			w.settle()
			w.faults.armed = false
			w.verify(ends{conflicts: 100})
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}
