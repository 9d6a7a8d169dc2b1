package open

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"planbridge/config"
	"planbridge/store"
	"planbridge/store/boltstore"
	"planbridge/store/redisstore"
)

// queueLimit bounds the keys in one project's queue; beyond it the intake
// answers 503 for keys that are not queued already.
const queueLimit = 200_000

// Store opens the store that a configuration names.
func Store(ctx context.Context, c *config.Config, log *slog.Logger) (store.Store, error) {
	return openStore(ctx, c, log, false)
}

// UnfinishedStore opens the store for a restore, also where an earlier restore did not end or the
// file is damaged.
func UnfinishedStore(ctx context.Context, c *config.Config, log *slog.Logger) (store.Store, error) {
	return openStore(ctx, c, log, true)
}

func openStore(ctx context.Context, c *config.Config, log *slog.Logger, unfinished bool) (store.Store, error) {
	if path, ok := c.Store.File(); ok {
		return boltstore.Open(path, boltstore.Options{Logger: log, QueueLimit: queueLimit, Damaged: unfinished})
	}
	return redisstore.Open(ctx, redisstore.Options{URL: c.Store.URL, Prefix: c.Store.Prefix, QueueLimit: queueLimit, Logger: log, Unfinished: unfinished})
}

// ScratchStore opens the store of a dry run, and removes it when it is closed. A dry run must leave
// no trace in the real store, where its observations would count as handled. It finds the links by
// their markers.
func ScratchStore(log *slog.Logger) (s store.Store, closeStore func() error, err error) {
	dir, err := os.MkdirTemp("", "planbridge-dry-run-")
	if err != nil {
		return nil, nil, fmt.Errorf("store of a dry run: %w", err)
	}
	s, err = boltstore.Open(filepath.Join(dir, "planbridge.db"), boltstore.Options{Logger: log, QueueLimit: queueLimit})
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, func() error { return errors.Join(s.Close(), os.RemoveAll(dir)) }, nil
}

// IsStore reports whether a configuration names the open Redis, in any spelling of its address. It
// is false for files, whose paths decide.
func IsStore(ctx context.Context, c *config.Config, opened store.Store, log *slog.Logger) (same bool, err error) {
	served, ok := opened.(*redisstore.Store)
	if _, file := c.Store.File(); file || !ok {
		return false, nil
	}
	s, err := UnfinishedStore(ctx, c, log)
	if err != nil {
		return false, err
	}
	if other, ok := s.(*redisstore.Store); ok {
		same, err = served.IsSame(ctx, other)
	}
	return same, errors.Join(err, s.Close())
}
