// Package archive writes out the store's content: a backup of all, or rows for people.
//
// Its entry point is [New].
package archive

import (
	"context"
	"fmt"
	"io"

	"planbridge/bridge/clock"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/store"
	"planbridge/store/backup"
)

// Settings has the present settings.
type Settings interface {
	Settings() *reconcile.Settings
}

// Options configure an Archive. Store, Settings and Clock are required.
type Options struct {
	Store    store.Store
	Settings Settings
	// StoreKind names the kind of the store in backups.
	StoreKind string
	Clock     clock.Clock
}

// Archive writes out a store. It is safe for concurrent use.
type Archive struct{ o Options }

// New makes an Archive.
func New(o Options) *Archive { return &Archive{o} }

func (a *Archive) set() *reconcile.Settings { return a.o.Settings.Settings() }

// keeps fails where the store is the throw-away one of a dry run.
func (a *Archive) keeps(what string) error {
	if a.set().DryRun {
		return fmt.Errorf("%s: the service that runs is a dry run, its store a throw-away one: %w", what, status.ErrState)
	}
	return nil
}

// Backup writes the store's content; the service goes on meanwhile.
func (a *Archive) Backup(ctx context.Context, w io.Writer, version string) error {
	if err := a.keeps("backup"); err != nil {
		return err
	}
	return backup.Write(ctx, w, a.o.Store, backup.Header{Program: version, Store: a.o.StoreKind, At: a.o.Clock.Now().UTC()})
}
