package pairing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Link links an issue and a card that no other link holds, or that were parted. Different values
// are a conflict without a base.
func (p *Pairing) Link(ctx context.Context, issueName, cardID string) (status.Link, error) {
	l, err := p.join(ctx, issueName, mapping.ObjectID(cardID))
	if err != nil {
		return status.Link{}, fmt.Errorf("link %s with %s: %w", issueName, cardID, err)
	}
	return status.LinkOf(l), nil
}

func (p *Pairing) join(ctx context.Context, issueName string, cardID mapping.ObjectID) (*mapping.Link, error) {
	issue, route, err := p.issueNamed(ctx, issueName)
	if err != nil {
		return nil, err
	}
	card, err := p.card(ctx, route.Project, cardID)
	if err != nil {
		return nil, err
	}
	mine, linked, err := store.FindAnywhere(ctx, p.o.Store, p.set().Routes.Projects(), mapping.IssueRef(issue.ID))
	if err != nil {
		return nil, err
	}
	theirs, held, err := store.FindIn(ctx, p.o.Store, []mapping.ObjectID{route.Project}, mapping.CardRef(card.ID))
	switch {
	case err != nil:
		return nil, err
	case linked && mine.Project != route.Project:
		return nil, fmt.Errorf("link %s of project %s holds the issue, and route %s leads to project %s: %w", mine.Link, mine.Project, route.Name, route.Project, status.ErrState)
	case held && (!linked || mine != theirs):
		if err := p.freeCard(ctx, theirs); err != nil {
			return nil, err
		}
	}
	to := mapping.NameCard(&card)
	if linked {
		return p.rejoin(ctx, mine, issue, to)
	}
	return p.joinNew(ctx, route, issue, to)
}

func (p *Pairing) card(ctx context.Context, project, id mapping.ObjectID) (mapping.Card, error) {
	if id == "" {
		return mapping.Card{}, status.ErrName
	}
	card, err := p.o.Services.Card(ctx, project, id)
	if errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone) {
		return card, fmt.Errorf("card %s: %w", id, store.ErrNotFound)
	}
	return card, err
}

// issueNamed reads an issue, and finds the route that takes it.
func (p *Pairing) issueNamed(ctx context.Context, name string) (*mapping.Issue, *mapping.Route, error) {
	item, err := status.ParseItem(name)
	if err != nil || item.Repository == "" {
		return nil, nil, status.ErrName
	}
	if err := p.o.Services.Ready(ctx); err != nil {
		return nil, nil, err
	}
	issue, err := p.o.Services.Issue(ctx, item.Repository, item.Number)
	if errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone) {
		return nil, nil, fmt.Errorf("issue: %w", store.ErrNotFound)
	}
	if err != nil {
		return nil, nil, err
	}
	set := p.set()
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
	return fmt.Errorf("link %s holds %s and %s; unlink them first: %w", l.ID, l.Where(), l.Card.ID, status.ErrState)
}

// freeCard takes the card out of a link that was parted.
func (p *Pairing) freeCard(ctx context.Context, key store.Key) error {
	claim, err := p.o.Holder.Hold(ctx, key)
	if err != nil {
		return err
	}
	l, out := claim.Link, store.Outcome{Kind: store.Done}
	if !l.Parted {
		return p.o.Holder.GiveUp(ctx, claim, errHeld(l))
	}
	if l.Issue.ID == 0 {
		out.Kind = store.Remove
	}
	*l = mapping.Link{
		ID: l.ID, Project: l.Project, Route: l.Route, Parted: true, Pair: mapping.Pair{
			Nonce: l.Nonce, Origin: mapping.GitHub, Issue: l.Issue,
			State: l.State, Dates: mapping.Dates{Created: l.Created}, Rest: mapping.Rest{Why: l.Why},
		},
	}
	return p.o.Store.Finish(ctx, claim, l, nil, out)
}

// rejoin links the issue of a link that was parted, or whose card was not made
// yet, with a card.
func (p *Pairing) rejoin(ctx context.Context, key store.Key, issue *mapping.Issue, card mapping.CardID) (*mapping.Link, error) {
	claim, err := p.o.Holder.Hold(ctx, key)
	if err != nil {
		return nil, err
	}
	l := claim.Link
	var apart *mapping.Link
	switch {
	case l.Card.ID != card.ID && !l.Parted:
		return nil, p.o.Holder.GiveUp(ctx, claim, errHeld(l))
	case l.Card.ID != card.ID || l.State == mapping.Erased:
		// A base with another card, or an erased one, does not count.
		origin := l.Origin
		if l.Card.ID != card.ID {
			origin = p.origin(issue, card.ID)
			if apart, err = l.CardApart(p.o.Clock.Now().UTC()); err != nil {
				return nil, p.o.Holder.GiveUp(ctx, claim, err)
			}
		}
		*l = mapping.Link{
			ID: l.ID, Project: l.Project, Route: l.Route,
			Pair: mapping.Pair{
				Nonce: l.Nonce, Origin: origin, Issue: l.Issue, Card: card, State: l.State,
				Dates: mapping.Dates{Created: l.Created, Synced: p.o.Clock.Now().UTC()}, // a link that was never synchronised would look for its card
			},
		}
	}
	err = l.Relink()
	if err == nil {
		err = p.changeQuestions(ctx, l, (*mapping.Conflict).Reopen)
	}
	if err != nil {
		return nil, p.o.Holder.GiveUp(ctx, claim, err)
	}
	entry := p.o.Holder.Entry(ctx, "linked", "")
	if err := p.o.Store.Finish(ctx, claim, l, []mapping.Entry{entry}, store.Outcome{Kind: store.Again}); err != nil {
		return nil, err
	}
	if apart != nil && apart.Card.ID != "" {
		if _, err := p.o.Store.Observe(ctx, l.Project, []store.Observation{{Refs: apart.Refs(), Create: apart}}); err != nil {
			return nil, fmt.Errorf("keep its former card %s apart: %w", apart.Card.ID, err)
		}
	}
	p.o.Queue.Kick()
	return l, nil
}

func (p *Pairing) joinNew(ctx context.Context, route *mapping.Route, issue *mapping.Issue, card mapping.CardID) (*mapping.Link, error) {
	l := route.JoinIssue(issue, card, p.o.Clock.Now().UTC())
	l.Origin = p.origin(issue, card.ID)
	seen, err := p.o.Store.Observe(ctx, route.Project, []store.Observation{{Refs: l.Refs(), Create: l}})
	switch {
	case err != nil:
		return nil, err
	case seen[0].Err != nil:
		return nil, seen[0].Err
	case !seen[0].Created:
		return nil, fmt.Errorf("one of them has just been linked: %w", status.ErrState)
	}
	p.o.Queue.Kick()
	return l, nil
}

// origin is the side of the first item of a pair. It is planning where planbridge made the issue for
// the card, and the issue keeps its marker then.
func (p *Pairing) origin(issue *mapping.Issue, card mapping.ObjectID) mapping.Side {
	_, marks := p.set().Keys.Body(issue.Body)
	if slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Kind == mapping.MarkIssue && m.Partner == string(card) }) {
		return mapping.Planning
	}
	return mapping.GitHub
}
