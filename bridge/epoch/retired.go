package epoch

import (
	"context"
	"fmt"
	"time"

	"planbridge/store"
)

// ErrRetired: the store was copied, and the copy has replaced it.
var ErrRetired = store.ErrCopied

// docRetired names the document that says where a store was copied to.
const docRetired = "moved"

// retirement is the content of that document. It is valid for one epoch of the store: a copy has
// another epoch, and so has the store after a restore.
type retirement struct {
	Epoch string    `json:"epoch"`
	To    string    `json:"to"`
	At    time.Time `json:"at"`
}

// Retire ends all work on the store, as its copy takes over: Check then returns [ErrRetired]. The
// content stays and can be read.
func Retire(ctx context.Context, s interface {
	Source
	Documents
}, to string, at time.Time,
) error {
	epoch, err := s.Epoch(ctx)
	if err != nil {
		return fmt.Errorf("retire: %w", err)
	}
	return store.WriteJSON(ctx, s, "", docRetired, retirement{epoch, to, at.UTC()})
}

// Check returns [ErrRetired] for a retired store.
func Check(ctx context.Context, s Source) error {
	epoch, err := s.Epoch(ctx)
	if err != nil {
		return err
	}
	var r retirement
	if retired, err := store.ReadJSON(ctx, s, "", docRetired, &r); err != nil || !retired || r.Epoch != epoch {
		return err
	}
	return fmt.Errorf("%w: %s, since %s", ErrRetired, r.To, r.At.Format(time.RFC3339))
}
