package store

import (
	"context"
	"errors"
	"iter"
	"time"

	"planbridge/mapping"
)

var (
	// ErrNotEmpty: the store holds something already.
	ErrNotEmpty = errors.New("the store is not empty")
	// ErrInUse: another process uses the store.
	ErrInUse = errors.New("another process uses it")
	// ErrUnfinished: a Load was begun and did not end. The store holds a part of
	// what was to be loaded, and nothing may work on it.
	ErrUnfinished = errors.New("a restore was begun and not finished: run planbridge restore once more, to its end")
)

// Schema is the version of what an [Entry] says. A program loads no entries of a
// higher one.
const Schema = 1

// Dumps moves whole stores.
type Dumps interface {
	// Dump visits everything that the store holds but leases, budgets and holds,
	// which are of the moment. The store may be used meanwhile: each entry is a
	// state that stood. What says that something was seen comes before what was
	// seen: first documents, then marks and deliveries, then records, and the
	// ledger, which records refer to, last. What is spoilt is told and left out.
	Dump(ctx context.Context, visit func(Entry) error) error
	// Load puts entries in the place of everything the store holds, under a fresh
	// epoch: handles that were used before meet [ErrEpoch]. Of two records with
	// one item the later one has it. No key is leased then, and no earlier claim
	// holds. Without replace a store that holds anything is [ErrNotEmpty]; one
	// that others use is [ErrInUse], as far as that can be known. After an error
	// the store is as it was before, or answers everything but another Load, which
	// then needs no replace, with [ErrUnfinished].
	Load(ctx context.Context, entries iter.Seq2[Entry, error], replace bool) error
}

// Entry is a part of what a store holds. One field beside Project is set.
type Entry struct {
	Project    mapping.ObjectID  `json:"project,omitempty"` // "": of no project
	Document   *Document         `json:"document,omitempty"`
	Marks      *MarkSet          `json:"marks,omitempty"`
	Deliveries []Delivery        `json:"deliveries,omitempty"`
	Record     *Record           `json:"record,omitempty"`
	Conflict   *mapping.Conflict `json:"conflict,omitempty"`
	// Spoilt names what is stored and cannot be read, and says why. Load passes
	// it over.
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
	Key []byte    `json:"key"` // its digest
	At  time.Time `json:"at"`
}

// Place says where a key stands.
type Place string

// The places of a key.
const (
	Idle    Place = ""        // nothing is to be done
	Queued  Place = "queued"  // due at Record.Due
	Waiting Place = "waiting" // for Record.Service, since Record.Due where that is known
	Parked  Place = "parked"  // since Record.Due
	Held    Place = "held"    // as Parked, until Enqueue
)

// Record is a link with its history and all its work. A key that was leased is
// Queued, and due.
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
	Own       [][]byte                 `json:"own,omitempty"`    // events of our own account, oldest first
}
