// Package store is the contract of planbridge's store. The store has the links between issues and
// cards, the values that both sides last agreed on, and the queue of links to work.
//
// Three back ends implement it. These are boltstore (one file, one process), redisstore (for
// production and for several replicas) and memstore (for simulations and tests). The package
// storetest is the suite of tests for all three. Every operation on several records is atomic and
// durable when it returns. Times that decide anything come from the store's own clock.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
)

// Clock tells a store the time. It is safe for concurrent use.
type Clock interface{ Now() time.Time }

// A SizeError refuses a record over its bound. Nothing was stored.
type SizeError struct {
	Size, Bound int    // in bytes
	As          string // how Size was measured
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the link's record has %d bytes %s, and its bound is %d", e.Size, e.As, e.Bound)
}

var (
	// ErrNotFound: there is no such record.
	ErrNotFound = errors.New("not found")
	// ErrConflict: an item already belongs to another link.
	ErrConflict = errors.New("belongs to another link")
	// ErrLeaseLost: the key's lease ended or was taken over, and nothing was saved.
	ErrLeaseLost = errors.New("lease lost")
	// ErrFull: the queue is at its bound and the key is not in it.
	ErrFull = errors.New("queue full")
	// ErrEpoch: the store was lost, rolled back or replaced. Nothing was done; see Store.Epoch.
	ErrEpoch = errors.New("the store has a new epoch")
	// ErrCopied: the store was copied, and the copy has taken its place. No service works on it.
	ErrCopied = errors.New("this store was copied, and its copy is in use")
	// ErrAway: the store gave no answer, or cannot give one now.
	ErrAway = errors.New("the store is away")
	// ErrNoRoom: the store takes no writes until an operator gives it room.
	ErrNoRoom = errors.New("the store is full")
	// ErrDamaged: the store's file cannot be read as a whole.
	ErrDamaged = errors.New("the file is damaged")
	// ErrSpoilt: the stored data of one key cannot be read or written.
	ErrSpoilt = errors.New("what is stored of it is spoilt")
	// ErrNotIndexed: Repair has not yet indexed the records of an earlier program.
	ErrNotIndexed = errors.New("the store is not indexed yet")
	// ErrSchema: the store was written by a newer program.
	ErrSchema = errors.New("store has a newer schema")
)

// Store is the whole store. All methods are safe for concurrent use.
type Store interface {
	Links
	Queue
	Ledger
	Leases
	Sessions
	State
	Dumps

	// Ping reports whether the store can be reached and written. Once a write was refused with
	// ErrNoRoom, Ping returns that until the store has room for a large record.
	Ping(ctx context.Context) error
	// Epoch returns the store's random epoch. It makes one in an empty store or after Adopt. The
	// handle keeps it. Later operations fail with ErrEpoch once the store's epoch differs or is
	// missing.
	Epoch(ctx context.Context) (string, error)
	// Adopt makes the handle accept the store's present epoch after ErrEpoch, and returns it. It
	// makes one where there is none.
	Adopt(ctx context.Context) (string, error)
	// Scrub removes deleted bytes from the disk, as far as this process can: a database keeps
	// them until it reuses their space. It may take as long as writing the whole store.
	Scrub(ctx context.Context) error
	// Repair makes redundant data of a project consistent after the store's server came back with
	// a part of a write. A key that is marked queued but in no queue becomes due. Of two links
	// with one item, the index decides which one has it, and Save returns ErrConflict for the
	// other. Repair also recounts Tally, and indexes the records of an earlier program. In a
	// sound store it changes nothing. Others may use the project meanwhile.
	Repair(ctx context.Context, project mapping.ObjectID) error
	// Projects lists the projects that have data in the store, configured or not.
	Projects(ctx context.Context) ([]mapping.ObjectID, error)
	Close() error
}

// FactLost names, in the log, the fact that the store was lost.
const FactLost = "the store was lost"

// Key names one root link: the unit of queueing and of leasing. All records of one project are
// stored together.
type Key struct {
	Project mapping.ObjectID
	Link    mapping.LinkID
}

func (k Key) String() string { return string(k.Project) + "/" + string(k.Link) }

