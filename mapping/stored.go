package mapping

import (
	"encoding/json"
	"time"
)

// A record keeps the stored form of the releases before [Pair], so that one store serves both.
// A part has the form of a root link, and a task without an issue has a form of its own.

// storedLink is the stored form of a root link, and of each of its parts.
type storedLink struct {
	ID      LinkID             `json:"id"`
	Project ObjectID           `json:"project"`
	Route   string             `json:"route"`
	State   LinkState          `json:"state"`
	Origin  Side               `json:"origin"`
	Nonce   string             `json:"nonce"`
	Issue   IssueID            `json:"issue"`
	Card    CardID             `json:"card"`
	Base    map[Attribute]Base `json:"base,omitempty"`
	Journal
	Intent *Intent `json:"intent,omitempty"`
	Disputes
	Children []storedChild `json:"children,omitempty"`
	Task     bool          `json:"task,omitempty"` // it is a part
	Parts    []*storedLink `json:"parts,omitempty"`
	Family   storedFamily  `json:"family,omitzero"`
	Reads
	Deferred   Deferred `json:"deferred,omitzero"`
	Unfinished bool     `json:"unfinished,omitempty"`
	Mark
	Review   string      `json:"review,omitempty"`
	Shown    *Shown      `json:"shown,omitempty"`
	Pace     Pace        `json:"pace,omitzero"`
	Import   string      `json:"import,omitempty"`
	Parted   bool        `json:"parted,omitempty"`
	Cleaning bool        `json:"cleaning,omitempty"`
	Clean    bool        `json:"clean,omitempty"`
	Moving   *Moving     `json:"moving,omitempty"`
	Before   *FormerCard `json:"before,omitempty"`
	Transfer
	Rest
	Epoch string `json:"epoch,omitempty"`
	Dates
}

type storedFamily struct {
	Family
	Kin
}

// storedChild is the stored form of a task without an issue.
type storedChild struct {
	Kind   PairKind  `json:"kind"`
	State  LinkState `json:"state"`
	Origin Side      `json:"origin,omitempty"`
	Nonce  string    `json:"nonce"`
	Item   string    `json:"item,omitempty"`
	Task   ObjectID  `json:"task,omitempty"`
	CID    int64     `json:"cid,omitempty"` // of the task
	// GoneSince is when the task first answered gone, and did so since.
	GoneSince time.Time          `json:"gone_since,omitzero"`
	Base      map[Attribute]Base `json:"base,omitempty"`
	Pending   []Pending          `json:"pending,omitempty"`
	Late      []Pending          `json:"late,omitempty"`
	Intent    *Intent            `json:"intent,omitempty"`
	Disputes
	Mark
}

// MarshalJSON implements json.Marshaler.
func (l Link) MarshalJSON() ([]byte, error) {
	s := l.stored(&l.Pair)
	s.Family.Family, s.Deferred, s.Review, s.Shown = l.Family, l.Deferred, l.Review, l.Shown
	s.Import, s.Parted, s.Cleaning, s.Clean, s.Epoch = l.Import, l.Parted, l.Cleaning, l.Clean, l.Epoch
	s.Moving, s.Before = l.Moving, l.Before
	for _, c := range l.Children {
		s.Children = append(s.Children, storedChild{
			c.Kind, c.State, c.Origin, c.Nonce, c.Item, c.Card.ID, c.Card.CID, c.GoneSince, c.Base, c.Pending, c.InFlight, c.Intent, c.Disputes, c.Mark,
		})
	}
	for _, p := range l.SubLinks {
		s.Parts = append(s.Parts, l.stored(p))
	}
	return json.Marshal(s)
}

// stored is the stored form of a pair that has an issue.
func (l *Link) stored(p *Pair) *storedLink {
	return &storedLink{
		ID: l.ID, Project: l.Project, Route: l.Route, State: p.State, Origin: p.Origin, Nonce: p.Nonce, Issue: p.Issue, Card: p.Card,
		Base: p.Base, Journal: p.Journal, Intent: p.Intent, Disputes: p.Disputes, Task: p.IsTask(), Family: storedFamily{Kin: p.Kin},
		Reads: p.Reads, Unfinished: p.Unfinished, Mark: p.Mark, Pace: p.Pace, Parted: p.State == Erased, Transfer: p.Transfer,
		Rest: p.Rest, Dates: p.Dates,
	}
}

// UnmarshalJSON implements json.Unmarshaler. Fields of parts that an earlier release wrote and
// never read are dropped.
func (l *Link) UnmarshalJSON(data []byte) error {
	var s storedLink
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*l = Link{
		ID: s.ID, Project: s.Project, Route: s.Route, Pair: s.pair(Root), Family: s.Family.Family, Deferred: s.Deferred,
		Review: s.Review, Shown: s.Shown, Import: s.Import, Parted: s.Parted, Cleaning: s.Cleaning, Clean: s.Clean, Epoch: s.Epoch,
		Moving: s.Moving, Before: s.Before,
	}
	for _, c := range s.Children {
		l.Children = append(l.Children, &Pair{
			Kind: c.Kind, State: c.State, Origin: c.Origin, Nonce: c.Nonce, Item: c.Item, Card: CardID{ID: c.Task, CID: c.CID}, Base: c.Base,
			Journal: Journal{Pending: c.Pending, InFlight: c.Late}, Intent: c.Intent, Disputes: c.Disputes, Mark: c.Mark,
			Reads: Reads{GoneSince: c.GoneSince},
		})
	}
	for _, part := range s.Parts {
		p := part.pair(SubIssue)
		l.SubLinks = append(l.SubLinks, &p)
	}
	return nil
}

func (s *storedLink) pair(kind PairKind) Pair {
	return Pair{
		Kind: kind, State: s.State, Origin: s.Origin, Nonce: s.Nonce, Issue: s.Issue, Card: s.Card, Base: s.Base, Journal: s.Journal,
		Intent: s.Intent, Disputes: s.Disputes, Reads: s.Reads, Pace: s.Pace, Unfinished: s.Unfinished, Mark: s.Mark, Kin: s.Family.Kin,
		Transfer: s.Transfer, Rest: s.Rest, Dates: s.Dates,
	}
}
