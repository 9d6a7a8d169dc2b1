package poll

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"planbridge/bridge/factlog"
	"planbridge/mapping"
	"planbridge/store"
)

// factUnlisted names the fact that a repository has not been listed for this epoch.
const factUnlisted = "nothing is created yet"

// adopt allows creates in the project, once GitHub's side has been listed for this epoch of the
// store. Planning's side has been listed by then (see the package comment).
func (p *Poller) adopt(ctx context.Context) error {
	unlisted, err := p.unlistedRepository(ctx)
	if err != nil {
		return err
	}
	if unlisted != "" {
		p.o.Logger.Info("nothing is created yet: a repository has not been looked through", "repo", unlisted, factlog.Fact, factUnlisted)
		return nil
	}
	if !p.observedAll {
		if err := p.observeAgain(ctx); err != nil {
			return err
		}
	}
	if err := store.WriteDoc(ctx, p.o.Store, p.o.Project, store.DocAdopted, []byte(p.epoch)); err != nil {
		return err
	}
	p.o.Logger.Info("all repositories have been looked through", factlog.Over, factUnlisted)
	p.o.Logger.Info("adopted: everything marked has been seen")
	p.report.log(ctx, p.o.Logger)
	return nil
}

// Adopt completes the adoption of the project once GitHub's side has been listed, without
// waiting for the next round. Before a complete round, and during one (which completes the
// adoption itself), it does nothing.
func (p *Poller) Adopt(ctx context.Context) error {
	if !p.atWork.Try() {
		return nil
	}
	defer p.atWork.End()
	if !p.readAll {
		return nil
	}
	adopted, err := p.load(ctx)
	if err == nil && !adopted && p.readAll {
		err = p.adopt(ctx)
	}
	if err != nil {
		return fmt.Errorf("adopt project %s: %w", p.o.Name, err)
	}
	return nil
}

// unlistedRepository is a repository of the project's routes whose own issues have not been
// listed for this epoch; "": all have.
func (p *Poller) unlistedRepository(ctx context.Context) (repo string, err error) {
	for _, route := range p.o.Settings.Routes().In(p.o.Project) {
		needed := route.Named()
		if route.MakesIssues() && !slices.Contains(needed, route.NewCardsIn) {
			needed = append(needed, route.NewCardsIn)
		}
		for _, name := range needed {
			doc, err := store.ReadDoc(ctx, p.o.Store, "", store.DocRepositoryAdopted(name))
			if err != nil || !store.ParseRepositoryAdopted(doc).For(p.epoch, p.o.Project) {
				return name, err
			}
		}
	}
	return "", nil
}

// observeAgain makes the next round observe every card of this one, changed or not. The store
// dropped the earlier observations of cards whose links GitHub's markers have only now
// restored. Only a listing has a card's bucket.
func (p *Poller) observeAgain(ctx context.Context) error {
	p.backlog.tag = ""
	r := p.newRound(p.clock.Now())
	for id, k := range mapping.Sorted(p.cards.Items) {
		if k.Round != p.rounds || k.Held {
			continue
		}
		again := *k
		again.Digest, again.Text = "", 0
		if err := r.add(ctx, item{cache: p.cards, id: id, entry: again}); err != nil {
			return err
		}
	}
	return r.flush(ctx)
}

// namedCards bounds how many old cards are named.
const namedCards = 20

// adoptionReport counts the cards without a marker that were in a route's bucket when the
// project was adopted. They count as old, whenever they were made, and get no issue before an
// import.
type adoptionReport struct {
	routes map[string]oldCards
	lost   bool // a card with a marker was there: the store is not the project's first
}

type oldCards struct {
	count int
	named []int64 // their numbers as people see them; the first few
}

// add counts a card that has been stored.
func (l *adoptionReport) add(route string, cid int64) {
	if l.routes == nil {
		l.routes = map[string]oldCards{}
	}
	c := l.routes[route]
	if c.count++; c.count <= namedCards {
		c.named = append(c.named, cid)
	}
	l.routes[route] = c
}

// log reports once how many cards are left alone. It warns where a card may have been made just
// before the store was lost, as nothing distinguishes it from an old one.
func (l *adoptionReport) log(ctx context.Context, logger *slog.Logger) {
	level, text := slog.LevelInfo, "cards that were there before the first run are left alone: import takes them"
	if l.lost {
		level, text = slog.LevelWarn, "the store was lost: cards without a marker are taken for old ones; import takes them"
	}
	for route, c := range l.routes {
		told := logger.With("route", route, "cards", c.count)
		if c.count <= namedCards {
			slices.Sort(c.named)
			told = logger.With("route", route, "cards", c.count, "cids", c.named)
		}
		told.Log(ctx, level, text)
	}
	*l = adoptionReport{}
}
