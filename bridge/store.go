package bridge

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"planbridge/config"
	"planbridge/store"
	"planbridge/store/boltstore"
	"planbridge/store/redisstore"
)

// queueLimit bounds the keys in one project's queue; beyond it the intake
// answers 503 for keys that are not queued already.
const queueLimit = 200_000

// OpenStore opens the store that a configuration names.
func OpenStore(ctx context.Context, c *config.Config, log *slog.Logger) (store.Store, error) {
	return openStore(ctx, c, log, false)
}

// openStore opens also a store in which a restore did not end, where unfinished says so.
func openStore(ctx context.Context, c *config.Config, log *slog.Logger, unfinished bool) (store.Store, error) {
	if path, ok := c.Store.File(); ok {
		return boltstore.Open(path, boltstore.Options{Logger: log, QueueLimit: queueLimit})
	}
	return redisstore.Open(ctx, redisstore.Options{URL: c.Store.URL, Prefix: c.Store.Prefix, QueueLimit: queueLimit, Logger: log, Unfinished: unfinished})
}

// scratchStore is what a dry run remembers in: it must leave no trace in the
// real store, where what it saw would count as dealt with. It knows the links
// by their markers.
func (a *App) scratchStore() error {
	dir, err := os.MkdirTemp("", "planbridge-dry-run-")
	if err != nil {
		return fmt.Errorf("store of a dry run: %w", err)
	}
	a.life.onStop = append(a.life.onStop, func() error { return os.RemoveAll(dir) })
	s, err := boltstore.Open(filepath.Join(dir, "planbridge.db"), boltstore.Options{Logger: a.log, QueueLimit: queueLimit})
	if err != nil {
		return err
	}
	a.store = s
	a.life.onStop = append(a.life.onStop, s.Close)
	return nil
}

func (a *App) buildStore(c *config.Config) error {
	if a.o.DryRun {
		return a.scratchStore()
	}
	if a.o.Store != nil {
		a.store = a.o.Store
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s, err := OpenStore(ctx, c, a.log)
	if err != nil {
		return err
	}
	a.store = s
	a.life.onStop = append(a.life.onStop, s.Close)
	return nil
}

// StoreKind names the kind of store that a configuration asks for: file or redis.
func StoreKind(c *config.Config) string {
	if _, ok := c.Store.File(); ok {
		return "file"
	}
	return "redis"
}

// NamesStore reports whether a configuration names the Redis that is open, however it spells its
// address. It is false of files, which their paths tell.
func NamesStore(ctx context.Context, c *config.Config, open store.Store, log *slog.Logger) (same bool, err error) {
	served, ok := open.(*redisstore.Store)
	if _, file := c.Store.File(); file || !ok {
		return false, nil
	}
	s, err := openStore(ctx, c, log, true)
	if err != nil {
		return false, err
	}
	if other, ok := s.(*redisstore.Store); ok {
		same, err = served.IsSame(ctx, other)
	}
	return same, errors.Join(err, s.Close())
}

// unfinishedWait bounds the question whether a restore left its store in part.
const unfinishedWait = 5 * time.Second

// Restore puts entries in the place of what the configured store holds; replace: even
// where it holds anything. Errors are those of [store.Dumps].Load.
func Restore(ctx context.Context, c *config.Config, log *slog.Logger, entries iter.Seq2[store.Entry, error], replace bool) error {
	s, err := openStore(ctx, c, log, true)
	if err != nil {
		return err
	}
	if err = s.Load(ctx, entries, replace); err != nil {
		asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), unfinishedWait)
		defer cancel()
		if _, now := s.Epoch(asked); errors.Is(now, store.ErrUnfinished) {
			err = fmt.Errorf("%w; no program serves the store now: %w", err, store.ErrUnfinished)
		}
	}
	return errors.Join(err, s.Close())
}
