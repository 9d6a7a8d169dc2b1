package reconcile

import (
	"slices"

	"planbridge/mapping"
)

// firstSightWithout reports whether an attribute has no base and the view does not show it
// either.
func (w decider) firstSightWithout(view mapping.View) bool {
	return slices.ContainsFunc(mapping.Attributes, func(a mapping.Attribute) bool {
		_, seen := view[a]
		return w.isUnagreed(a) && !seen && (!a.Spec().Tracked || w.pair.IsTask() || w.tracking() != nil)
	})
}

// decideItem is resolve for a checklist line and its task.
func (w decider) decideItem() (mapping.Plan, error) {
	if err := repairer(w).recoverLanded(); err != nil {
		return mapping.Plan{}, err
	}
	plan, err := w.resolve()
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		if d.Attribute != mapping.Title || d.GitHub == nil {
			continue
		}
		// An item is as long as it likes; it cannot be without words.
		whole := w.p[mapping.Title].Value
		if mapping.Same(mapping.Title, d.GitHub.To, mapping.CutTitle(whole)) {
			d.GitHub.To, d.Base.GitHub = whole, whole
		}
		if mapping.CanonicalTitle(d.GitHub.To) == "" {
			d.Action, d.Why, d.GitHub, d.Loses = mapping.Blocked, "an item cannot be without words", nil, false
		}
	}
	return plan, err
}

func (w decider) resolve() (mapping.Plan, error) {
	in := mapping.Input{
		Link: w.link, Pair: w.pair, Route: w.route, GitHub: w.g, Planning: w.p,
		Edited: map[mapping.Attribute]map[mapping.Side]mapping.Interval{}, Questions: map[string]mapping.Conflict{},
	}
	for _, id := range w.pair.Questions() {
		c, known, err := ledger(w).ledgerEntry(id)
		if err != nil {
			return mapping.Plan{}, err
		}
		if known {
			in.Questions[id] = c
		}
	}
	if w.lists() {
		lister(w).refreshList() // the lines that are text are part of the summary
	}
	for _, a := range mapping.Attributes {
		in.Edited[a] = map[mapping.Side]mapping.Interval{mapping.GitHub: freshness(w).editedOnGitHub(a), mapping.Planning: freshness(w).editedInPlanning(a)}
	}
	in.Rewound = freshness(w).rewoundNow()
	plan := mapping.Resolve(in)
	if err := ledger(w).creditUndo(&plan); err != nil {
		return mapping.Plan{}, err
	}
	signer(w).restoreMarker(&plan)
	changes, err := lister(w).decideList()
	bodyEditor(w).wholeBodies(&plan, changes)
	visibility(w).withhold(&plan)
	return plan, err
}
