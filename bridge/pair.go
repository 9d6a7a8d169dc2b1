package bridge

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Operators join and part pairs by hand. A pair that was parted stays in the
// store, dormant, so that neither its issue nor its card enters again.

// handLease is how long a link's key is held for an operator's change, and
// handPatience how long one that is being worked is waited for.
const handLease, handPatience = 10 * time.Second, 10 * time.Second

// hold claims a link's key for an operator.
func (o *Operator) hold(ctx context.Context, key store.Key) (*store.Claim, error) {
	for until := time.Now().Add(handPatience); ; {
		claim, err := o.store.ClaimKey(ctx, key, handLease)
		if !errors.Is(err, store.ErrConflict) {
			return claim, err
		}
		if time.Now().After(until) {
			return nil, fmt.Errorf("it is being worked, try again: %w", status.ErrState)
		}
		if err := wait(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
}

// giveUp ends an operator's claim of a link that stays as it was, for err.
func (o *Operator) giveUp(ctx context.Context, claim *store.Claim, err error) error {
	return errors.Join(err, o.store.Finish(ctx, claim, nil, nil, store.Outcome{Kind: store.Again}))
}

// partedWhy is what a parted link says of itself.
const partedWhy = "unlinked by an operator"

// partedWhyOf is what a parted link says of itself.
func partedWhyOf(l *mapping.Link) string {
	if l.State == mapping.Erased {
		return mapping.ErasedWhy
	}
	return partedWhy
}

// Part parts the pair of a link, by one of the names that Find takes: nothing
// is synchronised until it is linked again, and neither item enters anew.
func (o *Operator) Part(ctx context.Context, name string) error {
	l, err := o.Find(ctx, name)
	if err != nil {
		return err
	}
	claim, err := o.hold(ctx, store.Key{Project: l.Project, Link: l.ID})
	if err != nil {
		return fmt.Errorf("unlink %s: %w", name, err)
	}
	l = claim.Link
	if err := l.Advance(mapping.EventUnlinked); err != nil {
		return o.giveUp(ctx, claim, fmt.Errorf("unlink %s: %w", name, err))
	}
	l.Parted, l.Why = true, partedWhyOf(l)
	entry := mapping.Entry{At: time.Now().UTC(), What: "unlinked", Why: "by an operator"}
	if err := o.store.Finish(ctx, claim, l, []mapping.Entry{entry}, store.Outcome{Kind: store.Done}); err != nil {
		return fmt.Errorf("unlink %s: %w", name, err)
	}
	return nil
}

// Join implements [status.Services]: it links an issue and a card that no
// other link holds, or that were parted. What differs is a conflict without a
// base.
func (s services) Join(ctx context.Context, issueName, cardID string) (status.Link, error) {
	l, err := s.join(ctx, issueName, mapping.ObjectID(cardID))
	if err != nil {
		return status.Link{}, fmt.Errorf("link %s with %s: %w", issueName, cardID, err)
	}
	return status.LinkOf(l), nil
}

func (s services) join(ctx context.Context, issueName string, cardID mapping.ObjectID) (*mapping.Link, error) {
	issue, route, err := s.issueNamed(ctx, issueName)
	if err != nil {
		return nil, err
	}
	p := s.projects.get(route.Project)
	if p == nil || cardID == "" {
		return nil, status.ErrName
	}
	card, err := p.side.Card(ctx, cardID)
	if errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone) {
		return nil, fmt.Errorf("card %s: %w", cardID, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	mine, linked, err := s.known(ctx, mapping.IssueRef(issue.ID))
	if err != nil {
		return nil, err
	}
	theirs, held, err := s.known(ctx, mapping.CardRef(card.ID))
	switch {
	case err != nil:
		return nil, err
	case held && (!linked || mine != theirs):
		if err := s.freeCard(ctx, theirs); err != nil {
			return nil, err
		}
	}
	to := mapping.NameCard(&card)
	if linked {
		return s.rejoin(ctx, mine, to)
	}
	return s.joinNew(ctx, route, issue, to)
}

// issueNamed reads an issue, and finds the route that takes it.
func (s services) issueNamed(ctx context.Context, name string) (*mapping.Issue, *mapping.Route, error) {
	repo, num, ok := strings.Cut(name, "#")
	number, err := strconv.Atoi(num)
	if !ok || err != nil || !strings.Contains(repo, "/") {
		return nil, nil, status.ErrName
	}
	if err := s.ready(ctx); err != nil {
		return nil, nil, err
	}
	issue, err := s.github.Issue(ctx, repo, number)
	if errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone) {
		return nil, nil, fmt.Errorf("issue: %w", store.ErrNotFound)
	}
	if err != nil {
		return nil, nil, err
	}
	set := s.set.Load()
	route, why := set.Routes.ForIssue(&issue, set.Scheme)
	switch {
	case issue.PullRequest:
		return nil, nil, fmt.Errorf("it is a pull request: %w", status.ErrState)
	case route == nil:
		return nil, nil, fmt.Errorf("%s: %w", why, status.ErrState)
	}
	return &issue, route, nil
}

// errHeld: an item belongs to a link that was not parted.
func errHeld(l *mapping.Link) error {
	return fmt.Errorf("link %s holds %s and %s; unlink them first: %w", l.ID, whereOf(l), l.Card.ID, status.ErrState)
}

// freeCard takes the card out of a link that was parted.
func (s services) freeCard(ctx context.Context, key store.Key) error {
	claim, err := s.Operator().hold(ctx, key)
	if err != nil {
		return err
	}
	l, out := claim.Link, store.Outcome{Kind: store.Done}
	if !l.Parted {
		return s.Operator().giveUp(ctx, claim, errHeld(l))
	}
	if l.Issue.ID == 0 {
		out.Kind = store.Remove
	}
	*l = mapping.Link{
		ID: l.ID, Project: l.Project, Route: l.Route, Nonce: l.Nonce, Origin: mapping.GitHub, Issue: l.Issue, Created: l.Created,
		State: l.State, Parted: true, Why: l.Why,
	}
	return s.store.Finish(ctx, claim, l, nil, out)
}

// rejoin links the issue of a link that was parted, or whose card was not made
// yet, with a card.
func (s services) rejoin(ctx context.Context, key store.Key, card mapping.CardID) (*mapping.Link, error) {
	claim, err := s.Operator().hold(ctx, key)
	if err != nil {
		return nil, err
	}
	l := claim.Link
	switch {
	case l.Card.ID != card.ID && !l.Parted:
		return nil, s.Operator().giveUp(ctx, claim, errHeld(l))
	case l.Card.ID != card.ID || l.State == mapping.Erased:
		// Nothing holds of what was agreed with another card, or was erased.
		*l = mapping.Link{
			ID: l.ID, Project: l.Project, Route: l.Route, Nonce: l.Nonce, Origin: mapping.GitHub, Issue: l.Issue, Card: card, State: l.State,
			Created: l.Created, Synced: time.Now().UTC(), // a link that was never synchronised would look for its card
		}
	}
	if err := relink(l); err != nil {
		return nil, s.Operator().giveUp(ctx, claim, err)
	}
	entry := mapping.Entry{At: time.Now().UTC(), What: "linked", Why: "by an operator"}
	if err := s.store.Finish(ctx, claim, l, []mapping.Entry{entry}, store.Outcome{Kind: store.Again}); err != nil {
		return nil, err
	}
	s.engine.Kick()
	return l, nil
}

// relink has a pair go on that an operator linked.
func relink(l *mapping.Link) error {
	l.Parted, l.Unfinished = false, true
	switch {
	case l.State == mapping.Linked, l.State == mapping.Creating && l.Intent != nil: // it is being worked
		l.Why = ""
		return nil
	case l.Intent != nil:
		return l.Advance(mapping.EventResumed)
	}
	return l.Advance(mapping.EventRelinked)
}

func (s services) joinNew(ctx context.Context, route *mapping.Route, issue *mapping.Issue, card mapping.CardID) (*mapping.Link, error) {
	l := route.JoinIssue(issue, card, time.Now().UTC())
	seen, err := s.observed().Observe(ctx, route.Project, []store.Observation{{Refs: l.Refs(), Create: l}})
	switch {
	case err != nil:
		return nil, err
	case seen[0].Err != nil:
		return nil, seen[0].Err
	case !seen[0].Created:
		return nil, fmt.Errorf("one of them has just been linked: %w", status.ErrState)
	}
	return l, nil
}
