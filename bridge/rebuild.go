package bridge

import (
	"context"
	"fmt"

	"planbridge/mapping"
)

// docRebuild names the document whose text is part of the epoch, so that a new
// text makes a new one.
const docRebuild = "rebuild"

// Rebuild makes every replica look again at everything that is marked on both
// sides, and restore the links that are missing, as after a loss of the store.
// The service goes on meanwhile; only creating waits until all is seen.
func (o *Operator) Rebuild(ctx context.Context) error {
	if err := o.store.PutDoc(ctx, "", docRebuild, []byte(mapping.NewID())); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return nil
}
