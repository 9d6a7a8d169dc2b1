package epoch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// ErrMoved: the store was copied, and the copy has taken its place.
var ErrMoved = errors.New("this store was copied, and its copy is in use")

// docMoved names the document that says where a store was copied to.
const docMoved = "moved"

// moved is what that document holds. It holds for one epoch of the store: what takes the
// content over has another epoch, and so has the store itself once it is restored.
type moved struct {
	Epoch string    `json:"epoch"`
	To    string    `json:"to"`
	At    time.Time `json:"at"`
}

// Retire has no program work on the store any more, as its copy does from now on: who
// asks for its epoch is told [ErrMoved]. Its content stays, and can be read.
func Retire(ctx context.Context, s interface {
	Source
	Documents
}, to string, at time.Time) error {
	epoch, err := s.Epoch(ctx)
	if err != nil {
		return fmt.Errorf("retire: %w", err)
	}
	data, err := json.Marshal(moved{epoch, to, at.UTC()})
	if err != nil {
		return err
	}
	if err := s.PutDoc(ctx, "", docMoved, data); err != nil {
		return fmt.Errorf("retire: %w", err)
	}
	return nil
}

// checkMoved is ErrMoved of a store that is retired.
func checkMoved(ctx context.Context, s Source, epoch string) error {
	data, err := s.Doc(ctx, mapping.ObjectID(""), docMoved)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var m moved
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("document %s: %w", docMoved, err)
	}
	if m.Epoch != epoch {
		return nil
	}
	return fmt.Errorf("%w: %s, since %s", ErrMoved, m.To, m.At.Format(time.RFC3339))
}
