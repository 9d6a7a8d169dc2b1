package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// ends is how a world is expected to have come to rest.
type ends struct {
	want      map[mapping.Attribute]string // values on both sides; others are only compared
	conflicts int                          // at most so many ledger entries
	open      bool                         // the sides may differ: nobody has answered yet
	also      func(*world)                 // further demands
}

// verify checks the world at rest: nothing doubled, both sides equal, nothing
// that a person wrote gone, and nothing left to do.
func (w *world) verify(e ends) {
	if len(w.errs) > 0 {
		return
	}
	if len(w.hub.issues) != 1 || len(w.plan.cards) != 1 || len(w.plan.tasks) != 1 {
		w.fail("%d issues, %d cards, %d tasks; want one of each", len(w.hub.issues), len(w.plan.cards), len(w.plan.tasks))
		return
	}
	if !e.open {
		w.verifyEqual(e.want)
	}
	if l := w.link(); !e.open && (len(l.Asking) > 0 || slices.Contains(w.issue().Labels, "plan:conflict")) {
		w.fail("the sides agree; %v is asked still, and the labels are %q", l.Asking, w.issue().Labels)
	}
	w.verifyOnce()
	w.verifyShown()
	if e.also != nil {
		e.also(w)
	}
	w.verifyConflicts(e.conflicts)
	for _, word := range w.words.words {
		if !w.words.removed[word] && !w.stands(word) {
			w.fail("%s %q, which a person wrote, is nowhere", word.attr, word.text)
		}
	}
	w.verifyRest()
}

// views are both sides as the bridge compares them.
func (w *world) views() (g, p mapping.View) {
	g, _ = mapping.IssueView(&w.issue().Issue, scheme, keys, nil)
	p = mapping.CardView(w.card(), keys)
	p[mapping.State] = w.task().State
	return g, p
}

func (w *world) verifyEqual(want map[mapping.Attribute]string) {
	g, p := w.views()
	for _, a := range mapping.Attributes {
		spelled := a == mapping.Summary && mapping.Same(a, w.plan.text(mapping.Restore(g[a].Value)), p[a].Value) // as planning does
		if !spelled && !mapping.Equal(a, g[a].Value, p[a].Value) {
			w.fail("%s differs: GitHub %q, planning %q", a, g[a].Value, p[a].Value)
		}
		if v, ok := want[a]; ok && !mapping.Same(a, v, g[a].Value) {
			w.fail("%s is %q, want %q", a, g[a].Value, v)
		}
	}
}

// verifyOnce looks for what must be there once: markers, notices, estimates.
func (w *world) verifyOnce() {
	said := map[string]int{}
	for _, c := range w.issue().comments {
		_, marks := keys.Body(c.Body)
		for _, m := range marks {
			if said[m.Partner]++; said[m.Partner] > 1 {
				w.fail("comment %s stands %d times", m.Partner, said[m.Partner])
			}
		}
	}
	if _, all := scheme.EstimateOf(w.issue().Labels, ""); len(all) > 1 {
		w.fail("estimate labels %v", all)
	}
	marked := 0
	for text, kind := range map[string]mapping.MarkerKind{w.issue().Body: mapping.MarkIssue, w.card().Summary.Value: mapping.MarkCard} {
		_, marks := keys.Body(text)
		for _, m := range marks {
			if m.Kind == kind {
				marked++
			}
			if m.Kind == mapping.MarkCard && m.Partner != strconv.FormatInt(w.issue().ID, 10) {
				w.fail("the card's footer names issue %s, and it is %d", m.Partner, w.issue().ID)
			}
		}
	}
	if marked != 1 {
		w.fail("%d markers on issue and card, want one", marked)
	}
}

func (w *world) conflicts() []mapping.Conflict {
	all, _, err := w.store.Conflicts(context.Background(), project, "", 1000)
	w.check(err)
	return all
}

func (w *world) verifyConflicts(most int) {
	all := w.conflicts()
	if len(all) > most {
		w.fail("%d conflicts, want at most %d: %+v", len(all), most, all)
	}
	for _, c := range all {
		if w.faults.draw != nil {
			break // people may have changed what met before it was told; then that was told
		}
		if !slices.ContainsFunc(w.issue().comments, func(m comment) bool { return strings.Contains(m.Body, c.ID) || w.tells(m, c.ID) }) {
			w.fail("no comment tells of conflict %s about %s", c.ID, c.Attribute)
		}
	}
}

func (w *world) tells(m comment, id string) bool {
	_, marks := keys.Body(m.Body)
	return slices.ContainsFunc(marks, func(k mapping.Marker) bool { return strings.HasPrefix(k.Partner, id) })
}

// stands reports whether a word is on a side, or kept in the ledger and in a
// comment.
func (w *world) stands(x word) bool {
	g, p := w.views()
	has := func(value string) bool { return slices.Contains(wordsOf(x.attr, value), x.text) }
	if has(g[x.attr].Value) || has(p[x.attr].Value) {
		return true
	}
	ledger := slices.ContainsFunc(w.conflicts(), func(c mapping.Conflict) bool { return has(c.GitHub) || has(c.Planning) })
	return (ledger || w.opening != "") && slices.ContainsFunc(w.issue().comments, func(c comment) bool { return strings.Contains(c.Body, x.text) })
}

// verifyRest checks that nothing is left over and that looking at everything
// again writes nothing.
func (w *world) verifyRest() {
	ctx := context.Background()
	failures, err := w.store.Failures(ctx, project, 10)
	w.check(err)
	for _, f := range failures {
		w.fail("parked: %s", f.Reason)
	}
	links, _, err := w.store.List(ctx, project, "", 10)
	w.check(err)
	if len(links) != 1 {
		w.fail("%d links, want one", len(links))
		return
	}
	l := links[0]
	if len(l.Pending) > 0 || l.Intent != nil || l.Unfinished {
		w.fail("left over: pending %+v, intent %+v, unfinished %v", l.Pending, l.Intent, l.Unfinished)
	}
	hub, plan := w.hub.writes, w.plan.writes
	for _, look := range []bool{false, true} {
		w.look(l, look)
		w.settle()
	}
	if w.hub.writes != hub || w.plan.writes != plan {
		w.fail("looking again wrote %d times to GitHub, %d times to planning", w.hub.writes-hub, w.plan.writes-plan)
	}
}

// look makes the link due, reading both items itself where read is set.
func (w *world) look(l *mapping.Link, read bool) {
	obs := store.Observation{Refs: l.Refs()}
	if read {
		obs.Event = encode(mapping.IssueEvent{Look: "test"})
	}
	_, err := w.store.Observe(context.Background(), project, []store.Observation{obs})
	w.check(err)
}

// result is the first thing that went wrong, with the log that led to it.
func (w *world) result() error {
	if len(w.errs) == 0 {
		return nil
	}
	return fmt.Errorf("%w\n%s", errors.Join(w.errs...), w.log.String())
}
