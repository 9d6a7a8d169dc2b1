package mapping

import (
	"strconv"
	"time"
)

// LinkState says where a root link is in its life.
type LinkState string

// The states of a link.
const (
	// Entering: an issue was seen that may enter; it waits for its labels and
	// its parent (github.enter_delay) before anything is created.
	Entering LinkState = "entering"
	// Creating: the intent to create the partner is written; the partner may
	// or may not exist.
	Creating LinkState = "creating"
	// Linked: both items exist and are kept the same.
	Linked LinkState = "linked"
	// Left: the issue no longer matches its route's filter; nothing is
	// synchronised until it matches again.
	Left LinkState = "left"
	// Orphaned: one of the two items is proven gone.
	Orphaned LinkState = "orphaned"
	// Dormant: the link's route is no longer configured.
	Dormant LinkState = "dormant"
	// Erased: an operator had every text of the pair removed. Nothing is
	// synchronised until an operator links it again.
	Erased LinkState = "erased"
)

// LinkStates lists every state, in the order of a link's life.
var LinkStates = []LinkState{Entering, Creating, Linked, Left, Orphaned, Dormant, Erased}

// Which issues an import takes.
const (
	ImportOpen = "open" // those that are open
	ImportAll  = "all"  // closed ones, too
)

// Link is the durable record of a root link: the pair issue ↔ card with its
// sub-issues and tasks. It is changed only under the lease of its key.
type Link struct {
	ID      LinkID    `json:"id"`
	Project ObjectID  `json:"project"` // the planning project, which also says where the link is stored
	Route   string    `json:"route"`   // name of the route that took it
	State   LinkState `json:"state"`
	// Origin is the side on which a person made the first item. The other
	// item was created by the bridge and carries the marker.
	Origin Side `json:"origin"`
	// Nonce is the secret part of this link's marker (see Marker).
	Nonce string `json:"nonce"`

	Issue IssueID `json:"issue"`
	Card  CardID  `json:"card"`

	// Base holds what both sides last agreed on, per attribute. An attribute
	// without an entry has never been agreed on.
	Base map[Attribute]Base `json:"base,omitempty"`
	Journal
	// Intent is the create that may be under way for the root pair.
	Intent *Intent `json:"intent,omitempty"`
	// Refused holds values that a side does not take; they block their
	// attribute alone until they change.
	Refused map[Attribute]Refusal `json:"refused,omitempty"`
	// Asking maps an attribute to the id of the ledger entry that waits for a
	// person's answer (policy ask).
	Asking map[Attribute]string `json:"asking,omitempty"`
	// Undo maps an attribute to the ledger entry whose loser an operator wants
	// back.
	Undo map[Attribute]string `json:"undo,omitempty"`
	// Children are the tasks of the card that belong to this link: its
	// tracking task, and the partners of checklist items.
	Children []Child `json:"children,omitempty"`
	// Task says that this is no root link but a part of one: its issue is a
	// sub-issue, and Card names the sub-issue's task.
	Task bool `json:"task,omitempty"`
	// Parts are the sub-issues of the issue with their tasks: each is a link
	// of its own, with the root's ID and a nonce of its own, and is kept in
	// the root's record, so that one key covers them all.
	Parts []*Link `json:"parts,omitempty"`
	// Family is what a root link remembers of its sub-issues and tasks as a
	// whole, and a part of the sub-issue's place among them.
	Family Family `json:"family,omitzero"`
	// Gone counts, per side, the reads of the item itself in a row that
	// answered gone; two make the link orphaned.
	Gone map[Side]int `json:"gone,omitempty"`
	// GoneSince is when the first of those reads was made: a side that lags
	// answers gone for what it does not know yet.
	GoneSince time.Time `json:"gone_since,omitzero"`
	// Unconfirmed says that the link was orphaned and that no later look has confirmed
	// it yet: until then nobody is told.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// BehindSince is when reads of the issue began to be older than what is known of it;
	// zero: they are not.
	BehindSince time.Time `json:"behind_since,omitzero"`
	// Deferred is how often in a row the link's key was put off.
	Deferred Deferred `json:"deferred,omitzero"`
	// Unfinished says that something was written but not everything that was
	// seen has been dealt with: both items are to be read in full next time.
	Unfinished bool `json:"unfinished,omitempty"`
	// Remarked is the digest of the text, without our marker, to which the
	// marker was last given back: a service that takes it off again is not
	// written to for ever.
	Remarked string `json:"remarked,omitempty"`
	Copied   bool   `json:"copied,omitempty"` // a person copied another link's card or task to make this one's
	// Review is the iterationReview that was last acted on, so that a person
	// can reopen an issue that an approval closed.
	Review string `json:"review,omitempty"`
	// Shown is what of the card only shows on the issue; nil while nothing of
	// it was ever shown.
	Shown *Shown `json:"shown,omitempty"`
	// Pace is how often the items are written.
	Pace Pace `json:"pace,omitzero"`
	// Import says which issues the import took that made the link (one of the
	// ImportXxx constants); "" for a link that no import made.
	Import string `json:"import,omitempty"`
	// Parted says that an operator unlinked the pair: it stays dormant, though
	// its route is configured, until an operator links it again.
	Parted bool `json:"parted,omitempty"`
	// Away is the repository to which the issue was transferred, where no
	// route of the link's project takes it in: the link is left until one
	// does, or the issue comes back.
	Away string `json:"away,omitempty"`
	// Former are the database ids that the issue had before it was transferred,
	// the last of them: what comes late is still about it.
	Former []int64 `json:"former,omitempty"`
	// Suspended is the state that a dormant link returns to when its route is back; "" of
	// a link that an older release made dormant.
	Suspended LinkState `json:"suspended,omitempty"`
	// Why is why a link stands in state left, orphaned or dormant.
	Why string `json:"why,omitempty"`

	// Epoch is the digest of the store's epoch under which the pair was made by
	// the bridge; "" where it was not, or that is not known. A store of that epoch
	// knows everything that was made for the pair since.
	Epoch string `json:"epoch,omitempty"`

	Created time.Time `json:"created"`
	Synced  time.Time `json:"synced,omitzero"` // when both sides were last known to agree
}

