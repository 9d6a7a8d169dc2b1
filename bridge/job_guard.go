package bridge

import (
	"context"

	"planbridge/bridge/guard"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Where the program panics on one item of a job, the job goes on with the others.

// guarded takes up one item. One on which the program panics counts as failed, once,
// and the import goes on.
func (im *importer) guarded(where string, do func() error) error {
	err := im.guard.Do("import of", where, do)
	if !guard.Panicked(err) {
		return err
	}
	im.unread(where, err)
	return nil
}

// guardedRead is read, which tells as a difference that the program panicked on the
// link.
func (v *verifier) guardedRead(ctx context.Context, key store.Key) (d different, err error) {
	err = v.guard.Do("verification of", key.String(), func() error {
		d, err = v.read(ctx, key)
		return err
	})
	if !guard.Panicked(err) {
		return d, err
	}
	var l *mapping.Link
	if v.guard.Do("link of", key.String(), func() (err error) { l, err = v.store.Link(ctx, key); return err }) != nil {
		return different{}, nil // the failures name it
	}
	diff := differenceOf(l, &l.Pair, err.Error())
	diff.Held = "panic"
	return different{l, []status.Difference{diff}}, nil
}

// guardedListing takes in one item of a listing, which names the item's link where it
// has one. Where the program panics on it, that link is read.
func (v *verifier) guardedListing(item string, take func(key *store.Key) error) error {
	var key store.Key
	err := v.guard.Do("verification of", item, func() error { return take(&key) })
	if !guard.Panicked(err) {
		return err
	}
	if key != (store.Key{}) {
		v.doubtful[key] = true
	}
	return nil
}
