// Package pairing joins and parts pairs by hand.
//
// Its entry point is [New]. A pair that was parted stays in the store, dormant, so that neither its
// issue nor its card enters again.
package pairing

import (
	"context"
	"errors"
	"fmt"

	"planbridge/bridge/clock"
	"planbridge/bridge/links"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings has the present settings.
type Settings interface {
	Settings() *reconcile.Settings
}

// Services are the used parts of the two services.
type Services interface {
	// Ready waits until answers of the services may be stored.
	Ready(ctx context.Context) error
	Issue(ctx context.Context, repo string, number int) (mapping.Issue, error)
	// Card fails with [status.ErrName] where no configured project has the project's id.
	Card(ctx context.Context, project, id mapping.ObjectID) (mapping.Card, error)
}

// Queue is the queue of the service that runs.
type Queue interface {
	// Kick makes the workers check the queue now.
	Kick()
}

// Options configure a Pairing. All fields are required.
type Options struct {
	Store    store.Store
	Settings Settings
	Services Services
	Finder   *links.Finder
	Holder   links.Holder
	Queue    Queue
	Clock    clock.Clock
}

// Pairing joins and parts pairs. It is safe for concurrent use.
type Pairing struct{ o Options }

// New makes a Pairing.
func New(o Options) *Pairing { return &Pairing{o} }

func (p *Pairing) set() *reconcile.Settings { return p.o.Settings.Settings() }

// partedWhyOf is the reason of a parted link.
func partedWhyOf(l *mapping.Link) string {
	if l.State == mapping.Erased {
		return mapping.ErasedWhy
	}
	return mapping.PartedWhy
}

// Unlink parts the pair of a link, by one of the names that Find takes. Nothing is synchronised
// until it is linked again, and neither item enters anew.
func (p *Pairing) Unlink(ctx context.Context, name string) error {
	l, err := p.o.Finder.Find(ctx, name)
	if err != nil {
		return err
	}
	claim, err := p.o.Holder.Hold(ctx, store.Key{Project: l.Project, Link: l.ID})
	if err != nil {
		return fmt.Errorf("unlink %s: %w", name, err)
	}
	l = claim.Link
	if err := l.Advance(mapping.EventUnlinked); err != nil {
		return p.o.Holder.GiveUp(ctx, claim, fmt.Errorf("unlink %s: %w", name, err))
	}
	l.Parted, l.Cleaning, l.Why = true, false, partedWhyOf(l)
	l.Stay()
	if err := p.changeQuestions(ctx, l, func(c *mapping.Conflict) bool { return c.Part(p.o.Clock.Now().UTC()) }); err != nil {
		return p.o.Holder.GiveUp(ctx, claim, fmt.Errorf("unlink %s: %w", name, err))
	}
	entry, out := p.o.Holder.Entry(ctx, "unlinked", ""), store.Outcome{Kind: store.Done}
	if reconcile.MayOweText(l) {
		out.Kind = store.Again
	}
	if err := p.o.Store.Finish(ctx, claim, l, []mapping.Entry{entry}, out); err != nil {
		return fmt.Errorf("unlink %s: %w", name, err)
	}
	p.o.Queue.Kick()
	return nil
}

// changeQuestions changes the ledger's entries of the open questions about a link. A parted pair
// keeps the questions, which are asked again where it is linked again.
func (p *Pairing) changeQuestions(ctx context.Context, l *mapping.Link, change func(*mapping.Conflict) bool) error {
	for _, pair := range l.All() {
		for _, id := range pair.Questions() {
			c, err := p.o.Store.Conflict(ctx, l.Project, id)
			if err == nil && change(&c) {
				err = p.o.Store.PutConflict(ctx, c)
			}
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("question %s: %w", id, err)
			}
		}
	}
	return nil
}