// Links reads the links. Only Observe, which may make one, and claims write them.
type Links interface {
	// Link returns a link, or ErrNotFound.
	Link(ctx context.Context, key Key) (*mapping.Link, error)
	// Find returns the link that has an item, or ErrNotFound.
	Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error)
	// FindByTraits lists links with an issue that has one of some traits. Links with the first
	// trait come first, those with one trait in the order of their ids. Each link is listed once,
	// and at most limit of them. The list may omit records that cannot be read. It returns
	// ErrNotIndexed until Repair has indexed the records of an earlier program.
	FindByTraits(ctx context.Context, project mapping.ObjectID, traits []mapping.Trait, limit int) ([]mapping.LinkID, error)
	// List pages through the links of a project in a stable order. Begin with the cursor ""; the
	// next cursor is "" after the last page. A link that is made or removed meanwhile may be
	// listed or not. Each other link is listed exactly once.
	List(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (links []*mapping.Link, next string, err error)
	// Tally returns a project's counts. Each save and each move of a key updates them, so that a
	// call costs the same for any number of links.
	Tally(ctx context.Context, project mapping.ObjectID) (Tally, error)
	// History returns the history of a link, newest first. It has at most mapping.MaxHistory
	// entries and mapping.MaxHistoryBytes bytes, and always the newest entry. A reason is cut at
	// mapping.MaxWhy.
	History(ctx context.Context, key Key, limit int) ([]mapping.Entry, error)
}

// Observation is one sight of one item, from a webhook's payload or a poll. It is a change if it
// has an event, or a snapshot newer than the inbox of the key. Only a change takes up a parked
// key, or one that is being worked and then parked. Any observation makes a queued or worked key
// due.
type Observation struct {
	// Delivery identifies the webhook delivery (hook id and GUID). A delivery that was stored
	// before stores nothing but makes its key due. It is "" where no duplicate is possible.
	Delivery string
	// Refs are the indexes of the item's possible link, tried in order.
	Refs []mapping.Ref
	// Link is a link that a verified marker names. It is used where no Ref has a link and Link
	// exists.
	Link mapping.LinkID
	// Create is the link to make, indexed under its Refs, where neither a Ref nor Link leads to
	// one. Without Create such an observation is dropped.
	Create *mapping.Link

	// Item is the inbox slot for Data. It is "" for an observation that only makes the key due.
	Item mapping.Ref
	// At orders the snapshots of one item: one with a lower At than the stored one is dropped.
	// (Unix seconds of updated_at; a card's version.)
	At int64
	// Digest distinguishes snapshots. The same At with another Digest replaces the stored
	// snapshot and marks it Ambiguous.
	Digest string
	Data   []byte // nil: no snapshot
	// Event is appended to the link's bounded events. It is for data that a newer snapshot must
	// not replace, such as an edit's changes.from.
	Event []byte
	// Own says that the bridge's own account made the event. The link's record mostly knows of
	// such events. They have a bound of their own, so that they displace no others.
	Own bool

	// Delay puts the key's first attempt off. A key that is due earlier stays so. A Delay of 0
	// makes it due now.
	Delay time.Duration
	// Bulk puts a key that is not queued yet behind all live ones.
	Bulk bool
}

// Observed is the result of an Observation.
type Observed struct {
	Key       Key   // zero where no link was found or made
	Created   bool  // Create was stored
	Duplicate bool  // the delivery was stored before
	Stored    bool  // Data is now the item's newest snapshot
	Err       error // ErrFull or ErrSpoilt for this observation alone: nothing of it is stored
}

// Snapshot is an inbox slot: the newest observation of an item since the key was last worked.
type Snapshot struct {
	At        int64     `json:"at"`
	Digest    string    `json:"digest"`
	Ambiguous bool      `json:"ambiguous,omitempty"` // two different snapshots of one At: read the item
	Data      []byte    `json:"data"`
	Seen      time.Time `json:"seen"` // store's clock, at the first snapshot since the last Finish
}

// Claim is the right to work one key until Until.
type Claim struct {
	Key   Key
	Token int64 // fencing token: it rises with each claim of the key
	// Until is when the lease ends, on this process's monotonic clock. The clock is read before
	// the store is asked, so that Until is never too late.
	Until time.Time
	// the session with which the lease ends earlier; "": none
	Session  Session
	Attempts int // failed attempts since the last success
	// Abandoned counts the claims since the last success without a Finish: the process or the
	// lease ended. Each claim raises the stored count and its Finish lowers it, so that it
	// survives the end of the process. Taking up a parked key lowers it by one.
	Abandoned int
	// AfterAbandoned: the previous claim was abandoned.
	AfterAbandoned bool
	Link           *mapping.Link
	Inbox          map[mapping.Ref]Snapshot
	Events         [][]byte  // oldest first, with those that are Own last
	Due            time.Time // when the key became due, store's clock
	// Generation separates the changes in the claim from those that came while the key was
	// worked.
	Generation int64
	// History is the link's history in the back end's form, where Finish must store it again with
	// new entries.
	History string
}

