// Package store is the contract of planbridge's memory: which issue belongs to
// which card, what both sides last agreed on, and which links have to be
// looked at.
//
// Two back ends keep it: boltstore (one file, one process) and redisstore (for
// production and for several replicas). storetest holds both to the same
// suite. Every operation that touches several records is atomic and durable
// when it returns; times are the store's own clock where they decide anything.
package store

import (
	"context"
	"errors"
	"time"

	"planbridge/mapping"
)

var (
	// ErrNotFound: there is no such record.
	ErrNotFound = errors.New("not found")
	// ErrConflict: an item already belongs to another link.
	ErrConflict = errors.New("belongs to another link")
	// ErrLeaseLost: the key's lease ended or was taken over; whatever was to
	// be saved was not.
	ErrLeaseLost = errors.New("lease lost")
	// ErrFull: the queue is at its bound and the key is not in it yet.
	ErrFull = errors.New("queue full")
	// ErrEpoch: the store is not the one it was (lost, rolled back or
	// replaced). Nothing was done; see Store.Epoch.
	ErrEpoch = errors.New("the store has a new epoch")
	// ErrSchema: the store was written by a newer program.
	ErrSchema = errors.New("store has a newer schema")
)

// Store is the whole memory. All methods are safe for concurrent use.
type Store interface {
	Links
	Queue
	Ledger
	Leases
	State

	// Ping reports whether the store can be reached and written.
	Ping(ctx context.Context) error
	// Epoch returns the store's random epoch, making one in an empty store
	// (or after Adopt). The handle remembers it; from then on every operation fails
	// with ErrEpoch once the store's epoch is another or missing.
	Epoch(ctx context.Context) (string, error)
	// Adopt makes the handle accept the store's present epoch (a fresh one
	// when there is none) after ErrEpoch, and returns it.
	Adopt(ctx context.Context) (string, error)
	// Mend makes what the store says of a project twice agree, where its server
	// came back with a part of a write: a key that stands in no queue though it
	// is queued is due, and of two links with one item the index decides which
	// has it (Save tells the other ErrConflict). In a sound store it changes
	// nothing; others may use the project meanwhile.
	Mend(ctx context.Context, project mapping.ObjectID) error
	Close() error
}

// Key names one root link: the unit of queueing and of leasing. All records of
// one project live together.
type Key struct {
	Project mapping.ObjectID
	Link    mapping.LinkID
}

func (k Key) String() string { return string(k.Project) + "/" + string(k.Link) }

// Links reads the links. They are written only through Observe (which may
// make one) and under a claim.
type Links interface {
	// Link returns a link, or ErrNotFound.
	Link(ctx context.Context, key Key) (*mapping.Link, error)
	// Find returns the link that an item belongs to, or ErrNotFound.
	Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error)
	// List pages through the links of a project in a stable order. Begin with
	// the cursor ""; the next cursor is "" after the last page. A link that
	// is made or removed meanwhile may or may not be seen; others are seen
	// exactly once.
	List(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (links []*mapping.Link, next string, err error)
	// History returns what was done to a link, newest first.
	History(ctx context.Context, key Key, limit int) ([]mapping.Entry, error)
}

// Observation is one look at one item: a webhook's payload, a polled card.
type Observation struct {
	// Delivery identifies the webhook delivery (hook id and GUID). A delivery
	// that was stored before stores nothing anew but makes its key due. ""
	// for what cannot be doubled.
	Delivery string
	// Refs are the indexes under which the item's link may be known, tried in
	// order.
	Refs []mapping.Ref
	// Link is a link that a verified marker names. It is used when no Ref is
	// known and that link exists.
	Link mapping.LinkID
	// Create is made (and indexed under its Refs) when neither a Ref nor Link
	// leads to a link. Where it is nil, such an observation is dropped.
	Create *mapping.Link

	// Item is the inbox slot that Data goes to; "" for an observation that
	// only makes the key due.
	Item mapping.Ref
	// At orders snapshots of one item: what is lower than the stored one is
	// dropped. (Unix seconds of updated_at; a card's version.)
	At int64
	// Digest tells snapshots apart: the same At with another Digest replaces
	// the stored one and marks it Ambiguous.
	Digest string
	Data   []byte // nil: no snapshot
	// Event is appended to the link's events (bounded), for what must not be
	// folded into the newest snapshot, such as an edit's changes.from.
	Event []byte

	// Delay puts the key's first attempt off; a key that is due earlier stays
	// so. A Delay of 0 makes it due now.
	Delay time.Duration
	// Bulk puts a key that is not queued yet behind all live ones.
	Bulk bool
}

