package operator

import (
	"context"
	"fmt"
	"io"

	"planbridge/bridge/status"
	"planbridge/store/backup"
)

// keeps fails where the store is the throw-away one of a dry run.
func (o *Operator) keeps(what string) error {
	if o.set().DryRun {
		return fmt.Errorf("%s: the service that runs is a dry run, its store a throw-away one: %w", what, status.ErrState)
	}
	return nil
}

// Backup writes what the store holds; the service goes on meanwhile.
func (o *Operator) Backup(ctx context.Context, w io.Writer, version string) error {
	if err := o.keeps("backup"); err != nil {
		return err
	}
	return backup.Write(ctx, w, o.store, backup.Header{Program: version, Store: o.storeKind, At: o.now().UTC()})
}
