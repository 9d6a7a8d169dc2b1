// Package memstore is a store in memory, for simulations and for fast tests. Its entry point is
// [New].
//
// A [Memory] is the store, and a [Store] is one replica's handle. The same operations at the same
// times give the same content, byte for byte. The package reads no clock of its own, draws no
// random number and starts no goroutine, and every table is ordered. The queue's rules are those
// of boltstore (store/internal/queue).
//
// An operation is done whole or refused. A handle can crash, and is then refused. The content can
// be lost or rolled back. The handles notice that as those of redisstore do; see epoch.go.
package memstore

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"planbridge/mapping"
	"planbridge/store"
)

var (
	// ErrCrashed: the replica of this handle crashed.
	ErrCrashed = errors.New("the replica crashed")
	// ErrClosed: the handle was closed.
	ErrClosed = errors.New("the store is closed")
)

// Options configure a memory. Clock is required.
type Options struct {
	// Clock is the store's clock, which decides about leases and due times.
	Clock store.Clock
	// QueueLimit bounds the queued keys of a project, those that wait for a service included. 0:
	// no bound.
	QueueLimit int
	// From is the initial content. The zero Snapshot is empty.
	From Snapshot
}

// Memory is a store that handles share. It is safe for concurrent use.
type Memory struct {
	clock store.Clock
	limit int

	mu          sync.Mutex // guards the fields below, and the state of the handles
	content     *content
	epochs      int // how many epochs there were
	incarnation int // how often the whole content was replaced
}

// Snapshot is a memory's content at one moment.
type Snapshot struct {
	content *content // never changed
	epochs  int
}

// New makes a memory.
func New(o Options) *Memory {
	m := &Memory{clock: o.Clock, limit: o.QueueLimit, content: &content{}, epochs: o.From.epochs}
	if o.From.content != nil {
		m.content = o.From.content.clone()
	}
	return m
}

// Snapshot returns the present content.
func (m *Memory) Snapshot() Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Snapshot{m.content.clone(), m.epochs}
}

// Restore rolls the content back to a snapshot, as restoring a backup does. The zero Snapshot
// loses everything.
func (m *Memory) Restore(to Snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.content = &content{}
	if to.content != nil {
		m.content = to.content.clone()
	}
	m.epochs = max(m.epochs, to.epochs)
	m.incarnation++
}

// Content returns the whole content as JSON. Equal contents have equal bytes.
func (m *Memory) Content() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, err := json.Marshal(m.content)
	if err != nil {
		panic(err) // the content has only decoded data, texts and numbers
	}
	return data
}

// Digest is the SHA-256 of [Memory.Content].
func (m *Memory) Digest() [sha256.Size]byte { return sha256.Sum256(m.Content()) }

// Store is a [store.Store] in a memory. It is safe for concurrent use.
type Store struct {
	memory *Memory
	clock  store.Clock

	// The handle's own state, guarded by memory.mu.
	epoch   string
	seqs    table[int64]  // by project: the highest Seq in an answer
	lost    bool          // the content was lost or rolled back
	ending  error         // why the handle is refused
	session store.Session // the session of its claims; "": none
}

var _ store.Store = (*Store)(nil)

// Open makes a handle. clock is its process's clock, which sets the end of a claim; nil: the
// store's.
func (m *Memory) Open(clock store.Clock) *Store {
	if clock == nil {
		clock = m.clock
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &Store{memory: m, clock: clock}
	s.acceptEpoch()
	return s
}

// Crash ends the handle's process. Answered operations are stored, and further ones get
// [ErrCrashed].
func (s *Store) Crash() { s.end(ErrCrashed) }

// Close implements [store.Store].
func (s *Store) Close() error {
	s.end(ErrClosed)
	return nil
}

func (s *Store) end(why error) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if s.ending == nil {
		s.ending = why
	}
}

// Scrub implements [store.Store]. Deleted data is gone at once.
func (s *Store) Scrub(ctx context.Context) error {
	return s.read(ctx, "", func(*space, int64) error { return nil })
}

// Repair implements [store.Store]. Writes are whole, so that it has nothing to repair.
func (s *Store) Repair(ctx context.Context, project mapping.ObjectID) error {
	return s.read(ctx, project, func(*space, int64) error { return nil })
}

// Ping implements [store.Store].
func (s *Store) Ping(ctx context.Context) error {
	if err := s.read(ctx, "", func(*space, int64) error { return nil }); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}