// Observed is what became of an Observation.
type Observed struct {
	Key       Key   // zero where there is no link and none was made
	Created   bool  // Create was stored
	Duplicate bool  // the delivery was stored before
	Stored    bool  // Data is now the item's newest snapshot
	Err       error // ErrFull for this observation alone; nothing of it was stored
}

// Snapshot is an inbox slot: the newest observation of an item that has not
// been worked yet.
type Snapshot struct {
	At        int64
	Digest    string
	Ambiguous bool // two different snapshots of one At: read the item
	Data      []byte
	Seen      time.Time // store's clock, when it was first stored since the last Finish
}

// Claim is the right to work on one key until Until.
type Claim struct {
	Key   Key
	Token int64 // fencing token: higher for each claim of the key
	// Until is when the lease ends, on this process's monotonic clock, taken
	// before the store was asked, so that it never errs to the late side.
	Until    time.Time
	Attempts int // attempts spent since the last success
	Link     *mapping.Link
	Inbox    map[mapping.Ref]Snapshot
	Events   [][]byte  // oldest first
	Due      time.Time // when the key became due, store's clock
	// Generation tells a change that arrived while the key was worked from
	// those that the claim carries.
	Generation int64
}

// Outcome says what becomes of a key that was worked.
type Outcome struct {
	// Kind is one of the OutcomeXxx constants.
	Kind OutcomeKind
	// After delays the next attempt (Retry, Again), or has the key looked at once
	// more (Done).
	After time.Duration
	// Service is what Wait waits for: "github", "planning:<project>".
	Service string
	// Reason is kept with the key and shown to the operator.
	Reason string
}

// OutcomeKind is the kind of an [Outcome].
type OutcomeKind int

const (
	// Done: the sides agree. The claim's inbox and events are consumed, the attempts
	// forgotten, and the key leaves the queue unless a change came meanwhile. Where
	// After is not 0 it stays, due after that.
	Done OutcomeKind = iota
	// Retry: a failed attempt: spent, inbox kept, due after After.
	Retry
	// Again: not a failure; due after After, no attempt spent, inbox kept.
	Again
	// Wait: a service is down; the key waits for Wake, no attempt spent, inbox kept. A
	// new change does not make it due, Wake does.
	Wait
	// Park: given up; kept among the failures with Reason until a new change
	// or Retry takes it up again, attempts forgotten.
	Park
	// Remove: as Done, and the link itself, its indexes and inbox are deleted
	// (an issue that did not enter), unless a change came meanwhile: then as Again.
	Remove
)

// Failure is a parked key.
type Failure struct {
	Key      Key
	Route    string
	Where    string // acme/web#12 or the card's id
	Reason   string
	Attempts int
	At       time.Time
}

// Depth describes a project's queue.
type Depth struct {
	Live, Bulk int            // keys in the queue, leased ones included
	Due        int            // of Bulk: those that are due and that nobody works
	Waiting    map[string]int // per service
	Failures   int
	Oldest     time.Time // when the key that is overdue longest became due; zero: none is due
}

