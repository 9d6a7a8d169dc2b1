package mapping

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// PairKind is the kind of a pair's two items.
type PairKind string

// The kinds of pairs.
const (
	Root      PairKind = ""          // an issue and its card
	SubIssue  PairKind = "sub-issue" // a sub-issue and its task
	Tracking  PairKind = "tracking"  // an issue's state and the task that carries it; a card has no writable one
	Checklist PairKind = "checklist" // a line of an issue's checklist and its task
)

// Pair is two items that are kept the same, or one that is to get its partner. All kinds of
// pairs have this record; fields that a kind does not use are zero.
type Pair struct {
	Kind  PairKind
	State LinkState
	// Origin is the side on which a person made the first item. The other
	// item was created by the bridge and carries the marker.
	Origin Side
	// Nonce is the secret part of this pair's marker (see Marker).
	Nonce string

	// Issue is the item on GitHub. A pair for a part of an issue (a line of its checklist, its
	// state) has none of its own.
	Issue IssueID
	// Item is the text of a line, in planning's form, as it was last seen or is to be written.
	// Lines of the body are in its order.
	Item string
	// Card is the item in planning: a card, or, unless the pair is a [Root], a task.
	Card CardID

	// Base holds what both sides last agreed on, per attribute. An attribute
	// without an entry has never been agreed on.
	Base map[Attribute]Base
	Journal
	// Intent is the create that may be under way.
	Intent *Intent
	Disputes
	Reads
	// Pace is how often the items are written.
	Pace Pace
	// Unfinished says that a write was made, and some observations are not handled yet. Both items
	// are read as a whole next time.
	Unfinished bool
	Mark
	Kin
	Transfer
	Rest
	Dates
}

// Disputes keep single attributes from agreeing, or undo their agreement.
type Disputes struct {
	// Refused holds values that a side does not take; they block their
	// attribute alone until they change.
	Refused map[Attribute]Refusal `json:"refused,omitempty"`
	// Held is GitHub's value of an attribute that only labels carry, while the sides do not agree on
	// it. A label with any other value is newer.
	Held map[Attribute]string `json:"held,omitempty"`
	// Asking maps an attribute to the id of the ledger entry that waits for a
	// person's answer (policy ask).
	Asking map[Attribute]string `json:"asking,omitempty"`
	// Putting maps an attribute to the ledger entry of a question that is about to be asked: its
	// comment may not be there yet.
	Putting map[Attribute]string `json:"putting,omitempty"`
	// Undo maps an attribute to the ledger entry whose loser an operator wants
	// back.
	Undo map[Attribute]string `json:"undo,omitempty"`
}

// Reads records answers to reads that cannot be believed at once.
type Reads struct {
	// Gone counts, per side, the reads of the item itself in a row that
	// answered gone; two make the pair orphaned.
	Gone map[Side]int `json:"gone,omitempty"`
	// GoneSince is when the first of those reads was made: a side that lags answers gone for a new
	// item.
	GoneSince time.Time `json:"gone_since,omitzero"`
	// Unconfirmed says that the pair is orphaned and no later read has confirmed it yet. Nothing is
	// reported until then.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// BehindSince is when reads of the issue began to be older than its known state; zero:
	// they are not.
	BehindSince time.Time `json:"behind_since,omitzero"`
	// ReadFor names the snapshot for which the issue was last read, long enough after its second that
	// no later change can be of that second. While the key waits for another item, the issue is not
	// read for that snapshot again.
	ReadFor string `json:"read_for,omitempty"`
}

// Mark is the state of the pair's marker, beside its nonce.
type Mark struct {
	// MarkerRestored is the digest of the text, without our marker, that last got its marker back.
	// So the bridge does not write for ever to a service that removes it.
	MarkerRestored string `json:"remarked,omitempty"`
	Copied         bool   `json:"copied,omitempty"` // a person copied another pair's card or task to make this one's
}

// Kin is an issue's relation to other issues.
type Kin struct {
	// Join: the bridge made the sub-issue and still has to add it to its parent.
	Join bool `json:"join,omitempty"`
	// Parent is the database id of the parent that GitHub last reported. It is 0 before the first
	// report, and NoParentID after GitHub reported the loss of the parent.
	Parent int64 `json:"parent,omitempty"`
}

// NoParentID is the Kin.Parent of an issue that was taken out of its parent.
const NoParentID = -1

// Transfer records transfers of the issue.
type Transfer struct {
	// Away is the repository to which the issue was transferred, where no route of the project
	// takes it in. The pair is in state left until a route does, or the issue comes back.
	Away string `json:"away,omitempty"`
	// Former are the last database ids that the issue had before transfers, as late events still
	// name them.
	Former []int64 `json:"former,omitempty"`
}

