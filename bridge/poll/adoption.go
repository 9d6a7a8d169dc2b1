package poll

import (
	"context"
	"fmt"
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
			was, err := store.ReadRepositoryAdopted(ctx, p.o.Store, name)
			if err != nil || !was.For(p.epoch, p.o.Project) {
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

// Exists says that planning answered with a card. It may be called at any time and does not
// wait for a round.
func (p *Poller) Exists(card mapping.ObjectID) {
	t := &p.confirmed
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cards == nil {
		t.cards = map[mapping.ObjectID]struct{}{}
	}
	t.cards[card] = struct{}{}
}

// provesAbsence reports whether a complete round does. It showed every card that this process saw
// before, or the timeout for the others has passed. A process that saw nothing before compares two
// rounds.
func (r *round) provesAbsence() bool {
	w := &r.listing
	r.confirmed.each(w.add)
	lacking, compared := 0, w.rounds > 0 || len(w.cards) > 0
	for id := range w.cards {
		if k := r.cards.Items[id]; k == nil || k.Round != r.rounds {
			lacking++
		}
	}
	w.rounds++
	for id, k := range r.cards.Items {
		if k.Round == r.rounds {
			w.add(id)
		}
	}
	switch {
	case lacking == 0:
		return compared
	case w.since.IsZero():
		w.since = r.began
		r.o.Logger.Warn("nothing is created yet: cards that were there before are missing from the listings",
			"missing", lacking, "of", len(w.cards), "for_at_most", incompleteListingTimeout.String())
	case r.began.Sub(w.since) >= incompleteListingTimeout:
		r.o.Logger.Warn("cards that were there before are taken to be gone", "missing", lacking, "of", len(w.cards))
		r.confirmed.clear()
		return true
	}
	return false
}
