package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
	"planbridge/store"
)

// readAgain reads the issue before it is written, as GitHub has no lock. What a
// late write of ours did shows there perhaps first, and is nobody's edit.
func (w *work) readAgain() error {
	if err := w.readIssue(); err != nil {
		return err
	}
	w.list = list{} // of another body
	return w.settleLate(journal.Matches{})
}

func (w *work) resolve() (mapping.Plan, error) {
	in := mapping.Input{
		Link: w.link, Pair: w.pair, Route: w.route, GitHub: w.g, Planning: w.p,
		Edited: map[mapping.Attribute]map[mapping.Side]mapping.Interval{},
		Asked:  map[mapping.Attribute]mapping.Conflict{}, Answers: map[mapping.Attribute]mapping.Side{},
	}
	for _, a := range mapping.Attributes {
		in.Edited[a] = map[mapping.Side]mapping.Interval{mapping.GitHub: w.editedOnGitHub(a), mapping.Planning: w.editedInPlanning(a)}
	}
	for a, id := range mapping.Sorted(w.pair.Asking) {
		c, err := do(w, ReadConflict{w.link.Project, id})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return mapping.Plan{}, fmt.Errorf("read conflict %s: %w", id, err)
		}
		if err != nil {
			continue
		}
		in.Asked[a] = c
		if c.State == mapping.ConflictAnswered {
			in.Answers[a] = c.Winner
		}
	}
	if w.lists() {
		w.seeList() // which lines are text decides what the summary is
	}
	in.Rewound = w.rewoundNow()
	plan := mapping.Resolve(in)
	w.remark(&plan)
	changes, err := w.decideList()
	w.whole(&plan, changes)
	w.withhold(&plan)
	return plan, err
}

// agreed takes over what needs no write, and ends the questions that are
// answered.
func (w *work) agreed(plan mapping.Plan) error {
	for _, d := range plan.Decisions {
		switch d.Action {
		case mapping.Adopt:
			w.setBase(d.Attribute, d.Base)
		case mapping.Ask, mapping.Blocked, mapping.Restrained, mapping.Withheld:
			continue
		}
		if err := w.endQuestion(d); err != nil {
			return err
		}
	}
	return w.endQuestions(plan)
}

// endQuestions closes what was asked and needs no decision any more: people took both
// edits back, or a process ended while it took the answer in.
func (w *work) endQuestions(plan mapping.Plan) error {
	for _, a := range slices.Sorted(maps.Keys(w.pair.Asking)) {
		_, g := w.g[a]
		_, p := w.p[a]
		if !g || !p || slices.ContainsFunc(plan.Decisions, func(d mapping.Decision) bool { return d.Attribute == a }) {
			continue
		}
		if err := w.endQuestion(mapping.Decision{Attribute: a, Why: "both sides agree"}); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) setBase(a mapping.Attribute, base mapping.Base) {
	if w.pair.Base == nil {
		w.pair.Base = map[mapping.Attribute]mapping.Base{}
	}
	w.pair.Base[a] = base
	delete(w.pair.Refused, a)
}

// lag observes how long it took from seeing a change to writing it to a side.
func (w *work) lag(to mapping.Side) {
	if took, known := w.took(); known {
		tell(w, Lagged{"to_" + string(to), took})
	}
}

// took is how long ago the first of the changes was seen that the claim is about.
func (w *work) took() (d time.Duration, known bool) {
	var seen time.Time
	for _, s := range w.claim.Inbox {
		if seen.IsZero() || s.Seen.Before(seen) {
			seen = s.Seen
		}
	}
	if seen.IsZero() {
		return 0, false
	}
	return max(0, w.since(seen)), true
}
