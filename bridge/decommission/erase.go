package decommission

import (
	"context"
	"fmt"
	"strings"

	"planbridge/bridge/links"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// ledgerPage is how many entries of the conflict ledger are read at a time.
const ledgerPage = 500

// EraserOptions configure an Eraser. All fields are required.
type EraserOptions struct {
	Store  store.Store
	Finder *links.Finder
	Holder links.Holder
}

// Eraser removes texts from the store. It is safe for concurrent use.
type Eraser struct{ o EraserOptions }

// NewEraser makes an Eraser.
func NewEraser(o EraserOptions) *Eraser { return &Eraser{o} }

// Erase implements [status.Operator]: it removes the texts of links from the records, their
// histories, snapshots and events, and from the conflict ledger. It reports what it could not
// remove; a repetition goes on from there.
func (e *Eraser) Erase(ctx context.Context, ask status.EraseAsk) (status.Erased, error) {
	links, kept, err := e.toErase(ctx, ask)
	if err != nil {
		return status.Erased{}, err
	}
	got := status.Erased{Links: []status.Link{}, Kept: kept, Comments: []status.ErasedComment{}}
	for _, l := range links {
		erased, err := e.eraseLink(ctx, l)
		if err != nil {
			return got, fmt.Errorf("erase %s: %w", l.Where(), err)
		}
		got.Links = append(got.Links, status.LinkOf(erased))
	}
	for _, l := range links {
		if err := e.eraseConflicts(ctx, l, &got); err != nil {
			return got, fmt.Errorf("erase the conflicts of %s: %w", l.Where(), err)
		}
	}
	if err := e.o.Store.Scrub(ctx); err != nil {
		got.Warning = fmt.Sprintf("the texts are removed, but may stand on the store's disk until it uses their place again: %v", err)
	}
	return got, nil
}

// toErase finds the links of a request, in all projects of the store. It also finds links with a
// part by that author in another author's family.
func (e *Eraser) toErase(ctx context.Context, ask status.EraseAsk) (links []*mapping.Link, kept []string, err error) {
	if (ask.Item == "") == (ask.Author == "") {
		return nil, nil, status.BadAsk("erase: expected an item or an author")
	}
	meant := func(l *mapping.Link) bool { return strings.EqualFold(l.Issue.Author, ask.Author) }
	if ask.Item != "" {
		item, err := e.o.Finder.FindAnywhere(ctx, ask.Item)
		if err != nil {
			return nil, nil, err
		}
		meant = func(l *mapping.Link) bool {
			return l.ID == item.ID || l.Issue.ID != 0 && l.Issue.ID == item.Issue.ID
		}
	}
	projects, err := e.o.Finder.Everywhere(ctx)
	if err != nil {
		return nil, nil, err
	}
	err = e.o.Finder.Walk(ctx, projects, func(l *mapping.Link) error {
		if meant(l) {
			all, err := e.withFormer(ctx, l)
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

// withFormer returns a link, and the links by which its issue had cards in other projects.
func (e *Eraser) withFormer(ctx context.Context, l *mapping.Link) ([]*mapping.Link, error) {
	links := []*mapping.Link{l}
	for l.Before != nil {
		key, known, err := store.FindIn(ctx, e.o.Store, []mapping.ObjectID{l.Before.Project}, mapping.CardRef(l.Before.Card))
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
		if l, err = e.o.Store.Link(ctx, key); err != nil {
			return nil, err
		}
		l.Issue = links[0].Issue // its conflicts name comments of this issue
		links = append(links, l)
	}
	return links, nil
}

// eraseLink erases one link, with everything that belongs to it.
func (e *Eraser) eraseLink(ctx context.Context, l *mapping.Link) (*mapping.Link, error) {
	claim, err := e.o.Holder.Hold(ctx, store.Key{Project: l.Project, Link: l.ID})
	if err != nil {
		return nil, err
	}
	if err := claim.Link.Erase(); err != nil {
		return nil, e.o.Holder.GiveUp(ctx, claim, err)
	}
	entry := e.o.Holder.Entry(ctx, "erased", "")
	return claim.Link, e.o.Store.Finish(ctx, claim, claim.Link, []mapping.Entry{entry}, store.Outcome{Kind: store.Erase})
}

// eraseConflicts erases the ledger entries of a link, and those of its issue from before a
// loss of the store.
func (e *Eraser) eraseConflicts(ctx context.Context, l *mapping.Link, got *status.Erased) error {
	for cursor := ""; ; {
		page, next, err := e.o.Store.Conflicts(ctx, l.Project, cursor, ledgerPage)
		if err != nil {
			return err
		}
		for i := range page {
			c := &page[i]
			if c.Link != l.ID && !strings.EqualFold(c.Where, l.Where()) {
				continue
			}
			c.Erase()
			if err := e.o.Store.PutConflict(ctx, *c); err != nil {
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
