package mapping

import (
	"fmt"
	"time"
)

// A card cannot be moved to another project. An issue that needs a card there gets a new one. Its
// link hands it over to a link of that project, and rests without it.

// MovedWhy is the reason of a link whose issue now has a card in another project.
const MovedWhy = "its issue was moved to another project"

const (
	// LeftBehind is the [Entry].What of something that stays on the card of an issue that
	// moves.
	LeftBehind = "left behind"
	// Relocated is the [Entry].What of an issue that moves to another project.
	Relocated = "relocated"
	// Rerouted is the [Entry].What of a pair that has another route now.
	Rerouted = "rerouted"
	// Stayed is the [Entry].What of a pair whose move was cancelled.
	Stayed = "stayed"
	// LookMoved is the [IssueEvent].Look of an issue that a link of another project hands
	// over.
	LookMoved = "moved from another project"
)

// Moving says that an operator moves a link's issue to a card in another project. The fields name
// the link that takes it over. They are empty until it is chosen, and never change afterwards.
type Moving struct {
	Project ObjectID `json:"project,omitempty"`
	Route   string   `json:"route,omitempty"`
	Link    LinkID   `json:"link,omitempty"`
	Nonce   string   `json:"nonce,omitempty"`
	Issue   int64    `json:"issue,omitempty"` // its database id
}

// HandsOver reports whether the link that takes the issue over is chosen. m may be nil.
func (m *Moving) HandsOver() bool { return m != nil && m.Link != "" }

// HandedOver reports whether the link has handed its issue over and rests.
func (l *Link) HandedOver() bool { return l.Parted && l.Moving.HandsOver() }

// Stay cancels a move, unless the link that takes over is chosen.
func (l *Link) Stay() {
	if !l.Moving.HandsOver() {
		l.Moving = nil
	}
}

// AwaitsAnswer names an open question about the link, as the issue cannot move before the answer;
// "": there is none.
func (l *Link) AwaitsAnswer() string {
	for _, p := range l.All() {
		for a := range Sorted(p.Asking) {
			if p.Issue.Number == 0 {
				p = &l.Pair
			}
			return fmt.Sprintf("people are asked about the %s of %s: answer first", a, p.Where())
		}
	}
	return ""
}

// FormerCard is the card that an issue had in another project.
type FormerCard struct {
	Project ObjectID `json:"project"`
	Card    ObjectID `json:"card,omitempty"`
}

// MovePlan describes a move of one pair that is made, or would be.
type MovePlan struct {
	Steps    []CleanStep
	Stays    string // why the pair does not move; "": it does
	Hindered string // the reason that keeps the pair from moving yet; "": none
	Writes   int    // to GitHub
}

// Successor makes the link that takes the issue over; at is now. The projections that the
// bridge put on the issue belong to that link from now on.
func (l *Link) Successor(at time.Time) *Link {
	route := Route{Name: l.Moving.Route, Project: l.Moving.Project}
	next := route.begin(EventSeen, GitHub, at)
	next.ID, next.Nonce, next.Import = l.Moving.Link, l.Moving.Nonce, ImportAll
	next.Issue = l.Issue.Bare()
	next.Before = &FormerCard{l.Project, l.Card.ID}
	if s := l.Shown; s != nil {
		next.Shown = &Shown{Labels: s.Labels, Made: s.Made, Milestone: s.Milestone, Assignees: s.Assignees}
	}
	return next
}

// Bare returns the id of the same issue without a known snapshot.
func (i *IssueID) Bare() IssueID {
	return IssueID{ID: i.ID, NodeID: i.NodeID, Repo: i.Repo, RepoID: i.RepoID, Number: i.Number, Author: i.Author, Born: i.Born}
}

// GiveUpIssue leaves a link that has handed its issue over with its card alone. No other route then
// lets the card enter. The link also keeps the card before that one, which an erasure needs.
func (l *Link) GiveUpIssue() error {
	if err := l.Advance(EventUnlinked); err != nil {
		return err
	}
	*l = Link{
		ID: l.ID, Project: l.Project, Route: l.Route, Parted: true, Moving: l.Moving, Before: l.Before, Pair: Pair{
			Nonce: l.Nonce, Origin: GitHub, Card: l.Card, State: l.State, Dates: l.Dates, Rest: Rest{Why: MovedWhy},
		},
	}
	return nil
}
