package bridge

import (
	"context"
	"strings"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// notifyingStore is the store for the parts that take in changes. The App hears at once of keys
// that become due, of adopted projects, and of this process's leases.
type notifyingStore struct {
	store.Store
	app *App
}

func (a *App) observed() *notifyingStore { return &notifyingStore{a.store, a} }

// Observe stores an observation, and has its key worked at once. It refuses everything before the
// store's epoch is known.
func (k *notifyingStore) Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	if k.app.Epoch() == "" {
		return nil, errUnreached
	}
	out, err := k.Store.Observe(ctx, project, obs)
	if err == nil {
		k.app.engine.Due(project)
	}
	return out, err
}

// Epoch returns the epoch that the tracker reads.
func (k *notifyingStore) Epoch(ctx context.Context) (string, error) {
	return k.app.epochTracker.Read(ctx)
}

// PutDoc also wakes the keys that wait for the document of an adopted project or a listed repository.
func (k *notifyingStore) PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error {
	err := k.Store.PutDoc(ctx, project, name, data)
	if err != nil {
		return err
	}
	if name == store.DocAdopted {
		k.app.requeue.Wake(ctx, project, reconcile.ServiceAdoption)
	}
	if repo, is := strings.CutPrefix(name, store.DocsRepositoryAdopted); is {
		k.app.requeue.WakeListing(ctx, repo)
	}
	return nil
}

// Acquire also lets the monitor know which leases this process has.
func (k *notifyingStore) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	return k.app.monitor.Acquire(ctx, k.Store, name, owner, ttl)
}
