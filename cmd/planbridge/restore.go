package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"os"
	"time"

	"planbridge/bridge/open"
	"planbridge/config"
	"planbridge/store"
	"planbridge/store/backup"
)

type restoreCmd struct {
	output
	File   string `arg:"" help:"The backup."`
	Force  bool   `help:"Replace what the store holds."`
	DryRun bool   `help:"Check the file, and write nothing."`
}

// Help is what planbridge restore --help adds.
func (c *restoreCmd) Help() string {
	return `The whole file is checked before anything is written. The backup may come from the other kind of store. No service may run on the store
meanwhile. The first service that starts afterwards reads everything marked on both sides before it creates anything. What people wrote since the
backup crosses then; where both sides changed, the route's policy decides and the loser is kept. A restore that does not end leaves a Redis store that
no program serves until another restore has come to its end; a file store stays as it was.`
}

// restored is the output of the command.
type restored struct {
	File string `json:"file"`
	To   string `json:"to"` // file or redis; "": nowhere
	backup.Summary
}

// Run implements the command.
func (c *restoreCmd) Run(ctx context.Context, p *process) error {
	got := restored{File: c.File}
	if err := c.restore(ctx, p, &got); err != nil {
		return fmt.Errorf("restore %s: %w", c.File, err)
	}
	return c.print(p, got, func() error {
		from := fmt.Sprintf("of a %s store by planbridge %s, %s", got.Store, got.Program, moment(got.At))
		if got.To == "" {
			_, err := fmt.Fprintf(p.stdout, "the backup is whole: %s, %s\n", holding(got.Counts), from)
			return err
		}
		_, err := fmt.Fprintf(p.stdout, "the %s store holds the backup (%s) now: %s\n", got.To, from, holding(got.Counts))
		return err
	})
}

func (c *restoreCmd) restore(ctx context.Context, p *process, got *restored) error {
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	if got.Summary, err = backup.Check(f); err != nil || c.DryRun {
		return err
	}
	cfg, err := p.load()
	if err != nil {
		return err
	}
	if err := nobodyServes(ctx, cfg); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	got.To = cfg.Store.Kind()
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	err = load(ctx, cfg, log, backup.Entries(f), c.Force)
	if errors.Is(err, store.ErrNotEmpty) {
		err = fmt.Errorf("%w: --force replaces what it holds", err)
	}
	return err
}

// unfinishedWait bounds the question whether a restore left its store in part.
const unfinishedWait = 5 * time.Second

// load replaces the content of the configured store by entries; replace: even where it is not
// empty. Errors are those of [store.Dumps].Load.
func load(ctx context.Context, c *config.Config, log *slog.Logger, entries iter.Seq2[store.Entry, error], replace bool) error {
	s, err := open.UnfinishedStore(ctx, c, log)
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

// nobodyServes fails where a service answers on this configuration's admin listener.
func nobodyServes(ctx context.Context, c *config.Config) error {
	addr := newClient(c).addr()
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil // the store itself reports whether it is used
	}
	return errors.Join(fmt.Errorf("a service runs on %s, expected none: stop it first", addr), conn.Close())
}
