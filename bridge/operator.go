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

// Operator returns the operator's interface to the running App.
func (a *App) Operator() *operator.Operator {
	return operator.New(operator.Options{
		Store: a.store, Settings: a.set, Services: liveServices{a}, Process: operatorHost{a}, Worker: a.o.Owner,
		StoreKind: a.o.Config.Store.Kind(), Guard: a.guard, Questions: a.questions, Clock: a.o.Clock,
	})
}

// operatorHost is the App as an operator knows it.
type operatorHost struct{ app *App }

func (h operatorHost) Kick() { h.app.engine.Kick() }

func (h operatorHost) NotePaused(route string, paused bool) { h.app.pauses.Note(route, paused) }

func (h operatorHost) FirstRun(route string) time.Time { return h.app.firstRuns.At(route) }

func (h operatorHost) Works(key store.Key) bool { return h.app.engine.Works(key) }

// Recognise asks GitHub about a name, unless another repository is known to have it. Another
// repository is an answer too, and no error.
func (h operatorHost) Recognise(ctx context.Context, repo string) error {
	if known, err := identity.Read(ctx, h.app.store, identity.DocRepository(repo)); err != nil || known.ID == 0 || known.Other != 0 {
		return err
	}
	_, err := h.app.github.Registry.Locate(ctx, repo, 0, h.app.o.Clock.Now())
	if mapping.Refused(err) {
		return nil
	}
	return err
}

// Accepted takes over what an operator has accepted.
func (h operatorHost) Accepted(ctx context.Context, repo string) error {
	h.app.github.People.Forget()
	if repo == "" {
		return nil
	}
	h.app.github.Registry.Forget(repo)
	return h.app.renames.Learn(ctx)
}

// liveServices are the services that the App calls.
type liveServices struct{ app *App }

// Ready waits until the store and the bridge's own account are known, as every change needs both.
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
