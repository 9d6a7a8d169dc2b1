package poll

import (
	"context"
	"errors"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
)

// Documents is the part of the store that keeps how far repositories were
// looked through.
type Documents interface {
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
}

// Rename lets what is known of how far a repository was looked through be known
// under its new name, so that not all of it is listed again. Repeating it does
// no harm.
func Rename(ctx context.Context, s Documents, from, to string) error {
	for _, name := range []func(string) string{docSince, docAdopted} {
		doc, err := s.Doc(ctx, "", name(from))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err == nil {
			err = s.PutDoc(ctx, "", name(to), doc)
		}
		if err != nil {
			return fmt.Errorf("document %s: %w", name(to), err)
		}
	}
	return nil
}
