package bridge

import (
	"context"
	"fmt"
	"time"

	"planbridge/bridge/explain"
	"planbridge/bridge/identity"
	"planbridge/bridge/operator"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Operator returns the operator's door to the running App.
func (a *App) Operator() *operator.Operator {
	return operator.New(operator.Options{
		Store: a.store, Settings: a.set, Services: liveServices{a}, Process: process{a}, Worker: a.o.Owner,
		StoreKind: a.o.Config.Store.Kind(), Guard: a.guard, Questions: a.questions, Now: a.o.Now,
	})
}

// process is the App as an operator knows it.
type process struct{ app *App }

func (p process) Kick() { p.app.engine.Kick() }

func (p process) NotePaused(route string, paused bool) { p.app.pauses.Note(route, paused) }

func (p process) FirstRun(route string) time.Time { return p.app.firstRuns.At(route) }

func (p process) Works(key store.Key) bool { return p.app.engine.Works(key) }

// Recognise asks GitHub about a name, unless another repository is known to have it. That one
// is an answer too, and no error.
func (p process) Recognise(ctx context.Context, repo string) error {
	if known, err := identity.Read(ctx, p.app.store, identity.DocRepository(repo)); err != nil || known.ID == 0 || known.Other != 0 {
		return err
	}
	_, err := p.app.github.Registry.Locate(ctx, repo, 0, p.app.o.Now())
	if mapping.Refused(err) {
		return nil
	}
	return err
}

// Accepted takes over what an operator has accepted.
func (p process) Accepted(ctx context.Context, repo string) error {
	p.app.github.People.Forget()
	if repo == "" {
		return nil
	}
	p.app.github.Registry.Forget(repo)
	return p.app.renames.Learn(ctx)
}

// liveServices are those that the App speaks to.
type liveServices struct{ app *App }

// Ready waits until what every change needs is known: the store and the bridge's own
// account.
func (s liveServices) Ready(ctx context.Context) error {
	if err := s.app.account.Ready(ctx); err != nil {
		return fmt.Errorf("waiting for GitHub: %w", err)
	}
	return nil
}

func (s liveServices) GitHub() (explain.GitHub, func(), error) { return s.app.github, func() {}, nil }

func (s liveServices) Planning(id mapping.ObjectID) (operator.Planning, func(), error) {
	p := s.app.projects.get(id)
	if p == nil {
		return nil, nil, status.ErrName
	}
	return p.side, func() {}, nil
}

func (s liveServices) Previewer() (operator.Previewer, func(), error) {
	return s.app.reconcile, func() {}, nil
}
