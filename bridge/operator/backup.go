package operator

import (
	"context"
	"fmt"
	"io"

	"planbridge/bridge/status"
	"planbridge/store/backup"
)

// Backup writes what the store holds; the service goes on meanwhile.
func (o *Operator) Backup(ctx context.Context, w io.Writer, version string) error {
	if o.set().DryRun {
		return fmt.Errorf("backup: the service that runs is a dry run, its store a throw-away one: %w", status.ErrState)
	}
	return backup.Write(ctx, w, o.store, backup.Header{Program: version, Store: o.storeKind, At: o.now().UTC()})
}