// Rest describes a pair that is not synchronised.
type Rest struct {
	// Suspended is the state that a dormant pair returns to when its route is back; "" for a pair
	// that an older release made dormant.
	Suspended LinkState `json:"suspended,omitempty"`
	// Why is why a pair is in state left, orphaned or dormant.
	Why string `json:"why,omitempty"`
}

// Dates are the times when the pair was made, and when both sides were last known to agree.
type Dates struct {
	Created time.Time `json:"created"`
	Synced  time.Time `json:"synced,omitzero"`
}

// NewPart makes the pair of a sub-issue under a fresh nonce (see [NonceIn]); at is now. Its
// partner is to be made on the side other than origin.
func NewPart(origin Side, nonce string, at time.Time) *Pair {
	p := part(EventWanted, origin, nonce, at)
	p.Intent = &Intent{Side: origin.Other(), Nonce: nonce, At: at}
	return p
}

// FoundPart makes the pair of a sub-issue whose items both exist; at is now. The bridge made the
// one that carries the nonce.
func FoundPart(origin Side, nonce string, at time.Time) *Pair {
	return part(EventFound, origin, nonce, at)
}

func part(e PairEvent, origin Side, nonce string, at time.Time) *Pair {
	return &Pair{Kind: SubIssue, State: born(e), Origin: origin, Nonce: nonce, Dates: Dates{Created: at}}
}

// IsTask reports whether the pair's item in planning is a task of the root's card.
func (p *Pair) IsTask() bool { return p.Kind != Root }

// HasIssue reports whether the pair has an issue of its own.
func (p *Pair) HasIssue() bool { return p.Kind == Root || p.Kind == SubIssue }

// Partner names the pair's item in planning: a card, or a task.
func (p *Pair) Partner() Ref {
	if p.IsTask() {
		return TaskRef(p.Card.ID)
	}
	return CardRef(p.Card.ID)
}

// Where names the pair for people: the issue where there is one, else the item's id.
func (p *Pair) Where() string {
	if p.Issue.Number != 0 {
		return p.Issue.Repo + "#" + strconv.Itoa(p.Issue.Number)
	}
	return string(p.Card.ID)
}

// Refs lists the pair's items that are known by their ids.
func (p *Pair) Refs() []Ref {
	var refs []Ref
	if p.Issue.ID != 0 {
		refs = append(refs, IssueRef(p.Issue.ID))
	}
	if p.Card.ID != "" {
		refs = append(refs, p.Partner())
	}
	for _, id := range p.Former {
		refs = append(refs, IssueRef(id))
	}
	return refs
}

// Was reports whether the pair's issue was the given one before a transfer.
func (p *Pair) Was(issue int64) bool { return slices.Contains(p.Former, issue) }

// Whole reports whether both items of the pair are known and no create is open.
func (p *Pair) Whole() bool {
	return (p.Issue.ID != 0 || !p.HasIssue()) && p.Card.ID != "" && p.Intent == nil
}

// Joined reports whether a pair that is being created has both its items, and no request was sent to
// make one of them: people made both.
func (p *Pair) Joined() bool {
	return p.State == Creating && p.Intent != nil && p.Intent.Side == Planning && !p.Intent.Sent && p.Card.ID != ""
}

// AwaitsIssue reports whether the pair is a card whose issue is to be made, and certainly does not
// exist yet.
func (p *Pair) AwaitsIssue() bool {
	return p.Kind == Root && p.Origin == Planning && p.Issue.ID == 0 && (p.Intent == nil || !p.Intent.Sent)
}

// SetBase sets what both sides agree on for an attribute. A changed value ends the refusal of a
// value; a changed version alone does not.
func (p *Pair) SetBase(a Attribute, base Base) {
	if p.Base == nil {
		p.Base = map[Attribute]Base{}
	}
	if was, ok := p.Base[a]; !ok || was.GitHub != base.GitHub || was.Planning != base.Planning {
		delete(p.Refused, a)
	}
	p.Base[a] = base
	delete(p.Held, a)
}

// Older is the base, with the last values of the issue's labels where the sides do not agree on
// them. A label with another value is newer.
func (p *Pair) Older() map[Attribute]Base {
	if len(p.Held) == 0 {
		return p.Base
	}
	older := map[Attribute]Base{}
	maps.Copy(older, p.Base)
	for a, value := range p.Held {
		older[a] = Base{GitHub: value}
	}
	return older
}

// Agree records the base of a decision that was carried out. A text that was written again for its
// marker alone keeps the base that it had.
func (p *Pair) Agree(d Decision) {
	if _, based := p.Base[d.Attribute]; based || !d.Action.marks() {
		p.SetBase(d.Attribute, d.Base)
	}
}

// Questions are the ids of the open questions to people about the pair, and of those about to be
// asked.
func (p *Pair) Questions() []string {
	ids := slices.AppendSeq(slices.Collect(maps.Values(p.Asking)), maps.Values(p.Putting))
	slices.Sort(ids)
	return slices.Compact(ids)
}
