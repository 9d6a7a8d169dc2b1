package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"time"

	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/store"
	"planbridge/store/backup"
)

// Backup writes what the store holds; the service goes on meanwhile.
func (o *Operator) Backup(ctx context.Context, w io.Writer, version string) error {
	set := o.set()
	if set.DryRun {
		return fmt.Errorf("backup: the service that runs is a dry run, its store a throw-away one: %w", status.ErrState)
	}
	return backup.Write(ctx, w, o.store, backup.Header{Program: version, Store: StoreKind(set.config), At: time.Now().UTC()})
}

// StoreKind names the kind of store that a configuration asks for: file or redis.
func StoreKind(c *config.Config) string {
	if _, ok := c.Store.File(); ok {
		return "file"
	}
	return "redis"
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
