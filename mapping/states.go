package mapping

import (
	"fmt"
	"time"
)

// LinkState is the stage of a root link's life.
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

// PairEvent is an event of a pair that may change its state.
type PairEvent string

// The events. Each says what has become true.
const (
	EventSeen         PairEvent = "seen"          // an item was seen that may enter
	EventWanted       PairEvent = "wanted"        // a partner is to be made
	EventFound        PairEvent = "found"         // both items are there already
	EventLineless     PairEvent = "lineless"      // our task is there, and its line is not
	EventBegun        PairEvent = "begun"         // the item enters: the intent to make its partner is written
	EventCompleted    PairEvent = "completed"     // the partner is there
	EventReconsidered PairEvent = "reconsidered"  // whether the item enters has to be decided anew
	EventExcluded     PairEvent = "excluded"      // the item is not to be synchronised
	EventReadmitted   PairEvent = "readmitted"    // the item is to be synchronised again
	EventVanished     PairEvent = "vanished"      // an item is proven gone
	EventReappeared   PairEvent = "reappeared"    // the item is there again
	EventResumed      PairEvent = "resumed"       // the obstacle to the partner's create is gone
	EventRouteRemoved PairEvent = "route removed" // no route of the configuration has the name of the pair's
	EventRouteBack    PairEvent = "route back"    // one has it again
	EventUnlinked     PairEvent = "unlinked"      // an operator parted the pair
	EventRelinked     PairEvent = "relinked"      // an operator linked the pair
	EventErased       PairEvent = "erased"        // an operator had the pair's texts removed
)

const (
	// Unborn is the state of a pair before its first event.
	Unborn LinkState = ""
	// Remembered stands in the table for the state that a dormant pair came from.
	Remembered LinkState = "remembered"
)

// Transition is a row of the table of states. It has the next state of a pair in state From when
// Event happens to it, and the purpose of that.
type Transition struct {
	From  LinkState
	Event PairEvent
	To    LinkState
	Why   string
}

// Transitions is the table of the states of a pair. Its rows serve all kinds of pairs. These are an
// issue and its card, a sub-issue and its task, an issue's state and its tracking task, and a line
// and its task. A change that is not in it does not happen.
var Transitions = []Transition{
	{Unborn, EventSeen, Entering, "An issue or a card that may enter waits for its labels and its parent."},
	{Unborn, EventWanted, Creating, "A sub-issue, a task, a line or an issue's state has no partner yet. An issue and a card of people were joined, and no other project may have a partner of the issue."},
	{Unborn, EventFound, Linked, "A marker names both items after the store was lost."},
	{Unborn, EventLineless, Left, "A task carries the marker of a line, and the body has no such line."},

	{Entering, EventBegun, Creating, "Its route takes the item. The intent is saved before anything is made."},
	{Entering, EventCompleted, Linked, "The partner was made before the store was lost, and carries the marker."},
	{Creating, EventCompleted, Linked, "The partner was made, or found by its marker. A task says what the line says. No other project has a partner of a joined pair."},
	{Creating, EventReconsidered, Entering, "Another project is about to take the issue, too. Or the card's route makes issues in another repository now, or none."},

	{Linked, EventExcluded, Left, "The issue no longer matches its route, or was transferred to where no route is. The line was removed."},
	{Creating, EventExcluded, Left, "The issue was transferred to where no route is before its partner was made."},
	{Orphaned, EventExcluded, Left, "The issue that was gone was transferred to where no route is."},
	{Left, EventReadmitted, Linked, "The issue matches its route again. The line is there again."},
	{Left, EventResumed, Creating, "A route takes the issue where it is now, and its partner was not made yet."},

	{Linked, EventVanished, Orphaned, "Two reads of the item itself answered gone."},
	{Creating, EventVanished, Orphaned, "The item is gone before its partner was made."},
	{Left, EventVanished, Orphaned, "The item is gone while it was not synchronised."},
	{Orphaned, EventReappeared, Linked, "A read of the item succeeds. A new task says what the lost one said."},
	{Orphaned, EventResumed, Creating, "A read of the item succeeds, and its partner was not made yet."},

	{Entering, EventRouteRemoved, Dormant, whyDormant},
	{Creating, EventRouteRemoved, Dormant, whyDormant},
	{Linked, EventRouteRemoved, Dormant, whyDormant},
	{Left, EventRouteRemoved, Dormant, whyDormant},
	{Orphaned, EventRouteRemoved, Dormant, whyDormant},
	{Dormant, EventRouteBack, Remembered, "The pair goes on where it was interrupted."},

	{Entering, EventUnlinked, Dormant, whyUnlinked},
	{Creating, EventUnlinked, Dormant, whyUnlinked},
	{Linked, EventUnlinked, Dormant, whyUnlinked},
	{Left, EventUnlinked, Dormant, whyUnlinked},
	{Orphaned, EventUnlinked, Dormant, whyUnlinked},
	{Dormant, EventUnlinked, Dormant, "The pair stays dormant when its route comes back."},
	{Erased, EventUnlinked, Erased, "An erased pair is parted already."},
	{Dormant, EventRelinked, Linked, whyRelinked},
	{Left, EventRelinked, Linked, whyRelinked},
	{Orphaned, EventRelinked, Linked, whyRelinked},
	{Erased, EventRelinked, Linked, whyRelinked},
	{Dormant, EventResumed, Creating, "An operator linked a pair again that was joined but not yet taken up."},

	{Entering, EventErased, Erased, whyErased},
	{Creating, EventErased, Erased, whyErased},
	{Linked, EventErased, Erased, whyErased},
	{Left, EventErased, Erased, whyErased},
	{Orphaned, EventErased, Erased, whyErased},
	{Dormant, EventErased, Erased, whyErased},
	{Erased, EventErased, Erased, "What was left of an interrupted erasure goes, too."},
}

