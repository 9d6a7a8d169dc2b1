package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"planbridge/bridge/epoch"
	"planbridge/bridge/open"
	"planbridge/config"
	"planbridge/store"
	"planbridge/store/backup"
)

type copyStoreCmd struct {
	output
	From string `arg:"" help:"The store to copy: file:PATH, redis://… or env:NAME."`
	To   string `arg:"" help:"The store to copy to, which has to be empty: file:PATH, redis://… or env:NAME."`
}

// Help is what planbridge copy-store --help adds.
func (c *copyStoreCmd) Help() string {
	return `All that a backup has goes from one store to another one, of either kind. No service may run on either. In Redis the keys have the
configuration's store.prefix. The copy has a fresh epoch. Once it is complete, no service works on the old store any more: serve says where it
was copied to. Afterwards store.url has to name the copy. A copy that did not end can be run again. Where the old store cannot be marked at
the end, the command says so: both stores could be served then, and only one may be.`
}

// copied is the output of the command.
type copied struct {
	From string `json:"from"`
	To   string `json:"to"`
	backup.Summary
}

// Run implements the command.
func (c *copyStoreCmd) Run(ctx context.Context, p *process) error {
	cfg, err := config.LoadClient(p.config, p.env)
	if err != nil {
		return misuse{err}
	}
	from, to := *cfg, *cfg
	for _, s := range []struct {
		store *config.Store
		url   string
	}{{&from.Store, c.From}, {&to.Store, c.To}} {
		s.store.URL = s.url
		if name, ok := strings.CutPrefix(s.url, "env:"); ok { // a URL may hold a password
			if s.store.URL, ok = p.env(name); !ok {
				return misuse{fmt.Errorf("copy-store: environment variable %s is not set", name)}
			}
		}
		if err := s.store.Check(); err != nil {
			return misuse{fmt.Errorf("copy-store: %w", err)}
		}
	}
	if sameStore(&from.Store, &to.Store) {
		return errSameStore
	}
	got := copied{From: from.Store.Redacted(), To: to.Store.Redacted()}
	if err = nobodyServes(ctx, cfg); err == nil {
		got.Summary, err = copyStore(ctx, p, &from, &to)
	}
	if err != nil {
		return fmt.Errorf("copy %s to %s: %w", got.From, got.To, err)
	}
	err = c.print(p, got, func() error {
		_, err := fmt.Fprintf(p.stdout, "%s holds what %s held: %s\nno service works on %s any more: point store.url at the copy\n", got.To, got.From, holding(got.Counts), got.From)
		return err
	})
	if err != nil || got.Spoilt == 0 {
		return err
	}
	return tellLost(p, &got.Summary)
}

var errSameStore = misuse{errors.New("copy-store: both are the same store, expected two")}

// sameStore reports whether two configurations name one store, by whatever path of its file.
func sameStore(a, b *config.Store) bool {
	pathA, fileA := a.File()
	pathB, fileB := b.File()
	if !fileA || !fileB {
		return *a == *b
	}
	infoA, errA := os.Stat(pathA)
	infoB, errB := os.Stat(pathB)
	return pathA == pathB || errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// copyStore copies a store by way of a backup, and retires it.
func copyStore(ctx context.Context, p *process, from, to *config.Config) (s backup.Summary, err error) {
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if path, ok := from.Store.File(); ok {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return s, fmt.Errorf("open store %s: %w", path, err)
		}
	}
	old, err := open.Store(ctx, from, log)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	switch same, err := open.IsStore(ctx, to, old, log); {
	case err != nil:
		return s, err
	case same:
		return s, errSameStore
	}
	if err := errors.Join(epoch.Check(ctx, old), unused(ctx, old)); err != nil {
		return s, err
	}
	f, err := unnamedFile()
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = backup.Write(ctx, f, old, backup.Header{Program: programVersion(), Store: from.Store.Kind(), At: time.Now().UTC()})
	if err != nil {
		return s, err
	}
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		s, err = backup.Check(f)
	}
	if err != nil {
		return s, err
	}
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		err = load(ctx, to, log, backup.Entries(f), false)
	}
	if err != nil {
		return s, err
	}
	return s, retire(ctx, old, from.Store.Redacted(), to.Store.Redacted())
}

// unnamedFile opens a temporary file for its owner alone. It has no name any more, so that it is gone
// with the process, whatever ends that.
func unnamedFile() (*os.File, error) {
	f, err := os.CreateTemp("", "planbridge-copy-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// retireTimeout bounds the wait for the old store at the end. An interrupt does not end it, as the
// copy is complete by then.
const retireTimeout = 10 * time.Second

// retire marks the old store, unless a service has begun to work on it.
func retire(ctx context.Context, old store.Store, from, to string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), retireTimeout)
	defer cancel()
	err := unused(ctx, old)
	if err == nil {
		err = epoch.Retire(ctx, old, to, time.Now())
	}
	if err != nil {
		return fmt.Errorf("%s holds a complete copy, but %s could not be marked: serve from one of them only; empty %s to copy again: %w", to, from, to, err)
	}
	return nil
}

// unused fails where others use the store, as far as that can be known. A file that
// another process uses is not even opened.
func unused(ctx context.Context, s store.Store) error {
	shared, ok := s.(interface{ Unused(context.Context) error })
	if !ok {
		return nil
	}
	return shared.Unused(ctx)
}
