package mapping

import (
	"slices"
	"time"
)

// Which issues an import takes.
const (
	ImportOpen = "open" // those that are open
	ImportAll  = "all"  // closed ones, too
)

// Deferred counts how often in a row a key was put off, and has the time of the first.
type Deferred struct {
	Count int       `json:"n"`
	Since time.Time `json:"since"`
}

// Link is the durable record of a root link: the pair of an issue and its card, with the
// pairs that hang on it. It is changed only under the lease of its key.
type Link struct {
	ID      LinkID
	Project ObjectID // the planning project, which also says where the link is stored
	Route   string   // name of the route that took it
	Pair
	// Children are the pairs of the card's tasks without an issue: the tracking task, and the
	// partners of checklist lines.
	Children []*Pair
	// SubLinks are the sub-issues of the issue with their tasks.
	SubLinks []*Pair
	// Family is the state of the sub-issues and tasks as a whole.
	Family Family
	// Deferred is how often in a row the link's key was put off.
	Deferred Deferred
	// Review is the iterationReview that was last acted on, so that a person
	// can reopen an issue that an approval closed.
	Review string
	// Shown is the projected part of the card; nil: nothing was ever projected.
	Shown *Shown
	// Import is the kind of issues that the import took which made the link (an ImportXxx
	// constant); "" for a link that no import made.
	Import string
	// Parted says that an operator unlinked the pair: it stays dormant, though
	// its route is configured, until an operator links it again.
	Parted bool
	// Cleaning says that an operator has the bridge's marks removed from both items, and the pair
	// parted then.
	Cleaning bool
	// Clean says that the items of the pair had no mark of the bridge when it was parted.
	Clean bool
	// Moving is the move of the issue to a card in another project; nil: it stays.
	Moving *Moving
	// Before is the card that the issue had in another project; nil: it had none.
	Before *FormerCard
	// Epoch is the digest of the store's epoch under which the bridge made the pair. It is "" where
	// a person made it, or the epoch is not known. A store of that epoch has a record of every item
	// made for the pair since.
	Epoch string
}

// All are the pairs of the record: the root itself, the pairs that hang on its card, and its parts.
func (l *Link) All() []*Pair {
	return slices.Concat([]*Pair{&l.Pair}, l.Children, l.SubLinks)
}

// Issues are the pairs of the record that have issues.
func (l *Link) Issues() []*Pair {
	return append([]*Pair{&l.Pair}, l.SubLinks...)
}

// Child returns the link's child of the given kind, or nil. Use it for kinds of which there is at
// most one.
func (l *Link) Child(kind PairKind) *Pair {
	for _, c := range l.Children {
		if c.Kind == kind {
			return c
		}
	}
	return nil
}

// Part returns the part that an item belongs to, by the [Ref] of its issue or
// its task, or nil.
func (l *Link) Part(ref Ref) *Pair {
	for _, p := range l.SubLinks {
		if p.Issue.ID != 0 && IssueRef(p.Issue.ID) == ref || p.Card.ID != "" && p.Partner() == ref {
			return p
		}
	}
	return nil
}

// Refs lists every item that belongs to the link and is known by its id; the
// store indexes the link under each.
func (l *Link) Refs() []Ref {
	refs := l.Pair.Refs()
	for _, p := range slices.Concat(l.SubLinks, l.Children) {
		refs = append(refs, p.Refs()...)
	}
	return refs
}

// OutlivesIssue reports whether the issue is gone while its card is not, and has tasks of
// sub-issues. These go on without it.
func (l *Link) OutlivesIssue() bool {
	return l.State == Orphaned && l.Gone[GitHub] > 0 && l.Gone[Planning] == 0 && len(l.SubLinks) > 0
}

// Was reports whether the link or one of its parts had an issue before a transfer.
func (l *Link) Was(issue int64) bool {
	return slices.ContainsFunc(l.Issues(), func(p *Pair) bool { return p.Was(issue) })
}
