package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/bridge/inventory"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Operators join and part pairs by hand. A pair that was parted stays in the
// store, dormant, so that neither its issue nor its card enters again.

const (
	// holdFor is how long a link's key is held for an operator's change.
	holdFor = 10 * time.Second
	// holdWithin is how long a key that is being worked is waited for.
	holdWithin = 10 * time.Second
	// holdPause lies between two attempts to hold a key.
	holdPause = 20 * time.Millisecond
)

// hold claims a link's key for an operator. While the key is worked, hold waits a little.
func (o *Operator) hold(ctx context.Context, key store.Key) (*store.Claim, error) {
	patience := o.now().Add(holdWithin)
	for {
		claim, err := o.store.ClaimKey(ctx, key, holdFor)
		if !errors.Is(err, store.ErrConflict) {
			return claim, err
		}
		if o.now().After(patience) {
			return nil, fmt.Errorf("its link is being worked, try again: %w", status.ErrState)
		}
		if err := inventory.Wait(ctx, holdPause); err != nil {
			return nil, err
		}
	}
}

// giveUp ends an operator's claim of a link that stays as it was, for err.
func (o *Operator) giveUp(ctx context.Context, claim *store.Claim, err error) error {
	return errors.Join(err, o.store.Finish(ctx, claim, nil, nil, store.Outcome{Kind: store.Again}))
}

// partedWhyOf is what a parted link says of itself.
func partedWhyOf(l *mapping.Link) string {
	if l.State == mapping.Erased {
		return mapping.ErasedWhy
	}
	return mapping.PartedWhy
}

// Unlink parts the pair of a link, by one of the names that Find takes: nothing
// is synchronised until it is linked again, and neither item enters anew.
func (o *Operator) Unlink(ctx context.Context, name string) error {
	l, err := o.Find(ctx, name)
	if err != nil {
		return err
	}
	claim, err := o.hold(ctx, store.Key{Project: l.Project, Link: l.ID})
	if err != nil {
		return fmt.Errorf("unlink %s: %w", name, err)
	}
	l = claim.Link
	if err := l.Advance(mapping.EventUnlinked); err != nil {
		return o.giveUp(ctx, claim, fmt.Errorf("unlink %s: %w", name, err))
	}
	l.Parted, l.Cleaning, l.Why = true, false, partedWhyOf(l)
	l.Stay()
	entry := o.byActor(ctx, "unlinked", "")
	if err := o.store.Finish(ctx, claim, l, []mapping.Entry{entry}, store.Outcome{Kind: store.Done}); err != nil {
		return fmt.Errorf("unlink %s: %w", name, err)
	}
	return nil
}
