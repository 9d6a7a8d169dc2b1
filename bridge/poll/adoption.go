package poll

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"planbridge/bridge/factlog"
	"planbridge/mapping"
	"planbridge/store"
)

// factUnlisted is that GitHub's side has not been looked through.
const factUnlisted = "nothing is created yet"

// adopt lets the project create things once GitHub's side has been looked
// through for this epoch of the store, as planning's has been when it is called
// (see the package comment).
func (p *Poller) adopt(ctx context.Context) error {
	unlisted, err := p.unlistedRepository(ctx)
	if err != nil {
		return err
	}
	if unlisted != "" {
		p.o.Logger.Info("nothing is created yet: a repository has not been looked through", "repository", unlisted, factlog.Fact, factUnlisted)
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

// Adopt completes the adoption of the project once GitHub's side has been
// looked through as well, without waiting for the next round. Before a complete
// round, and while one is under way (which then sees to it), it does nothing.
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

// unlistedRepository is a repository of the project's routes whose own issues were not
// listed for this epoch; "": all were.
func (p *Poller) unlistedRepository(ctx context.Context) (repo string, err error) {
	for _, route := range p.o.Settings.Routes().In(p.o.Project) {
		needed := route.Named()
		if route.MakesIssues() && !slices.Contains(needed, route.NewCardsIn) {
			needed = append(needed, route.NewCardsIn)
		}
		for _, name := range needed {
			doc, err := store.ReadDoc(ctx, p.o.Store, "", store.DocRepositoryAdopted(name))
			if err != nil || !strings.HasPrefix(string(doc), p.epoch) {
				return name, err
			}
		}
	}
	return "", nil
}

// observeAgain has the next round observe every card that this one showed, changed or not.
// The links that GitHub's markers restored came after the sights of their cards, which
// the store dropped: no link was there to take them. Only a listing tells a card's bucket.
func (p *Poller) observeAgain(ctx context.Context) error {
	p.backlog.tag = ""
	r := p.newRound(p.clock.Now())
	for id, k := range mapping.Sorted(p.cards.items) {
		if k.round != p.rounds || k.held {
			continue
		}
		again := *k
		again.digest, again.raw = "", 0
		if err := r.add(ctx, item{cache: p.cards, id: id, entry: again}); err != nil {
			return err
		}
	}
	return r.flush(ctx)
}

// namedCards is how many cards that were taken for old are named at most.
const namedCards = 20

// adoptionReport counts the cards without a marker that were in a route's bucket when its
// project was adopted: they count as old, whenever they were made, and have no
// issue until they are imported.
type adoptionReport struct {
	routes map[string]oldCards
	lost   bool // a card with a marker was there: the store is not the project's first
}

type oldCards struct {
	count int
	named []int64 // their numbers as people see them; the first few
}

// add notes a card, once it is known to be remembered.
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

// log says, once, what was left alone: as a warning where a card may have been made
// just before the store was lost, which nothing tells from an old one.
func (l *adoptionReport) log(ctx context.Context, logger *slog.Logger) {
	level, text := slog.LevelInfo, "cards that were there before the first run are left alone: import takes them"
	if l.lost {
		level, text = slog.LevelWarn, "the store was lost: cards without a marker are taken for old ones; import takes them"
	}
	for route, c := range l.routes {
		args := []any{"route", route, "cards", c.count}
		if c.count <= namedCards {
			slices.Sort(c.named)
			args = append(args, "cids", c.named)
		}
		logger.Log(ctx, level, text, args...)
	}
	*l = adoptionReport{}
}
