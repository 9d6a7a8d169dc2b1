package links

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/inventory"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

const (
	// holdFor is how long a link's key is held for an operator's change.
	holdFor = 10 * time.Second
	// holdWithin bounds the wait for a key that is being worked.
	holdWithin = 10 * time.Second
	// holdPause lies between two attempts to hold a key.
	holdPause = 20 * time.Millisecond
)

// Holder holds links for operators' changes. All fields are required. It is safe for concurrent
// use.
type Holder struct {
	Store store.Store
	Clock clock.Clock
}

// Hold claims a link's key for an operator. While the key is worked, Hold waits a little.
func (h Holder) Hold(ctx context.Context, key store.Key) (*store.Claim, error) {
	patience := h.Clock.Now().Add(holdWithin)
	for {
		claim, err := h.Store.ClaimKey(ctx, key, holdFor)
		if !errors.Is(err, store.ErrConflict) {
			return claim, err
		}
		if h.Clock.Now().After(patience) {
			return nil, fmt.Errorf("its link is being worked, try again: %w", status.ErrState)
		}
		if err := inventory.Wait(ctx, holdPause); err != nil {
			return nil, err
		}
	}
}

// GiveUp ends an operator's claim of an unchanged link, with err as the reason.
func (h Holder) GiveUp(ctx context.Context, claim *store.Claim, err error) error {
	return errors.Join(err, h.Store.Finish(ctx, claim, nil, nil, store.Outcome{Kind: store.Again}))
}

// Entry is the history's entry of a person's request.
func (h Holder) Entry(ctx context.Context, what string, attribute mapping.Attribute) mapping.Entry {
	return mapping.Entry{At: h.Clock.Now().UTC(), Attribute: attribute, What: what, Why: "by " + status.Actor(ctx)}
}
