package epoch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/store"
)

// ErrRetired: the store was copied, and the copy has taken its place.
var ErrRetired = errors.New("this store was copied, and its copy is in use")

// docRetired names the document that says where a store was copied to.
const docRetired = "moved"

// retirement is what that document holds. It holds for one epoch of the store: what takes the
// content over has another epoch, and so has the store itself once it is restored.
type retirement struct {
	Epoch string    `json:"epoch"`
	To    string    `json:"to"`
	At    time.Time `json:"at"`
}

// Retire has no program work on the store any more, as its copy does from now on: who
// checks it is told [ErrRetired]. Its content stays, and can be read.
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

// Check is [ErrRetired] of a store that is retired.
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