// IssueID names the issue of a link and the newest snapshot of it that was
// taken into account.
type IssueID struct {
	ID     int64  `json:"id,omitempty"` // 0 while the issue is not created
	NodeID string `json:"node,omitempty"`
	Repo   string `json:"repo,omitempty"`
	RepoID int64  `json:"repo_id,omitempty"`
	Number int    `json:"number,omitempty"`
	Author string `json:"author,omitempty"`
	// Born is the issue's created_at, by which one that was transferred
	// without a word is known again.
	Born time.Time `json:"born,omitzero"`
	// UpdatedAt and Digest are those of the newest snapshot taken into
	// account: what is older is stale, what is of the same second with
	// another digest forces a read.
	UpdatedAt time.Time `json:"updated,omitzero"`
	Digest    string    `json:"digest,omitempty"`
	// Agreed is the updated_at of the newest snapshot that showed nothing but what
	// both sides had agreed on: what differs from that was edited since then.
	Agreed time.Time `json:"agreed,omitzero"`
}

// Place takes in where a snapshot shows the card. Only listings tell the
// bucket's title: it stays known where a snapshot without it shows no bucket, as
// in a sprint, or the same one by either of its ids.
func (c *CardID) Place(card *Card) {
	switch {
	case card.Bucket == "" && c.BucketName == "":
		c.BucketName = c.Made
	case card.Bucket != "" && (card.BucketName != "" || card.Bucket != c.Bucket && card.Bucket != c.StateID):
		c.Bucket, c.BucketName, c.StateID, c.Made = card.Bucket, card.BucketName, card.StateID, ""
	}
}

