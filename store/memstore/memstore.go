// Package memstore keeps planbridge's memory in memory, for simulations and for
// fast tests. Its door is [New].
//
// A [Memory] is the store, and a [Store] is one replica's handle on it. The same
// operations at the same times give the same content, byte for byte: nothing here
// reads a clock of its own, draws a random number or starts a goroutine, and every
// table is ordered. The queue's rules are those of boltstore (store/internal/queue).
//
// An operation is done at once and whole, or refused. What crashes is a handle,
// which is refused from then on, or the content, which can be lost or rolled back.
// The handles notice that as those of redisstore do; see epoch.go.
package memstore

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

var (
	// ErrCrashed: the replica of this handle crashed.
	ErrCrashed = errors.New("the replica crashed")
	// ErrClosed: the handle was closed.
	ErrClosed = errors.New("the store is closed")
)

// Options say how a memory is made. Clock is required.
type Options struct {
	// Clock is the store's clock, which decides whatever time decides.
	Clock func() time.Time
	// QueueLimit bounds the queued keys of a project, those that wait for a
	// service included. 0: no bound.
	QueueLimit int
	// From is what the memory begins with; the zero Snapshot is empty.
	From Snapshot
}

// Memory is a store that handles share. It is safe for concurrent use.
type Memory struct {
	clock func() time.Time
	limit int

	mu          sync.Mutex // guards what follows, and the state of the handles
	content     *content
	epochs      int // how many there were
	incarnation int // how often the content was another all at once
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

// Restore rolls the content back to a snapshot, as a backup that is restored does.
// The zero Snapshot loses everything.
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

// Content is the whole content as JSON. Equal contents have equal bytes.
func (m *Memory) Content() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, err := json.Marshal(m.content)
	if err != nil {
		panic(err) // the content is made of what was decoded, texts and numbers
	}
	return data
}

// Digest is the SHA-256 of [Memory.Content].
func (m *Memory) Digest() [sha256.Size]byte { return sha256.Sum256(m.Content()) }

// Store is a [store.Store] in a memory. It is safe for concurrent use.
type Store struct {
	memory *Memory
	clock  func() time.Time

	// What the handle knows, guarded by memory.mu.
	epoch   string
	seqs    table[int64]  // by project, the highest that it was answered
	lost    bool          // the store is not the one it was
	ending  error         // why the handle is refused
	session store.Session // that what it claims belongs to; "": none
}

var _ store.Store = (*Store)(nil)

// Open makes a handle. clock is its process's clock, by which it tells when a
// lease ends; nil: the store's.
func (m *Memory) Open(clock func() time.Time) *Store {
	if clock == nil {
		clock = m.clock
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &Store{memory: m, clock: clock}
	s.join()
	return s
}

// Crash ends the handle's process: what it was answered is stored, and whatever
// it still asks is refused with [ErrCrashed].
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

// Scrub implements [store.Store]: nothing of what was deleted is kept.
func (s *Store) Scrub(ctx context.Context) error {
	return s.read(ctx, "", func(*space, int64) error { return nil })
}

// Repair implements [store.Store]: a memory has no part of a write.
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
