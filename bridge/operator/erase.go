package operator

import (
	"context"
	"fmt"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// ledgerPage is how many entries of the conflict ledger are read at a time.
const ledgerPage = 500

// Erase implements [status.Operator]: it removes the texts of links from the
// records, their histories, snapshots and events, and from the conflict ledger.
// What it could not do it tells; asking again goes on from there.
func (o *Operator) Erase(ctx context.Context, ask status.EraseAsk) (status.Erased, error) {
	links, kept, err := o.toErase(ctx, ask)
	if err != nil {
		return status.Erased{}, err
	}
	got := status.Erased{Links: []status.Link{}, Kept: kept, Comments: []status.ErasedComment{}}
	for _, l := range links {
		erased, err := o.eraseLink(ctx, l)
		if err != nil {
			return got, fmt.Errorf("erase %s: %w", l.Where(), err)
		}
		got.Links = append(got.Links, status.LinkOf(erased))
	}
	for _, l := range links {
		if err := o.eraseConflicts(ctx, l, &got); err != nil {
			return got, fmt.Errorf("erase the conflicts of %s: %w", l.Where(), err)
		}
	}
	if err := o.store.Scrub(ctx); err != nil {
		got.Warning = fmt.Sprintf("the texts are removed, but may stand on the store's disk until it uses their place again: %v", err)
	}
	return got, nil
}

// toErase finds the links that an operator means, in all projects of the store, and those that
// have a part of the author's in a family of somebody else's.
func (o *Operator) toErase(ctx context.Context, ask status.EraseAsk) (links []*mapping.Link, kept []string, err error) {
	if (ask.Item == "") == (ask.Author == "") {
		return nil, nil, status.BadAsk("erase: expected an item or an author")
	}
	meant := func(l *mapping.Link) bool { return strings.EqualFold(l.Issue.Author, ask.Author) }
	if ask.Item != "" {
		item, err := o.findAnywhere(ctx, ask.Item)
		if err != nil {
			return nil, nil, err
		}
		meant = func(l *mapping.Link) bool {
			return l.ID == item.ID || l.Issue.ID != 0 && l.Issue.ID == item.Issue.ID
		}
	}
	projects, err := o.everywhere(ctx)
	if err != nil {
		return nil, nil, err
	}
	err = o.walk(ctx, projects, func(l *mapping.Link) error {
		if meant(l) {
			all, err := o.withFormer(ctx, l)
			links = append(links, all...)
			return err
		}
		for _, p := range l.SubLinks {
			if ask.Author != "" && strings.EqualFold(p.Issue.Author, ask.Author) {
				kept = append(kept, fmt.Sprintf("%s is a sub-issue of %s, of another author: erase that to erase both", p.Where(), l.Where()))
			}
		}
		return nil
	})
	if err == nil && len(links) == 0 && len(kept) == 0 {
		err = fmt.Errorf("links of issues by %s: %w", ask.Author, store.ErrNotFound)
	}
	return links, kept, err
}

// withFormer returns a link, and those by which its issue had cards in other projects.
func (o *Operator) withFormer(ctx context.Context, l *mapping.Link) ([]*mapping.Link, error) {
	links := []*mapping.Link{l}
	for l.Before != nil {
		key, known, err := store.FindIn(ctx, o.store, []mapping.ObjectID{l.Before.Project}, mapping.CardRef(l.Before.Card))
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
		if l, err = o.store.Link(ctx, key); err != nil {
			return nil, err
		}
		l.Issue = links[0].Issue // whose comments its conflicts tell of
		links = append(links, l)
	}
	return links, nil
}

// eraseLink erases one link, with all that belongs to it.
func (o *Operator) eraseLink(ctx context.Context, l *mapping.Link) (*mapping.Link, error) {
	claim, err := o.hold(ctx, store.Key{Project: l.Project, Link: l.ID})
	if err != nil {
		return nil, err
	}
	if err := claim.Link.Erase(); err != nil {
		return nil, o.giveUp(ctx, claim, err)
	}
	entry := o.byActor(ctx, "erased", "")
	return claim.Link, o.store.Finish(ctx, claim, claim.Link, []mapping.Entry{entry}, store.Outcome{Kind: store.Erase})
}

// eraseConflicts erases the ledger's entries of a link, and of those that its
// issue had before a store was lost.
func (o *Operator) eraseConflicts(ctx context.Context, l *mapping.Link, got *status.Erased) error {
	for cursor := ""; ; {
		page, next, err := o.store.Conflicts(ctx, l.Project, cursor, ledgerPage)
		if err != nil {
			return err
		}
		for i := range page {
			c := &page[i]
			if c.Link != l.ID && !strings.EqualFold(c.Where, l.Where()) {
				continue
			}
			c.Erase()
			if err := o.store.PutConflict(ctx, *c); err != nil {
				return err
			}
			got.Conflicts++
			for _, id := range c.Comments {
				got.Comments = append(got.Comments, status.ErasedComment{Issue: l.Where(), Repository: l.Issue.Repo, ID: id})
			}
		}
		if cursor = next; cursor == "" {
			return nil
		}
	}
}