// CardID names the card of a link and the newest version of it that was taken
// into account.
type CardID struct {
	ID              ObjectID `json:"id,omitempty"` // "" while the card is not created
	CID             int64    `json:"cid,omitempty"`
	Bucket          ObjectID `json:"bucket,omitempty"` // where the card was made or last seen
	BucketName      string   `json:"bucket_name,omitempty"`
	StateID         ObjectID `json:"state_id,omitempty"` // Card.StateID, as it was there
	Made            string   `json:"made,omitempty"`     // title of the bucket it was made in, until one is seen
	Version         int64    `json:"version,omitempty"`
	CountersVersion int64    `json:"counters_version,omitempty"`
}

// Deferred counts how often in a row a key was put off, since when.
type Deferred struct {
	Count int       `json:"n"`
	Since time.Time `json:"since"`
}

// Intent is the record of one create, saved before it is made.
type Intent struct {
	Side  Side      `json:"side"` // where the item is being created
	Nonce string    `json:"nonce"`
	At    time.Time `json:"at"`
	// Sent is set once the request may have left; until then nothing can
	// have been created.
	Sent bool `json:"sent,omitempty"`
	// Alone is the database id of the issue of which no other project can have a
	// partner since; 0 while that was not looked for, or need not be.
	Alone int64 `json:"alone,omitempty"`
	// Base is the base once the item exists as it was sent.
	Base map[Attribute]Base `json:"base,omitempty"`
	// After is, on GitHub, the highest issue number known when the intent was
	// written: the item, if made, has a higher one.
	After int `json:"after,omitempty"`
	// Looked is when the last complete lookup that found nothing began;
	// Lookups counts them.
	Looked  time.Time `json:"looked,omitzero"`
	Lookups int       `json:"lookups,omitempty"`
	// Most bounds how many items the request may make, after one of more was
	// refused; 0: as many as a batch holds.
	Most int `json:"most,omitempty"`
}

// Refusal is a value that a side does not take.
type Refusal struct {
	Side  Side      `json:"side"`
	Value string    `json:"value"` // digest of the refused value
	Words string    `json:"words"` // the service's own
	At    time.Time `json:"at"`
}

// ChildKind says what a task on the card stands for.
type ChildKind string

// The kinds of children.
const (
	Tracking  ChildKind = "tracking"  // carries the issue's state; a card has no writable one
	Checklist ChildKind = "checklist" // a checklist item of the issue's body
)

// Child is a task of the card with what it stands for on GitHub.
type Child struct {
	Kind ChildKind `json:"kind"`
	// State is Creating while one of the two is made, Linked while both are
	// there, Left where a checklist item's line was removed (planning cannot
	// delete its task), Orphaned where the task is gone.
	State  LinkState `json:"state"`
	Origin Side      `json:"origin,omitempty"`
	Nonce  string    `json:"nonce"`
	// Item is the text of a checklist item as it was last seen, or is to be
	// written, in planning's form. Items that have a line stand in its order.
	Item string   `json:"item,omitempty"`
	Task ObjectID `json:"task,omitempty"`
	// GoneSince is when the task first answered gone, and did so since.
	GoneSince time.Time             `json:"gone_since,omitzero"`
	Base      map[Attribute]Base    `json:"base,omitempty"`
	Pending   []Pending             `json:"pending,omitempty"`
	Late      []Pending             `json:"late,omitempty"`
	Intent    *Intent               `json:"intent,omitempty"`
	Refused   map[Attribute]Refusal `json:"refused,omitempty"`
	Asking    map[Attribute]string  `json:"asking,omitempty"`
	Undo      map[Attribute]string  `json:"undo,omitempty"`
}

// Child returns the link's child of the given kind, or nil. It is meant for
// kinds of which there is at most one.
func (l *Link) Child(kind ChildKind) *Child {
	for i := range l.Children {
		if l.Children[i].Kind == kind {
			return &l.Children[i]
		}
	}
	return nil
}

