package mapping

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestTransitionsAreATable: one row for a state and an event, of states that there are,
// each of which can be reached and says why.
func TestTransitionsAreATable(t *testing.T) {
	t.Parallel()
	states := append(slices.Clone(LinkStates), Unborn)
	reached := map[LinkState]bool{Unborn: true}
	for i, row := range Transitions {
		if row.Why == "" || row.Event == "" {
			t.Errorf("%+v says too little", row)
		}
		if !slices.Contains(states, row.From) || !slices.Contains(LinkStates, row.To) && row.To != Remembered {
			t.Errorf("%+v is about no state", row)
		}
		if slices.ContainsFunc(Transitions[:i], func(o Transition) bool { return o.From == row.From && o.Event == row.Event }) {
			t.Errorf("%s and %s have two rows", row.From, row.Event)
		}
	}
	for range LinkStates {
		for _, row := range Transitions {
			reached[row.To] = reached[row.To] || reached[row.From]
		}
	}
	for _, s := range LinkStates {
		if !reached[s] {
			t.Errorf("no way leads to %s", s)
		}
	}
}

// TestAdvanceRefusesWhatTheTableDoesNotKnow: such an event is named and changes nothing.
func TestAdvanceRefusesWhatTheTableDoesNotKnow(t *testing.T) {
	t.Parallel()
	var events []PairEvent
	for _, row := range Transitions {
		if !slices.Contains(events, row.Event) {
			events = append(events, row.Event)
		}
	}
	refused := 0
	for _, from := range append(slices.Clone(LinkStates), Unborn) {
		for _, e := range events {
			row, known := FindTransition(from, e)
			l, c := Link{Pair: Pair{State: from, Rest: Rest{Suspended: Left, Why: "because"}}}, Pair{State: from}
			linkErr, childErr := l.Advance(e), c.Advance(e)
			if known == nil {
				if linkErr != nil || childErr != nil || row.To != Remembered && (l.State != row.To || c.State != row.To) || l.Why != "" {
					t.Errorf("%+v: %v, %v, %+v", row, linkErr, childErr, l)
				}
				continue
			}
			refused++
			var unknown *TransitionError
			if !errors.As(linkErr, &unknown) || unknown.From != from || unknown.Event != e || !errors.As(childErr, &unknown) {
				t.Errorf("%q in %q is refused with %v, %v", e, from, linkErr, childErr)
			}
			if l.State != from || l.Suspended != Left || l.Why != "because" || c.State != from {
				t.Errorf("%q in %q is refused and leaves %+v, %+v", e, from, l, c)
			}
		}
	}
	if refused == 0 {
		t.Error("the table knows every event in every state")
	}
}

// TestDormantRemembersItsState: a pair goes on where it was, after any interruption.
func TestDormantRemembersItsState(t *testing.T) {
	t.Parallel()
	for _, from := range []LinkState{Entering, Creating, Linked, Left, Orphaned} {
		l := Link{Pair: Pair{State: from}}
		for _, e := range []PairEvent{EventRouteRemoved, EventUnlinked, EventRouteBack} {
			if err := l.Advance(e); err != nil {
				t.Fatal(err)
			}
		}
		if l.State != from || l.Suspended != "" {
			t.Errorf("%s came back as %s, remembering %q", from, l.State, l.Suspended)
		}
	}
}

// TestDormantOfAnOlderReleaseIsToldByWhatItLacks: those did not keep the state.
func TestDormantOfAnOlderReleaseIsToldByWhatItLacks(t *testing.T) {
	t.Parallel()
	for want, l := range map[LinkState]Link{
		Linked:   {Pair: Pair{Issue: IssueID{ID: 1}, Card: CardID{ID: "c"}}},
		Creating: {Pair: Pair{Issue: IssueID{ID: 1}, Intent: &Intent{}}},
		Entering: {Pair: Pair{Issue: IssueID{ID: 1}}},
	} {
		l.State = Dormant
		if err := l.Advance(EventRouteBack); err != nil || l.State != want {
			t.Errorf("%+v, %v, want %s", l, err, want)
		}
	}
}

// TestConstructorsAreInTheTable: no way of making a link panics.
func TestConstructorsAreInTheTable(t *testing.T) {
	t.Parallel()
	r, at := &Route{Name: "web", Project: "p"}, time.Now()
	for want, got := range map[*Pair]LinkState{
		&r.EnterIssue(&Issue{ID: 1}, at).Pair:                             Entering,
		&r.EnterCard(&Card{ID: "c"}, at).Pair:                             Entering,
		&r.JoinIssue(&Issue{ID: 1}, CardID{ID: "c"}, at).Pair:             Creating,
		NewPart(GitHub, NewNonceIn(r.Project), at):                        Creating,
		FoundPart(GitHub, "nonce", at):                                    Linked,
		&r.RebuildFromIssue(&Issue{ID: 1}, Marker{Partner: "c"}, at).Pair: Linked,
	} {
		if want.State != got {
			t.Errorf("%+v, want state %s", want, got)
		}
	}
}

// TestRefusedTransitionIsNamed: the error says which event met which state.
func TestRefusedTransitionIsNamed(t *testing.T) {
	t.Parallel()
	p := Pair{State: Erased}
	if err := p.Advance(EventFound); err == nil || err.Error() != `no transition for "found" in state "erased"` {
		t.Errorf("the error is %v", err)
	}
}

// TestWithoutProject has a row for each state: a worked link rests, and says that its project is
// not configured; a resting one keeps its reason.
func TestWithoutProject(t *testing.T) {
	t.Parallel()
	for from, rests := range map[LinkState]bool{
		Entering: true, Creating: true, Linked: true, Left: true, Orphaned: true, Dormant: false, Erased: false,
	} {
		l := Link{Project: "5447", Pair: Pair{State: from, Rest: Rest{Why: "before"}}}
		l.WithoutProject()
		switch {
		case rests && (l.State != Dormant || l.Suspended != from || l.Why != "planning.projects does not name its project 5447"):
			t.Errorf("%s became %+v", from, l.Pair)
		case !rests && (l.State != from || l.Why != "before"):
			t.Errorf("%s, which rests, became %+v", from, l.Pair)
		}
	}
}
