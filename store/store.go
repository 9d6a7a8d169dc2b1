// Package store is the contract of planbridge's memory: which issue belongs to
// which card, what both sides last agreed on, and which links have to be
// looked at.
//
// Three back ends keep it: boltstore (one file, one process), redisstore (for
// production and for several replicas) and memstore (for simulations and tests).
// storetest holds them to the same suite. Every operation that touches several records is atomic and durable
// when it returns; times are the store's own clock where they decide anything.
package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"planbridge/mapping"
)

// A SizeError refuses a record that is over its bound. Nothing was stored.
type SizeError struct {
	Size, Bound int    // in bytes
	As          string // how they are measured
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the link's record has %d bytes %s, and its bound is %d", e.Size, e.As, e.Bound)
}

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
	// ErrAway: the store gave no answer, or cannot give one for now.
	ErrAway = errors.New("the store is away")
	// ErrNoRoom: the store takes no write until an operator gives it room.
	ErrNoRoom = errors.New("the store is full")
	// ErrSpoilt: what is stored of one key cannot be read or written.
	ErrSpoilt = errors.New("what is stored of it is spoilt")
	// ErrNotIndexed: Repair has yet to index what an earlier program stored.
	ErrNotIndexed = errors.New("the store is not indexed yet")
	// ErrSchema: the store was written by a newer program.
	ErrSchema = errors.New("store has a newer schema")
)

// Store is the whole memory. All methods are safe for concurrent use.
type Store interface {
	Links
	Queue
	Ledger
	Leases
	Sessions
	State
	Dumps

	// Ping reports whether the store can be reached and written.
	Ping(ctx context.Context) error
	// Epoch returns the store's random epoch, making one in an empty store
	// (or after Adopt). The handle remembers it; from then on every operation fails
	// with ErrEpoch once the store's epoch is another or missing.
	Epoch(ctx context.Context) (string, error)
	// Adopt makes the handle accept the store's present epoch (a fresh one
	// when there is none) after ErrEpoch, and returns it.
	Adopt(ctx context.Context) (string, error)
	// Scrub takes what was deleted off the disk, as far as that is this process's
	// to do: a database keeps deleted bytes until it uses their place again. It
	// may take as long as writing the whole store does.
	Scrub(ctx context.Context) error
	// Repair makes what the store says of a project twice agree, where its server
	// came back with a part of a write: a key that stands in no queue though it
	// is queued is due, and of two links with one item the index decides which
	// has it (Save tells the other ErrConflict). It counts anew what Tally tells, and
	// indexes what an earlier program stored. In a sound store it changes
	// nothing; others may use the project meanwhile.
	Repair(ctx context.Context, project mapping.ObjectID) error
	// Projects lists the projects that have a space in the store, whether they are
	// configured or not.
	Projects(ctx context.Context) ([]mapping.ObjectID, error)
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
	// FindByTraits lists links of whose issues one has one of some traits: those with
	// the first trait first, and those with one trait by their ids. Each stands there
	// once, and there are at most limit of them. Records that cannot be read may be
	// left out. ErrNotIndexed until Repair has seen to what an earlier program stored.
	FindByTraits(ctx context.Context, project mapping.ObjectID, traits []mapping.Trait, limit int) ([]mapping.LinkID, error)
	// List pages through the links of a project in a stable order. Begin with
	// the cursor ""; the next cursor is "" after the last page. A link that
	// is made or removed meanwhile may or may not be seen; others are seen
	// exactly once.
	List(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (links []*mapping.Link, next string, err error)
	// Tally counts what a project has. The counts are kept where records are saved
	// and keys change their place: asking costs the same however many there are.
	Tally(ctx context.Context, project mapping.ObjectID) (Tally, error)
	// History returns what was done to a link, newest first: within
	// mapping.MaxHistory entries and mapping.MaxHistoryBytes bytes, the newest entry in any case.
	// A reason beyond mapping.MaxWhy was cut.
	History(ctx context.Context, key Key, limit int) ([]mapping.Entry, error)
}

// Observation is one look at one item: a webhook's payload, a polled card. One that
// brings no event, and a snapshot that is not newer than what the key's inbox has, is
// no change: it does not take up a key that was parked, or is being worked and then
// parked. A key that is queued or worked is due after it all the same.
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
	// Own says that the event is one of our own account's, of which the link's record
	// mostly knows. Such events are bounded by themselves: they push no other out.
	Own bool

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
	Err       error // ErrFull or ErrSpoilt for this observation alone; nothing of it counts as stored
}

// Snapshot is an inbox slot: the newest observation of an item that has not
// been worked yet.
type Snapshot struct {
	At        int64     `json:"at"`
	Digest    string    `json:"digest"`
	Ambiguous bool      `json:"ambiguous,omitempty"` // two different snapshots of one At: read the item
	Data      []byte    `json:"data"`
	Seen      time.Time `json:"seen"` // store's clock, when it was first stored since the last Finish
}