const (
	whyDormant  = "Nothing is decided without the route's settings. The pair remembers its state."
	whyUnlinked = "An operator parted the pair. Neither item enters again."
	whyRelinked = "An operator linked the pair. What differs is a conflict without a base."
	whyErased   = "An operator had every text of the pair removed."
)

// TransitionError is an event that the table of states does not have in a state.
type TransitionError struct {
	From  LinkState
	Event PairEvent
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("no transition for %q in state %q", string(e.Event), string(e.From))
}

// FindTransition returns the row for an event in a state, or a [TransitionError].
func FindTransition(from LinkState, e PairEvent) (Transition, error) {
	for _, t := range Transitions {
		if t.From == from && t.Event == e {
			return t, nil
		}
	}
	return Transition{}, &TransitionError{from, e}
}

// born is the state in which a pair begins.
func born(e PairEvent) LinkState {
	t, err := FindTransition(Unborn, e)
	if err != nil {
		panic(err) // a constructor of this package uses an event that the table does not have
	}
	return t.To
}

// Advance changes the pair's state as the table has it. The reason for the former state is removed.
// An event that the table does not have changes nothing.
func (p *Pair) Advance(e PairEvent) error {
	t, err := FindTransition(p.State, e)
	if err != nil {
		return err
	}
	if t.To == Remembered {
		t.To = p.remembered()
	}
	switch {
	case t.To != Dormant:
		p.Suspended = ""
	case t.From != Dormant:
		p.Suspended = t.From
	}
	p.State, p.Why = t.To, ""
	return nil
}

// remembered is the state that a dormant pair came from. An older release did not record it; then
// the missing parts of the pair tell it.
func (p *Pair) remembered() LinkState {
	switch {
	case p.Suspended != "":
		return p.Suspended
	case p.Intent != nil:
		return Creating
	case !p.Whole():
		return Entering
	}
	return Linked
}

// WithoutProject makes a link dormant, as its project is not in the configuration and nobody works
// it. A link that is already dormant or erased stays as it is.
func (l *Link) WithoutProject() {
	if l.Advance(EventRouteRemoved) == nil {
		l.Why = WhyWithoutProject(l.Project)
	}
}

// WhyWithoutProject says why the links of a project that is not in the configuration are dormant.
func WhyWithoutProject(project ObjectID) string {
	return "planning.projects does not name its project " + string(project)
}

// CardApart makes the record of the link's card, which an operator parted from its issue; at is now.
// The issue gets another card. This one stays parted, so that it does not enter again.
func (l *Link) CardApart(at time.Time) (*Link, error) {
	route := Route{Name: l.Route, Project: l.Project}
	apart := route.begin(EventSeen, Planning, at)
	apart.Card, apart.Parted, apart.Clean, apart.Why = l.Card, true, l.Clean, l.Why
	return apart, apart.Advance(EventUnlinked)
}

// Relink resumes a pair that an operator linked. Its items get their markers back, and all are read:
// what people changed meanwhile was not kept.
func (l *Link) Relink() error {
	for _, p := range l.All() {
		p.MarkerRestored = ""
	}
	for _, p := range l.Issues() {
		p.Unfinished = true
	}
	l.Parted, l.Cleaning, l.Clean, l.Family.Listed = false, false, false, false
	switch {
	case l.State == Linked, l.State == Creating && l.Intent != nil: // it is being worked
		l.Why = ""
		return nil
	case l.Intent != nil:
		return l.Advance(EventResumed)
	}
	return l.Advance(EventRelinked)
}
