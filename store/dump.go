package store

import (
	"context"
	"errors"
	"iter"
	"time"

	"planbridge/mapping"
)

var (
	// ErrNotEmpty: the store is not empty.
	ErrNotEmpty = errors.New("the store is not empty")
	// ErrInUse: another process uses the store.
	ErrInUse = errors.New("another process uses it")
	// ErrUnfinished: a Load began and did not end. The store holds only a part of the entries,
	// and nothing may work on it.
	ErrUnfinished = errors.New("a restore was begun and not finished: run planbridge restore once more, to its end")
)

// Schema is the version of the meaning of an [Entry]. A program loads no entries of a higher
// version.
const Schema = 1

// Dumps copies whole stores.
type Dumps interface {
	// Dump visits all content of the store except leases, budgets and holds, which are momentary.
	// Others may use the store meanwhile: each entry is a state that once was stored. The record
	// that an item was seen comes before the item: first documents, then marks and deliveries,
	// then records. Records refer to the ledger, which comes last. An unreadable entry is
	// reported and left out.
	Dump(ctx context.Context, visit func(Entry) error) error
	// Load replaces all content of the store by entries, under a fresh epoch. Handles used before
	// get [ErrEpoch]. Of two records with one item the later one keeps it. No key is leased then,
	// and no earlier claim holds. Without replace a store with any content is [ErrNotEmpty]. A
	// store that others use is [ErrInUse], as far as that is known. After an error the store is
	// either unchanged or unfinished. An unfinished store answers everything but another Load
	// with [ErrUnfinished], and that Load needs no replace.
	Load(ctx context.Context, entries iter.Seq2[Entry, error], replace bool) error
}

// Entry is a part of a store's content. One field beside Project is set.
type Entry struct {
	Project    mapping.ObjectID  `json:"project,omitempty"` // "": of no project
	Document   *Document         `json:"document,omitempty"`
	Marks      *MarkSet          `json:"marks,omitempty"`
	Deliveries []Delivery        `json:"deliveries,omitempty"`
	Record     *Record           `json:"record,omitempty"`
	Conflict   *mapping.Conflict `json:"conflict,omitempty"`
	// Spoilt names content that cannot be read, and says why. Load skips it.
	Spoilt string `json:"spoilt,omitempty"`
}

// Document is a named document.
type Document struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// MarkSet holds some marks of a set.
type MarkSet struct {
	Set   string            `json:"set"`
	Marks map[string]string `json:"marks"`
}

// Delivery is a webhook delivery that was stored.
type Delivery struct {
	Key []byte    `json:"key"` // the delivery's digest
	At  time.Time `json:"at"`
}

// Place is a key's place in the queue.
type Place string

// The places of a key.
const (
	Idle    Place = ""        // nothing to do
	Queued  Place = "queued"  // due at Record.Due
	Waiting Place = "waiting" // for Record.Service, since Record.Due where that is known
	Parked  Place = "parked"  // since Record.Due
	Held    Place = "held"    // as Parked, until Enqueue
)

// Record is a link with its history and its work. The key of a leased record is Queued and due.
type Record struct {
	Link      *mapping.Link            `json:"link"`
	History   []mapping.Entry          `json:"history,omitempty"` // oldest first
	Place     Place                    `json:"place,omitempty"`
	Due       time.Time                `json:"due,omitzero"`
	Bulk      bool                     `json:"bulk,omitempty"`
	Service   string                   `json:"service,omitempty"`
	Reason    string                   `json:"reason,omitempty"`
	Attempts  int                      `json:"attempts,omitempty"`
	Abandoned int                      `json:"abandoned,omitempty"`
	Inbox     map[mapping.Ref]Snapshot `json:"inbox,omitempty"`
	Events    [][]byte                 `json:"events,omitempty"` // oldest first
	Own       [][]byte                 `json:"own,omitempty"`    // events of the bridge's own account, oldest first
}