// Outcome is what Finish does with a key.
type Outcome struct {
	// Kind is one of the OutcomeXxx constants.
	Kind OutcomeKind
	// After delays the next attempt (Retry, Again). With Done it makes the key due once more.
	After time.Duration
	// Service is what Wait waits for: "github" or "planning:<project>".
	Service string
	// Reason is why the key is not done, or is due once more. The queue keeps it as long as the
	// key stays where the outcome put it, and operators see it.
	Reason string
	// Unspent: the claim spent no attempt (Park).
	Unspent bool
}

// OutcomeKind is the kind of an [Outcome].
type OutcomeKind int

const (
	// Done: the sides agree. The claim's inbox and events are consumed and the attempts reset.
	// The key leaves the queue unless a change came meanwhile. Where After is not 0 it stays and
	// is due after that.
	Done OutcomeKind = iota
	// Retry: a failed attempt. It is spent, the inbox is kept, and the key is due after After.
	Retry
	// Again: no failure. The key is due after After, no attempt is spent, and the inbox is kept.
	Again
	// Wait: a service is down. The key waits for Wake, no attempt is spent, and the inbox is
	// kept. A new change does not make it due.
	Wait
	// Park: given up. The key stays among the failures with Reason until a new change or Retry
	// takes it up and resets its attempts.
	Park
	// Hold: like Park, but only Enqueue takes the key up again. No change does, not even one that
	// came while it was worked.
	Hold
	// Erase: like Done, and the key's earlier history is removed.
	Erase
	// Remove: like Done, and the link, its indexes and its inbox are deleted (an issue that did
	// not enter). After a change meanwhile it is like Again.
	Remove
)

// Failure is a parked key.
type Failure struct {
	Key      Key
	Route    string
	Where    string // acme/web#12 or the card's id
	Reason   string
	Attempts int // failed and abandoned ones
	At       time.Time
}

// Tally has the counts of a project.
type Tally struct {
	Queued int       // keys that are queued, leased, or wait for a service
	Oldest time.Time // when the key that is overdue longest became due; zero: none is overdue
	// Links counts the links by route and state, and Failures the parked keys by route. Both are
	// nil until Repair has counted the records of an earlier program.
	Links    map[string]map[mapping.LinkState]int
	Failures map[string]int
}

// Depth describes a project's queue.
type Depth struct {
	Live, Bulk int            // keys in the queue, leased ones included
	Due        int            // bulk keys that are due and not leased
	Waiting    map[string]int // per service
	Failures   int
	Oldest     time.Time // when the key that is overdue longest became due; zero: none is overdue
}

// Queue has the keys to work. A key is in it at most once, and one claim at a time holds it
// across all processes.
type Queue interface {
	// Observe stores observations and makes the links' keys due. Each observation is atomic, and
	// all are durable on return. The results have the order of obs. An error concerns the whole
	// call: each observation may or may not be stored, and repeating the call is harmless.
	Observe(ctx context.Context, project mapping.ObjectID, obs []Observation) ([]Observed, error)
	// Enqueue makes a key due after delay and takes it from the failures. A key that is due
	// earlier stays so. ErrNotFound where there is no such link.
	Enqueue(ctx context.Context, key Key, delay time.Duration, bulk bool) error
	// Claim leases the key that is due longest for ttl, live ones first. Where none is due it
	// returns nil, and how long until the next one is due, where known (0: none is queued). An
	// expired lease makes its key due again.
	Claim(ctx context.Context, project mapping.ObjectID, ttl time.Duration) (*Claim, time.Duration, error)
	// ClaimKey leases one key, due or not, for an operator's command. ErrNotFound where there is
	// no link, ErrConflict while another claim holds it.
	ClaimKey(ctx context.Context, key Key, ttl time.Duration) (*Claim, error)
	// Save stores link under a claim and indexes its Refs. Nothing is stored after an error. The
	// error is ErrLeaseLost when the claim ended, and ErrConflict when a Ref belongs to another
	// link. It is a [SizeError] when the record is over mapping.MaxRecord or
	// mapping.MaxPlainRecord.
	Save(ctx context.Context, c *Claim, link *mapping.Link) error
	// Check returns ErrLeaseLost when the claim ended.
	Check(ctx context.Context, c *Claim) error
	// Finish ends a claim in one step: it stores link (nil: unchanged), appends history, and
	// carries out the outcome. Its errors are those of Save.
	Finish(ctx context.Context, c *Claim, link *mapping.Link, history []mapping.Entry, out Outcome) error
	// FinishAndClaim is Finish and Claim in the same project, in one step and one round trip. It
	// returns nil where no other key is due. It never leases the same key: a change that came
	// meanwhile is mostly an echo, and more echoes follow. Where it cannot end the claim, it
	// leases nothing.
	FinishAndClaim(ctx context.Context, c *Claim, link *mapping.Link, history []mapping.Entry, out Outcome, ttl time.Duration) (*Claim, error)
	// Standing returns a key's state in the queue; ErrNotFound where there is no such link.
	Standing(ctx context.Context, key Key) (Standing, error)
	// Standings lists keys in the queue that are not due, and keys that are worked. It returns at
	// most limit, in the order of [CompareStandings].
	Standings(ctx context.Context, project mapping.ObjectID, limit int) ([]Standing, error)
	// Queued is Standings, with the due keys too.
	Queued(ctx context.Context, project mapping.ObjectID, limit int) ([]Standing, error)
	// Wake makes the keys due that wait for a service, and returns their number. They are spread
	// out at perSecond and come behind all live ones. A live key that waited for less than five
	// seconds is due at once, among live ones.
	Wake(ctx context.Context, project mapping.ObjectID, service string, perSecond float64) (int, error)
	// Failures lists parked keys, oldest first.
	Failures(ctx context.Context, project mapping.ObjectID, limit int) ([]Failure, error)
	// Depth describes the queue.
	Depth(ctx context.Context, project mapping.ObjectID) (Depth, error)
}

