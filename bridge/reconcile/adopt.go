package reconcile

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"planbridge/mapping"
)

// lookupGap lies between the two complete lookups that prove absence.
const lookupGap = time.Second

// missingInARow ends the search for an issue by number: a number may be
// missing because a discussion or a deleted issue took it.
const missingInARow = 10

// readsPerClaim bounds how many issue numbers one claim reads; the search goes
// on where it stopped.
const readsPerClaim = 100

// ours reports whether a text carries a marker by which its item is this
// link's: one made for this link, or one that names this link's issue (for a
// card) or card (for an issue) as its partner, which is how an item is known
// whose link was lost with the store.
func (w *work) ours(text string, kind mapping.MarkerKind) bool {
	partner := string(w.link.Card.ID)
	if kind == mapping.MarkCard || kind == mapping.MarkTask {
		partner = strconv.FormatInt(w.link.Issue.ID, 10)
	}
	_, marks := w.set.Keys.Body(text)
	for _, m := range marks {
		if m.Kind == kind && (m.Link == w.link.ID && !w.link.Task || m.Partner == partner) {
			return true
		}
	}
	return false
}

// markerOn is the kind of the marker that the link's item on a side carries
// where the bridge made it.
func (w *work) markerOn(side mapping.Side) mapping.MarkerKind {
	switch {
	case side == mapping.GitHub && w.link.Task:
		return mapping.MarkSubIssue
	case side == mapping.GitHub:
		return mapping.MarkIssue
	case w.link.Task:
		return mapping.MarkTask
	}
	return mapping.MarkCard
}

// adoptCard looks for the card of this link's intent: among what a poll has
// brought, and, when a request may have been answered without a word reaching
// us, in every bucket and sprint.
func (w *work) adoptCard(ctx context.Context) (bool, error) {
	if err := w.needIssue(ctx); err != nil {
		return false, err
	}
	var seen []mapping.Card
	take := func(c mapping.Card) {
		if w.ours(c.Summary.Value, mapping.MarkCard) {
			seen = append(seen, c)
		}
	}
	for ref := range mapping.Sorted(w.claim.Inbox) {
		var c mapping.Card
		if ref.Kind() != "card" {
			continue
		}
		if _, _, err := slot(w, ref, &c); err != nil {
			return false, err
		}
		take(c)
	}
	found, err := w.oldest(ctx, seen)
	if err != nil {
		return false, err
	}
	how := "poll"
	if found == nil && w.link.Intent.Sent {
		how, seen = "lookup", nil
		err := w.provenAbsent(w.set.Settle.Planning, func() error {
			if err := w.lookup(ctx, take); err != nil {
				return onPlanning(err)
			}
			found, err = w.oldest(ctx, seen)
			return err
		}, func() bool { return found != nil })
		if err != nil {
			return false, err
		}
	}
	if found == nil {
		return false, nil
	}
	w.Metrics.Prevented.WithLabelValues(how).Inc()
	w.linkCard(found, "found by its marker ("+how+")")
	return true, nil
}

// oldest returns, of cards that carry the link's marker, the one that was made
// first; nil: none is free to be the link's.
func (w *work) oldest(ctx context.Context, cards []mapping.Card) (*mapping.Card, error) {
	slices.SortFunc(cards, func(a, b mapping.Card) int { return cmp.Compare(a.CID, b.CID) })
	for i := range cards {
		if free, err := w.mayTake(ctx, mapping.CardRef(cards[i].ID)); free || err != nil {
			return &cards[i], err
		}
	}
	return nil, nil
}

// provenAbsent runs one complete lookup. It returns nil when the item was
// found, or when it is proven absent (settle has passed and two complete lookups
// found nothing) and may be made anew; else an error that puts the key off.
func (w *work) provenAbsent(settle time.Duration, lookup func() error, found func() bool) error {
	intent := w.link.Intent
	if wait := settle - time.Since(intent.At); wait > 0 {
		return later(wait, "a create may still be under way")
	}
	began := time.Now().UTC()
	if err := lookup(); err != nil || found() {
		return err
	}
	intent.Looked = began
	if intent.Lookups++; intent.Lookups < 2 {
		return later(lookupGap, "absence is to be proven by a second lookup")
	}
	intent.Sent, intent.Lookups = false, 0
	return nil
}

// adoptIssue looks for the issue of this link's intent: among what webhooks
// have brought, and, when the answer was lost and no webhook came, by reading
// every issue number above the highest one known at the intent. Where the
// bridge's own account is not known the issue proves itself: the intent's nonce
// is nowhere before it is made, so the first that carries it is no copy.
func (w *work) adoptIssue(ctx context.Context) (bool, error) {
	var found *mapping.Issue
	take := func(i mapping.Issue) error {
		if found != nil && found.Number <= i.Number || !w.ours(w.madeWith(ctx, &i), w.markerOn(mapping.GitHub)) {
			return nil
		}
		free, err := w.mayTake(ctx, mapping.IssueRef(i.ID))
		if free {
			found = &i
		}
		return err
	}
	for ref := range mapping.Sorted(w.claim.Inbox) {
		var i mapping.Issue
		if ref.Kind() != "issue" {
			continue
		}
		if _, _, err := slot(w, ref, &i); err != nil {
			return false, err
		}
		if err := take(i); err != nil {
			return false, err
		}
	}
	how, intent := "webhook", w.link.Intent
	if found != nil && w.link.State == mapping.Creating && !w.GitHub.Whose(found.Author).Ours() {
		how, found = "lookup", nil
		if err := w.searchNumbers(ctx, take, func() bool { return found != nil }); err != nil {
			return false, err
		}
	}
	if found == nil && intent.Sent {
		how = "lookup"
		if wait := w.set.Settle.GitHub - time.Since(intent.At); wait > 0 {
			return false, later(wait, "a create may still be under way")
		}
		if err := w.searchNumbers(ctx, take, func() bool { return found != nil }); err != nil {
			return false, err
		}
		intent.Sent = found != nil
	}
	if found == nil {
		return false, nil
	}
	if err := w.needCard(ctx); err != nil {
		return false, err
	}
	w.Metrics.Prevented.WithLabelValues(how).Inc()
	w.linkIssue(found, "found by its marker ("+how+")")
	w.looked = w.looked || how == "webhook" // what came later may have gone to another link
	return true, nil
}

// searchNumbers reads the issues above intent.After until one is found or ten
// numbers in a row are missing.
func (w *work) searchNumbers(ctx context.Context, take func(mapping.Issue) error, found func() bool) error {
	intent := w.link.Intent
	missing := 0
	for n, reads := intent.After+1, 0; missing < missingInARow; n, reads = n+1, reads+1 {
		if reads == readsPerClaim {
			return inTurn(0, "still looking among the issues after #%d", intent.After)
		}
		issue, err := w.atGitHub().Issue(ctx, w.link.Issue.Repo, n)
		switch {
		case err == nil:
			if err := take(issue); err != nil || found() {
				return err
			}
			intent.After, missing = n, 0
		case isGone(err) || errors.Is(err, mapping.ErrMoved):
			missing++
		default:
			return onGitHub(err)
		}
	}
	return nil
}