// Claim is the right to work on one key until Until.
type Claim struct {
	Key   Key
	Token int64 // fencing token: higher for each claim of the key
	// Until is when the lease ends, on this process's monotonic clock, taken
	// before the store was asked, so that it never errs to the late side.
	Until time.Time
	// Session is what the lease ends with before that; "": it belongs to none.
	Session  Session
	Attempts int // failed attempts since the last success
	// Abandoned counts the claims since the last success that nobody ended: the
	// process ended, or the lease did. The count is stored with each claim and
	// taken back by Finish, so that it survives whatever ends the process. A
	// parked key that is taken up again has one of them forgotten.
	Abandoned int
	// AfterAbandoned: the claim before this one is among them.
	AfterAbandoned bool
	Link           *mapping.Link
	Inbox          map[mapping.Ref]Snapshot
	Events         [][]byte  // oldest first; those that are Own stand behind all others
	Due            time.Time // when the key became due, store's clock
	// Generation tells a change that arrived while the key was worked from
	// those that the claim carries.
	Generation int64
	// History is the link's history where Finish is to store it anew with its own entries, in
	// the form of the back end that gave it.
	History string
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
	// Reason is why the key is not done, or is looked at once more. It is kept with the
	// key for as long as the key stands where the outcome puts it, and shown to the
	// operator.
	Reason string
	// Unspent: the claim was no attempt (Park).
	Unspent bool
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
	// Hold: as Park, but only Enqueue takes the key up again. A change that came
	// while it was worked does not either.
	Hold
	// Erase: as Done, and what the key's history held before is forgotten.
	Erase
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
	Attempts int // those that failed and those that were abandoned
	At       time.Time
}

// Tally is how much there is of what a project keeps.
type Tally struct {
	Queued int       // keys that are queued or wait for a service, leased ones included
	Oldest time.Time // when the key that is overdue longest became due; zero: none is due
	// Links counts the links by route and state, and Failures the parked keys by
	// route. Both are nil while Repair has not yet counted what an earlier program
	// stored.
	Links    map[string]map[mapping.LinkState]int
	Failures map[string]int
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
	// link (then nothing is stored); a [SizeError] when the record is over
	// mapping.MaxRecord or mapping.MaxPlainRecord (nor then).
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
	// not be ended nothing is leased.
	FinishAndClaim(ctx context.Context, c *Claim, link *mapping.Link, history []mapping.Entry, out Outcome, ttl time.Duration) (*Claim, error)
	// Standing tells where a key stands; ErrNotFound where there is no such link.
	Standing(ctx context.Context, key Key) (Standing, error)
	// Standings lists the keys that are in the queue and not due, at most limit of
	// them, in the order of [CompareStandings]. What is worked is among them.
	Standings(ctx context.Context, project mapping.ObjectID, limit int) ([]Standing, error)
	// Queued is Standings with the keys that are due, too.
	Queued(ctx context.Context, project mapping.ObjectID, limit int) ([]Standing, error)
	// Wake makes the keys due that wait for a service, spread over the time
	// that perSecond of them allows and behind all live ones, and returns how many there were.
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
	// ConflictsBefore is Conflicts for the entries whose At is before a time, to the
	// millisecond. The time counts at the first page only.
	ConflictsBefore(ctx context.Context, project mapping.ObjectID, before time.Time, cursor string, limit int) (cs []mapping.Conflict, next string, err error)
	// DropConflicts removes those of a project's entries that still are as they are
	// given, and returns how many. An entry that was changed since it was read stays.
	DropConflicts(ctx context.Context, project mapping.ObjectID, cs []mapping.Conflict) (int, error)
}

// Leases are named locks between replicas (one poller per project).
type Leases interface {
	// Acquire takes or extends the lease name for owner. It reports false
	// while another owner holds it.
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
	// Release gives the lease back if owner still holds it.
	Release(ctx context.Context, name, owner string) error
	// Take takes items from a shared budget: as many of those that the Ask wants
	// as there are, or none, and then says when to ask again.
	Take(ctx context.Context, b Budget, a Ask) (Grant, error)
	// Taken counts the items that a budget gave within the last minute and the last hour.
	Taken(ctx context.Context, name string) (minute, hour int, err error)
	// Hold closes name for at least d from now, for every replica; it never
	// shortens an earlier Hold.
	Hold(ctx context.Context, name string, d time.Duration) error
	// Held returns for how much longer each name is closed, 0 where it is not.
	Held(ctx context.Context, names ...string) ([]time.Duration, error)
}

// State keeps small named documents and the poll's marks.
type State interface {
	// Doc returns a document, or ErrNotFound.
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
	// PutDoc stores a document.
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
	// Docs lists, in order, the names of a project's documents that begin with prefix.
	Docs(ctx context.Context, project mapping.ObjectID, prefix string) ([]string, error)
	// DropDoc removes a document that still holds data, and reports whether it did.
	DropDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) (bool, error)
	// Marks returns the poll's marks of a set: id to a short text.
	Marks(ctx context.Context, project mapping.ObjectID, set string) (map[string]string, error)
	// PutMarks adds or replaces marks of a set.
	PutMarks(ctx context.Context, project mapping.ObjectID, set string, marks map[string]string) error
	// DropMarks removes marks of a set. Those that are not there are no error.
	DropMarks(ctx context.Context, project mapping.ObjectID, set string, ids []string) error
}

// MarksCards names the set of marks with the cards that polls have seen.
const MarksCards = "cards"

// DocAdopted names the document, in a project's space, that holds the epoch
// for which a full poll has adopted every marked item. Nothing is created in a
// project while it differs from the store's epoch.
const DocAdopted = "adopted"

// DocsRepositoryAdopted begins the names of the documents that DocRepositoryAdopted names.
const DocsRepositoryAdopted = "adopted:"

// DocRepositoryAdopted names the document, in the space of no project, that says for which
// epoch the issues that planbridge made in a repository were listed.
func DocRepositoryAdopted(repo string) string {
	return DocsRepositoryAdopted + strings.ToLower(repo)
}

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
