package reconcile

import (
	"slices"
	"strconv"

	"planbridge/mapping"
)

// hasMarker reports whether a text has a marker that makes its item this link's. The marker
// was made for this link, or it names this link's issue (on a card) or card (on an issue) as
// its partner. The latter identifies an item whose link was lost with the store.
func (w signer) hasMarker(text string, kind mapping.MarkerKind) bool {
	partner := string(w.pair.Card.ID)
	if kind == mapping.MarkCard || kind == mapping.MarkTask {
		partner = w.issueAsPartner()
	}
	return slices.ContainsFunc(w.marks(text, kind), func(m mapping.Marker) bool {
		return m.Link == w.link.ID && !w.pair.IsTask() || m.Partner == partner
	})
}

// marks are a text's markers of one kind.
func (w signer) marks(text string, kind mapping.MarkerKind) (marks []mapping.Marker) {
	_, all := w.set.Keys.Body(text)
	for _, m := range all {
		if m.Kind == kind {
			marks = append(marks, m)
		}
	}
	return marks
}

// markerOn is the kind of marker on the link's item of a side, where the bridge made it.
func (w signer) markerOn(side mapping.Side) mapping.MarkerKind {
	switch {
	case side == mapping.GitHub && w.pair.IsTask():
		return mapping.MarkSubIssue
	case side == mapping.GitHub:
		return mapping.MarkIssue
	case w.pair.IsTask():
		return mapping.MarkTask
	}
	return mapping.MarkCard
}

// cardText is a summary with the footer that names and marks the issue.
func (w signer) cardText(summary string) string {
	if !w.marksItem(mapping.Planning) {
		return summary
	}
	return w.footer(summary, w.markerOn(mapping.Planning), w.pair.Nonce, w.issueAsPartner())
}

// footer is a planning text with a footer that names the issue and has a marker.
func (w signer) footer(text string, kind mapping.MarkerKind, nonce, partner string) string {
	mark := mapping.Marker{Kind: kind, Link: w.link.ID, Nonce: nonce, Partner: partner}
	return w.set.Keys.AppendFooter(text, mark, w.owner.Issue.Repo, w.owner.Issue.Number, w.issueURL())
}

// issueText is a body with the comment that marks the card, where the bridge made the issue.
func (w signer) issueText(body string) string {
	if !w.marksItem(mapping.GitHub) || w.link.Cleaning {
		return body
	}
	mark := mapping.Marker{Kind: w.markerOn(mapping.GitHub), Link: w.link.ID, Nonce: w.pair.Nonce, Partner: string(w.pair.Card.ID)}
	return w.set.Keys.AppendComment(body, mark)
}

// marksItem reports whether the bridge's texts of a side's item have a marker. Both items of a copied
// card's pair have one: the issue as the bridge made it, and the card in place of the copied one.
func (w signer) marksItem(side mapping.Side) bool {
	return side.Other() == w.pair.Origin || side == mapping.Planning && w.pair.Copied
}

// markedSide is the side whose item the bridge made, which has the marker. For a copied card it is
// planning, once it has an issue of its own: until then the card has the marker of the original.
func (w signer) markedSide() mapping.Side {
	if w.pair.Copied && w.owner.Issue.ID != 0 {
		return mapping.Planning
	}
	return w.pair.Origin.Other()
}

// noteMarker records whether the current text of the marked item still has its marker.
func (w signer) noteMarker(side mapping.Side, raw string) {
	if side != w.markedSide() {
		return
	}
	w.unmarked = ""
	if !w.signed(side, raw) {
		w.unmarked = mapping.DigestText(raw)
	}
}

// signed reports whether a text of a side's item has the marker that it is written with. That of a card
// names the link's issue, and not the one before a transfer.
func (w signer) signed(side mapping.Side, raw string) bool {
	kind := w.markerOn(side)
	if kind != mapping.MarkCard {
		return w.hasMarker(raw, kind)
	}
	return slices.ContainsFunc(w.marks(raw, kind), func(m mapping.Marker) bool { return m.Partner == w.issueAsPartner() })
}

// issueAsPartner is the issue's name in the marker of its card or task.
func (w signer) issueAsPartner() string { return strconv.FormatInt(w.owner.Issue.ID, 10) }

// restoreMarker adds to a plan the return of a marker that somebody removed with its text.
// Without the marker the link could not be found again after a loss of the store. So it comes
// back whatever becomes of the text: where both sides agree, and where the text is blocked or
// people are asked. A summary that is written anyway goes first. A text gets its marker back
// once; after that it is left alone.
func (w signer) restoreMarker(plan *mapping.Plan) {
	if w.unmarked == "" || w.unmarked == w.pair.MarkerRestored || w.link.Moving != nil || !w.route.Writes(w.markedSide()) {
		return
	}
	if plan.Writes(mapping.GitHub, mapping.Summary) || plan.Writes(mapping.Planning, mapping.Summary) {
		return
	}
	d := mapping.Decision{
		Attribute: mapping.Summary, Action: mapping.RestoreMarker, Why: "its marker was removed, or names what the issue was before",
		Base: w.pair.Base[mapping.Summary],
	}
	d.Base.GitHub = w.link.Text(w.route, mapping.Summary, d.Base.GitHub)
	if w.markedSide() == mapping.GitHub {
		text := w.link.Text(w.route, mapping.Summary, w.body())
		d.GitHub = &mapping.Write{From: text, To: text}
	} else {
		now, known := w.p[mapping.Summary]
		if !known {
			now = mapping.Versioned{Value: d.Base.Planning, Version: d.Base.Version}
		}
		d.Planning = &mapping.Write{From: now.Value, To: now.Value, Version: now.Version}
		d.Base.Version = now.Version
	}
	plan.Decisions = append(plan.Decisions, d)
}

// noteMarkerRestored records a text that got its marker back, or that a side refuses with it.
func (w signer) noteMarkerRestored(d mapping.Decision) {
	if d.Action == mapping.RestoreMarker {
		w.pair.MarkerRestored, w.unmarked = w.unmarked, ""
	}
}

// trackingPartner is the partner in the marker of a tracking task.
const trackingPartner = "tracking"

// itemPartner is the partner in the marker of a checklist item's task.
const itemPartner = "item"

// issueURL is the address of the issue's page, as GitHub gives it or as it would be.
func (w signer) issueURL() string {
	if i := w.issue; i != nil && i.Number == w.owner.Issue.Number && i.Page != "" {
		return i.Page
	}
	return w.set.WebURL + "/" + w.owner.Issue.Repo + "/issues/" + strconv.Itoa(w.owner.Issue.Number)
}