// Where names the link for people: the issue where there is one, else the card's id.
func (l *Link) Where() string {
	if l.Issue.Number != 0 {
		return l.Issue.Repo + "#" + strconv.Itoa(l.Issue.Number)
	}
	return string(l.Card.ID)
}

// Refs lists every item that belongs to the link and is known by its id; the
// store indexes the link under each.
func (l *Link) Refs() []Ref {
	var refs []Ref
	if l.Issue.ID != 0 {
		refs = append(refs, IssueRef(l.Issue.ID))
	}
	if l.Card.ID != "" {
		refs = append(refs, l.Partner())
	}
	for _, id := range l.Former {
		refs = append(refs, IssueRef(id))
	}
	for _, p := range l.Parts {
		refs = append(refs, p.Refs()...)
	}
	for i := range l.Children {
		if task := l.Children[i].Task; task != "" {
			refs = append(refs, TaskRef(task))
		}
	}
	return refs
}

// Entry is one line of a link's history: what was done to it and why. It is
// shown by explain, newest first, and bounded by the store.
type Entry struct {
	At        time.Time `json:"at"`
	Side      Side      `json:"side,omitempty"` // where it was written; "" where nothing was
	Attribute Attribute `json:"attr,omitempty"`
	What      string    `json:"what"` // "write", "agree", "conflict", "create" …
	Why       string    `json:"why"`
	Delivery  string    `json:"delivery,omitempty"` // what led to it, where known
	Who       string    `json:"who,omitempty"`      // the login of who caused it, where known
	Took      float64   `json:"took,omitempty"`     // seconds since the change was seen; 0: not known
}

// Conflict is an entry of the conflict ledger: two values that met, both kept
// whole.
type Conflict struct {
	ID      string   `json:"id"`
	Link    LinkID   `json:"link"`
	Project ObjectID `json:"project"`
	Route   string   `json:"route"`
	Where   string   `json:"where"` // acme/web#12
	// Task is the task whose value it is, where that is not the card's.
	Task      ObjectID  `json:"task,omitempty"`
	Attribute Attribute `json:"attr"`
	Base      *Base     `json:"base,omitempty"`
	GitHub    string    `json:"github"`   // GitHub's value, whole
	Planning  string    `json:"planning"` // planning's value, whole
	// Edited bounds when each side was edited, where people are asked because
	// these times did not tell which was later.
	Edited   map[Side]Interval `json:"edited,omitempty"`
	Winner   Side              `json:"winner"` // "" while it is asked
	Rule     string            `json:"rule"`   // which rule decided
	State    string            `json:"state"`  // see the ConflictXxx constants
	Comments []int64           `json:"comments,omitempty"`
	Posted   time.Time         `json:"posted,omitzero"` // when its comment was last sent, whatever the answer
	At       time.Time         `json:"at"`
	Again    time.Time         `json:"again,omitzero"` // when the same values met again last
	Settled  time.Time         `json:"settled,omitzero"`
}

// ConflictID names the meeting of two values of an item in planning. It follows
// from what met and from nothing that a store may forget: a link that is made
// anew, under whatever id, finds the entry and its comment again.
func ConflictID(item ObjectID, a Attribute, github, planning string) string {
	return digest([]string{string(item), string(a), canonical(a, github), canonical(a, planning)})
}

// Asked reports whether a person is asked about these very values of an
// attribute.
func (l *Link) Asked(a Attribute, github, planning string) bool {
	id, ok := l.Asking[a]
	return ok && id == ConflictID(l.Card.ID, a, github, planning)
}

// The states of a ledger entry.
const (
	ConflictOpen     = "open"     // asked; nobody has answered yet
	ConflictAnswered = "answered" // an operator chose; the choice is not yet written
	ConflictSettled  = "settled"
	ConflictUndone   = "undone" // the loser was written back
	ConflictErased   = "erased" // its texts were removed
)
