package reconcile

import (
	"slices"
	"strconv"

	"planbridge/mapping"
)

// markedSide is the side whose item the bridge made: that one carries the
// marker. Of a copied card it is planning once there is an issue to name: what it
// carries otherwise is the original's marker.
func (w *work) markedSide() mapping.Side {
	if w.pair.Copied && w.owner.Issue.ID != 0 {
		return mapping.Planning
	}
	return w.pair.Origin.Other()
}

// marked takes in whether the text of the marked item, as it stands there,
// still carries its marker.
func (w *work) marked(side mapping.Side, raw string) {
	if side != w.markedSide() {
		return
	}
	kind := w.markerOn(side)
	w.unmarked = ""
	if !w.ours(raw, kind) || kind == mapping.MarkCard && !w.namesIssue(raw) {
		w.unmarked = mapping.DigestText(raw)
	}
}

// namesIssue reports whether a card's marker names the link's issue, and not
// the one that this was before it was transferred.
func (w *work) namesIssue(raw string) bool {
	partner := strconv.FormatInt(w.owner.Issue.ID, 10)
	_, marks := w.set.Keys.Body(raw)
	return slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Kind == mapping.MarkCard && m.Partner == partner })
}

// remark adds to a plan the return of a marker that somebody removed with the
// text around it: without it the link could not be found again if the store
// were lost. A text to which it was given back once is let be.
func (w *work) remark(plan *mapping.Plan) {
	if w.unmarked == "" || w.unmarked == w.pair.Remarked || !w.route.Writes(w.markedSide()) {
		return
	}
	base, ok := w.pair.Base[mapping.Summary]
	ok = ok || slices.ContainsFunc(plan.Decisions, func(d mapping.Decision) bool {
		return d.Attribute == mapping.Summary && d.Action == mapping.Adopt // a pair that was joined by hand
	})
	if !ok || !w.route.Writes(w.markedSide()) {
		return
	}
	base.GitHub = w.link.Text(w.route, mapping.Summary, base.GitHub)
	// A summary that is written anyway gets its marker with it, and one that
	// has to be decided first waits; a version that was counted is neither.
	for i, d := range plan.Decisions {
		if d.Attribute == mapping.Summary && d.Action != mapping.Adopt {
			return
		}
		if d.Attribute == mapping.Summary {
			base, plan.Decisions = d.Base, slices.Delete(plan.Decisions, i, i+1)
			break
		}
	}
	d := mapping.Decision{Attribute: mapping.Summary, Action: mapping.Remark, Why: "its marker was removed, or names what the issue was before", Base: base}
	if w.markedSide() == mapping.GitHub {
		d.GitHub = &mapping.Write{From: base.GitHub, To: base.GitHub}
	} else {
		version := w.p.VersionOr(mapping.Summary, base.Version)
		d.Planning = &mapping.Write{From: base.Planning, To: base.Planning, Version: version}
		d.Base.Version = version
	}
	plan.Decisions = append(plan.Decisions, d)
}

// signJoined gives the card of a pair that people made and that was joined its
// footer before the issue is touched: were the store lost in between, an issue
// that was touched would enter, and get a card of its own.
func signJoined(w *work) (verdict, error) {
	_, agreed := w.pair.Base[mapping.Summary]
	if !w.round.writes() || agreed || w.root != nil || w.markedSide() != mapping.Planning || w.unmarked == "" || w.unmarked == w.pair.Remarked || !w.route.Writes(mapping.Planning) {
		return pass, nil
	}
	now := w.p[mapping.Summary]
	if err := w.writing(); err != nil {
		return end, err
	}
	up, err := do(w, UpdateCard{w.pair.Card.ID, w.route.Username, w.route.Images, map[mapping.Attribute]mapping.Versioned{
		mapping.Summary: {Value: w.cardText(now.Value), Version: now.Version},
	}})
	if err != nil {
		d := mapping.Decision{Attribute: mapping.Summary, Planning: &mapping.Write{From: now.Value, To: now.Value, Version: now.Version}}
		moved, err := w.putFailed(w.pair.Partner(), []mapping.Decision{d}, nil, err)
		if !moved && err == nil { // refused: it goes on without
			w.pair.Remarked = w.unmarked
		}
		return anewIf(moved, err)
	}
	w.toldPlain(up)
	w.pair.Remarked, w.unmarked = w.unmarked, ""
	w.pair.Card.Version = max(w.pair.Card.Version, up.Version)
	if got, ok := up.Values[mapping.Summary]; ok {
		now = mapping.Versioned{Value: w.strip(got.Value), Version: got.Version}
	} else {
		now.Version++
	}
	w.p[mapping.Summary] = now
	w.note(mapping.Planning, mapping.Summary, "mark", "the card was joined")
	return anew, nil
}

// remarked notes a text to which the marker was given back.
func (w *work) remarked(d mapping.Decision) {
	if d.Action == mapping.Remark {
		w.pair.Remarked, w.unmarked = w.unmarked, ""
	}
}
