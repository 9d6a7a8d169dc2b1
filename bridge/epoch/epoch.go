// Package epoch recognises a store that was lost or replaced.
//
// The epoch of a process's work is more than the store's own. A Redis that restarted or failed
// over may have lost its last writes, and an operator may ask for a rebuild. After each of these,
// a full poll reads every marked item before anything is created.
package epoch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/clock"
	"planbridge/mapping"
	"planbridge/store"
)

// docRebuild names the document whose text is part of the epoch, so that a new text makes a new
// epoch.
const docRebuild = "rebuild"

// Source is the part of the store that Read uses.
type Source interface {
	Epoch(ctx context.Context) (string, error)
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
}

// Read returns the store's epoch, the text of the last rebuild, and the incarnation of the
// store's servers, where there are any.
func Read(ctx context.Context, s Source) (string, error) {
	epoch, err := s.Epoch(ctx)
	if err != nil {
		return "", err
	}
	rebuild, err := store.ReadDoc(ctx, s, "", docRebuild)
	if err != nil {
		return "", err
	}
	if len(rebuild) > 0 {
		epoch += "/" + string(rebuild)
	}
	behind, ok := s.(servers)
	if !ok {
		return epoch, nil
	}
	incarnation, err := behind.Incarnation(ctx)
	return epoch + "/" + incarnation, err
}

// servers names the servers behind a store.
type servers interface {
	Incarnation(ctx context.Context) (string, error)
}

// Documents stores the document of a rebuild.
type Documents interface {
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
}

// Renew gives the store a new epoch, though it lost nothing.
func Renew(ctx context.Context, s Documents) error {
	if err := s.PutDoc(ctx, "", docRebuild, []byte(mapping.NewID())); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return nil
}

// Tracker reads a store's epoch, and remembers when it last changed. It is safe for concurrent
// use.
type Tracker struct {
	store Source
	clock clock.Clock

	mu      sync.Mutex
	epoch   string
	lost    time.Time
	retired error // the error that Check found last
}

// NewTracker makes a tracker of a store.
func NewTracker(s Source, c clock.Clock) *Tracker { return &Tracker{store: s, clock: c} }

// Check reads the epoch, unless the store is retired. After that Read returns [ErrRetired] too.
func (t *Tracker) Check(ctx context.Context) (string, error) {
	err := Check(ctx, t.store)
	retired := err
	if !errors.Is(err, ErrRetired) {
		retired = nil
	}
	t.mu.Lock()
	t.retired = retired
	t.mu.Unlock()
	if err != nil {
		return "", err
	}
	return t.Read(ctx)
}

// Retired is the [ErrRetired] that Check found last; nil: it found none.
func (t *Tracker) Retired() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.retired
}

// Read reads the epoch, and notes when it changed.
func (t *Tracker) Read(ctx context.Context) (string, error) {
	if err := t.Retired(); err != nil {
		return "", err
	}
	epoch, err := Read(ctx, t.store)
	if err != nil {
		return epoch, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.epoch != "" && t.epoch != epoch {
		t.lost = t.clock.Now()
	}
	t.epoch = epoch
	return epoch, nil
}

// IsSameStore reports whether two epochs are of one store. Its servers at most restarted or
// failed over, and no write that this process knew of was lost.
func (t *Tracker) IsSameStore(was, is string) bool {
	if _, ok := t.store.(servers); !ok {
		return was == is
	}
	i, j := strings.LastIndexByte(was, '/'), strings.LastIndexByte(is, '/')
	return i > 0 && j > 0 && was[:i] == is[:j]
}

// Lost is when the epoch last changed; zero: never in this process.
func (t *Tracker) Lost() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}
