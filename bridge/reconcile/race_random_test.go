package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
)

// rush is one thing that somebody does while the bridge works: right before
// its next call to GitHub, or a few later.
type rush struct {
	calls int // since the rush before
	after time.Duration
	deed  listDeed
}

func rushes(lists bool) *rapid.Generator[[]rush] {
	kinds := []string{"tick", "name", "add", "remove", "text", "rewrite", "rewrite", "summary"}
	if lists {
		kinds = append(kinds, "state", "title", "task")
	} else {
		kinds = append(kinds, "rename", "rename", "retitle")
	}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rush {
		return rush{
			calls: rapid.IntRange(0, 3).Draw(t, "calls"),
			after: time.Duration(rapid.IntRange(0, 300).Draw(t, "after")) * time.Millisecond,
			deed: listDeed{
				kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
				which: rapid.IntRange(0, 5).Draw(t, "which"),
			},
		}
	}), 1, 8)
}

// rush lets people act before the bridge's calls to GitHub.
func (w *world) rush(todo []rush) {
	w.faults.armed = true
	w.faults.before = func(_ int, p point) {
		if !slices.Contains([]string{"EditIssue", "Issue", "Edits"}, p.name) {
			return
		}
		for ; len(todo) > 0 && todo[0].calls == 0; todo = todo[1:] {
			time.Sleep(todo[0].after) // of fake time
			todo[0].deed.do(w, 50+len(todo))
		}
		if len(todo) > 0 {
			todo[0].calls--
		}
	}
}

// TestPeopleRaceTheBridge lets several people edit an issue between the bridge's reads and writes
// of it, within the same second. Meanwhile reads lag and events are late or lost. Each text that a
// person wrote is on a side or in a comment, unless somebody who saw it removed it.
func TestPeopleRaceTheBridge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) { race(t, rt, rapid.Just([]fate(nil))) })
}

// race lets people race the bridge, the first edits of which meet their fates.
func race(t *testing.T, rt *rapid.T, fates *rapid.Generator[[]fate]) {
	lists := rapid.Bool().Draw(rt, "lists")
	starts := []string{"summary", "retitle"}
	if lists {
		starts = []string{"state", "title", "task", "summary"}
	}
	start := rapid.SampledFrom(starts).Draw(rt, "start")
	todo := rushes(lists).Draw(rt, "rushes")
	sky, edits := weather().Draw(rt, "weather"), fates.Draw(rt, "edits")
	lags := rapid.SliceOfN(rapid.IntRange(0, 14), 1, 6).Draw(rt, "lags")
	rule := rapid.SampledFrom([]mapping.Policy{mapping.PolicyMerge, mapping.PolicyGitHub, mapping.PolicyPlanning}).Draw(rt, "policy")
	stale := time.Duration(rapid.IntRange(0, 9).Draw(rt, "stale")) * 100 * time.Millisecond
	dice, coalesce := rapid.Uint64().Draw(rt, "dice"), drawFold(rt)
	err := inWorld(t, func(w *world) {
		w.dice.Seed(dice, 0)
		w.coalesce = coalesce
		w.route.DefaultPolicy = rule
		if lists {
			w.route.Tasks = mapping.TasksChecklist
		}
		w.restart()
		w.openIssue("Title", "tok1\n\ntok2\n\n- [ ] item tok3\n- [x] item tok4\n\ntok5")
		w.settle()
		w.lags(lags)
		w.hub.stale = stale
		w.rush(todo)
		w.suffer(sky)
		w.editsMeet(edits)
		listDeed{kind: start}.do(w, 0)
		w.settle()
		w.faults.armed = false
		if lists {
			w.verifyAnyList(true)
		} else {
			w.verify(ends{conflicts: 100})
		}
	})
	if err != nil {
		rt.Fatal(err)
	}
}

// editsMeet lets the bridge's next edits of the issue meet their fates, whatever
// the weather.
func (w *world) editsMeet(fates []fate) {
	weather := w.faults.draw
	w.faults.draw = func(p point) fate {
		if p.name != "EditIssue" || len(fates) == 0 {
			return weather(p)
		}
		next := fates[0]
		fates = fates[1:]
		return next
	}
}

// rewritten is what a person makes of a body without keeping any of it.
func rewritten(tok string) string {
	return strings.ReplaceAll("TOK1 text\n\n- [ ] item TOK2\n- [ ] line TOK3", "TOK", tok)
}
