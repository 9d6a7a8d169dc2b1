package poll

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// docAdopted names the document, in the space of no project, that says for
// which epoch a repository's own issues were listed.
func docAdopted(repo string) string { return adoptedDocs + strings.ToLower(repo) }

// unreadable is added to the epoch where a repository could not be read.
const unreadable = " unreadable"

// adopt lets the project create things once GitHub's side has been looked
// through for this epoch of the store, as planning's has been when it is called
// (see the package comment).
func (p *Poller) adopt(ctx context.Context) error {
	left, err := p.unlooked(ctx)
	if err != nil {
		return err
	}
	if left != "" {
		p.o.Logger.Info("nothing is created yet: the repository has not been looked through", "repo", left)
		return nil
	}
	if !p.toldAll {
		if err := p.tellAgain(ctx); err != nil {
			return err
		}
	}
	if err := p.o.Store.PutDoc(ctx, p.o.Project, store.DocAdopted, []byte(p.epoch)); err != nil {
		return fmt.Errorf("store document %s: %w", store.DocAdopted, err)
	}
	p.o.Logger.Info("adopted: everything marked has been seen")
	p.left.tell(ctx, p.o.Logger)
	return nil
}

// unlooked is a repository of the project's routes that has not been looked through for
// this epoch; "": all have been.
func (p *Poller) unlooked(ctx context.Context) (repo string, err error) {
	for _, route := range p.o.Routes().All() {
		if route.Project != p.o.Project || !route.Exact() {
			continue
		}
		doc, err := p.doc(ctx, "", docAdopted(route.Repository))
		if err != nil || !strings.HasPrefix(string(doc), p.epoch) {
			return route.Repository, err
		}
	}
	return "", nil
}

// tellAgain has the next round observe every card that this one showed, changed or not.
// The links that GitHub's markers restored came after the sights of their cards, which
// the store dropped: no link was there to take them. Only a listing tells a card's bucket.
func (p *Poller) tellAgain(ctx context.Context) error {
	var shown []mapping.ObjectID
	for id, k := range p.cards.items {
		if k.round == p.rounds {
			shown = append(shown, id)
		}
	}
	slices.Sort(shown)
	for ids := range slices.Chunk(shown, batchSize) {
		marks := map[string]string{}
		for _, id := range ids {
			k := *p.cards.items[id]
			k.digest = ""
			marks[string(id)] = k.mark()
		}
		if err := p.o.Store.PutMarks(ctx, p.o.Project, p.cards.set, marks); err != nil {
			return fmt.Errorf("mark %d cards to be told again: %w", len(marks), err)
		}
		for _, id := range ids {
			k := p.cards.items[id]
			k.digest = ""
			p.cards.forgetText(k)
		}
	}
	return nil
}