// Queue holds the keys that have to be worked. A key is in it at most once and
// worked by one claim at a time across all processes.
type Queue interface {
	// Observe stores what was seen and makes the links' keys due, each
	// observation atomically; all is durable when it returns. The results
	// stand in the order of obs. The error is about the whole call: then
	// each observation may or may not have been stored, and repeating the
	// call is harmless.
	Observe(ctx context.Context, project mapping.ObjectID, obs []Observation) ([]Observed, error)
	// Enqueue makes a key due after delay (a key due earlier stays so) and
	// takes it from the failures. ErrNotFound where there is no such link.
	Enqueue(ctx context.Context, key Key, delay time.Duration, bulk bool) error
	// Claim leases the key that is due longest, live ones first, for ttl. It
	// returns nil and, where known, how long until the next key is due
	// (0: none is queued) when none is due. An expired lease makes its key due again.
	Claim(ctx context.Context, project mapping.ObjectID, ttl time.Duration) (*Claim, time.Duration, error)
	// ClaimKey leases one key whether it is due or not, for an operator's
	// command: ErrNotFound where there is no link, ErrConflict while another
	// claim holds it.
	ClaimKey(ctx context.Context, key Key, ttl time.Duration) (*Claim, error)
	// Save stores link under a claim and indexes its Refs. ErrLeaseLost when
	// the claim no longer holds; ErrConflict when a Ref belongs to another
	// link (then nothing is stored).
	Save(ctx context.Context, c *Claim, link *mapping.Link) error
	// Check reports ErrLeaseLost when the claim no longer holds.
	Check(ctx context.Context, c *Claim) error
	// Finish ends a claim: stores link (nil: unchanged), appends history, and
	// does what the outcome says, in one step. Errors as Save.
	Finish(ctx context.Context, c *Claim, link *mapping.Link, history []mapping.Entry, out Outcome) error
	// FinishAndClaim is Finish and, in the same step, Claim in the same project:
	// a worker goes on with one question. It returns nil where no other key is
	// due. The key itself is left to Claim: what came while it was worked is mostly
	// the echo of that work, of which more is on its way. Where the claim could
	// not be ended nothing is leased; where the answer is lost, the key that was
	// leased is due again when its lease ends, as after Claim.
	FinishAndClaim(ctx context.Context, c *Claim, link *mapping.Link, history []mapping.Entry, out Outcome, ttl time.Duration) (*Claim, error)
	// Wake makes the keys due that wait for a service, spread over the time
	// that perSecond of them allows, and returns how many there were.
	Wake(ctx context.Context, project mapping.ObjectID, service string, perSecond float64) (int, error)
	// Failures lists parked keys, oldest first.
	Failures(ctx context.Context, project mapping.ObjectID, limit int) ([]Failure, error)
	// Depth describes the queue.
	Depth(ctx context.Context, project mapping.ObjectID) (Depth, error)
}

// Ledger keeps the conflicts. Entries are kept for good.
type Ledger interface {
	// PutConflict stores an entry under its ID, replacing an earlier state of it.
	PutConflict(ctx context.Context, c mapping.Conflict) error
	// Conflict returns one entry, or ErrNotFound.
	Conflict(ctx context.Context, project mapping.ObjectID, id string) (mapping.Conflict, error)
	// Conflicts pages through a project's entries, newest first.
	Conflicts(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (cs []mapping.Conflict, next string, err error)
}

// Leases are named locks between replicas (one poller per project).
type Leases interface {
	// Acquire takes or extends the lease name for owner. It reports false
	// while another owner holds it.
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
	// Release gives the lease back if owner still holds it.
	Release(ctx context.Context, name, owner string) error
	// Budget takes one write from the shared write budget name and returns 0,
	// or takes none and returns how long to wait until one can be had. Both
	// windows hold at once; burst bounds how many may go back to back.
	Budget(ctx context.Context, name string, perMinute, perHour, burst int) (time.Duration, error)
}

// State keeps small named documents and the poll's marks.
type State interface {
	// Doc returns a document, or ErrNotFound.
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
	// PutDoc stores a document.
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
	// Marks returns the poll's marks of a set: id to a short text.
	Marks(ctx context.Context, project mapping.ObjectID, set string) (map[string]string, error)
	// PutMarks adds or replaces marks of a set.
	PutMarks(ctx context.Context, project mapping.ObjectID, set string, marks map[string]string) error
}

// DocAdopted names the document, in a project's space, that holds the epoch
// for which a full poll has adopted every marked item. Nothing is created in a
// project while it differs from the store's epoch.
const DocAdopted = "adopted"

// DocImporting names the document, in a project's space, that says until when an
// import is about to observe more of the project's keys: a time as
// [time.Time.MarshalText] writes it. One that is past says that none is.
const DocImporting = "importing"

// DocSprints names the document, in a project's space, that holds what the
// poll last saw of its sprints: a JSON array of [mapping.Sprint].
const DocSprints = "sprints"

// DocBurndown names the document, in a project's space, that holds the charts
// of its sprints: a JSON array of [mapping.Burndown], active sprints first.
const DocBurndown = "burndown"