// Ledger keeps the conflicts until they are dropped.
type Ledger interface {
	// PutConflict stores an entry under its ID, replacing an earlier state of it.
	PutConflict(ctx context.Context, c mapping.Conflict) error
	// Conflict returns one entry, or ErrNotFound.
	Conflict(ctx context.Context, project mapping.ObjectID, id string) (mapping.Conflict, error)
	// Conflicts pages through a project's entries, newest first.
	Conflicts(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (cs []mapping.Conflict, next string, err error)
	// ConflictsBefore is Conflicts for entries with an At before a time, to the millisecond. Only
	// the first page uses the time.
	ConflictsBefore(ctx context.Context, project mapping.ObjectID, before time.Time, cursor string, limit int) (cs []mapping.Conflict, next string, err error)
	// DropConflicts removes the given entries of a project and returns their number. An entry
	// that changed since it was read stays.
	DropConflicts(ctx context.Context, project mapping.ObjectID, cs []mapping.Conflict) (int, error)
}

// Leases are named locks between replicas (one poller per project).
type Leases interface {
	// Acquire takes or extends the lease name for owner. It reports false while another owner
	// holds the lease. The lease ends with the session of this handle, where that is over before.
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
	// Release gives the lease back if owner still holds it.
	Release(ctx context.Context, name, owner string) error
	// Take takes items from a shared budget: as many as it can give of those that the Ask wants.
	// Where it gives none, the Grant says when to ask again.
	Take(ctx context.Context, b Budget, a Ask) (Grant, error)
	// Taken counts the items that a budget gave in the last minute and in the last hour.
	Taken(ctx context.Context, name string) (minute, hour int, err error)
	// Hold closes name for at least d from now, for every replica. It never shortens an earlier
	// Hold.
	Hold(ctx context.Context, name string, d time.Duration) error
	// Held returns how much longer each name is closed, 0 where it is open.
	Held(ctx context.Context, names ...string) ([]time.Duration, error)
}

// State keeps small named documents and the poll's marks.
type State interface {
	// Doc returns a document, or ErrNotFound.
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
	// PutDoc stores a document.
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
	// Docs lists, in order, the names of a project's documents with a prefix.
	Docs(ctx context.Context, project mapping.ObjectID, prefix string) ([]string, error)
	// DropDoc removes a document that still holds data. It reports whether it did.
	DropDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) (bool, error)
	// Marks returns the poll's marks of a set, in the order of their ids.
	Marks(ctx context.Context, project mapping.ObjectID, set string) ([]Mark, error)
	// PutMarks adds or replaces marks of a set.
	PutMarks(ctx context.Context, project mapping.ObjectID, set string, marks map[string]string) error
	// DropMarks removes marks of a set. A missing mark is no error.
	DropMarks(ctx context.Context, project mapping.ObjectID, set string, ids []string) error
}
