package mapping

import (
	"slices"
	"testing"
	"time"
)

// TestSetBase has a row for each base that follows another one. New values end a refusal, and the
// held values of GitHub's labels. A raised version alone ends no refusal.
func TestSetBase(t *testing.T) {
	was := Base{GitHub: "3", Planning: "3", Version: 2}
	for name, tt := range map[string]struct {
		was     map[Attribute]Base
		now     Base
		refused bool
	}{
		"the first":                 {nil, Base{"3", "3", 2}, false},
		"the very same":             {map[Attribute]Base{Estimate: was}, was, true},
		"a counted version":         {map[Attribute]Base{Estimate: was}, Base{"3", "3", 5}, true},
		"another on GitHub":         {map[Attribute]Base{Estimate: was}, Base{"5", "3", 2}, false},
		"another in planning":       {map[Attribute]Base{Estimate: was}, Base{"3", "5", 2}, false},
		"others on both":            {map[Attribute]Base{Estimate: was}, Base{"5", "5", 3}, false},
		"the first, of nothing":     {nil, Base{}, false},
		"the same, spelt two ways":  {map[Attribute]Base{Estimate: {"3", "3.0", 2}}, Base{"3", "3.0", 4}, true},
		"each side has the other's": {map[Attribute]Base{Estimate: {"3", "5", 2}}, Base{"5", "3", 2}, false},
		"GitHub has planning's":     {map[Attribute]Base{Estimate: {"3", "5", 2}}, Base{"5", "5", 2}, false},
		"planning has GitHub's":     {map[Attribute]Base{Estimate: {"3", "5", 2}}, Base{"3", "3", 2}, false},
	} {
		p := Pair{Base: tt.was, Disputes: Disputes{
			Refused: map[Attribute]Refusal{Estimate: {Side: GitHub}, Title: {Side: Planning}},
			Held:    map[Attribute]string{Estimate: "8", State: StateDone},
		}}
		p.SetBase(Estimate, tt.now)
		if _, refused := p.Refused[Estimate]; refused != tt.refused || p.Base[Estimate] != tt.now {
			t.Errorf("%s: still refused %t, want %t; agreed is %v", name, refused, tt.refused, p.Base[Estimate])
		}
		if _, held := p.Held[Estimate]; held || p.Held[State] != StateDone || len(p.Refused) == 0 {
			t.Errorf("%s: held are %v, refused %v", name, p.Held, p.Refused)
		}
	}
}

// TestOlder: a label that GitHub had while the sides did not agree is older than any other, and the
// base stays what it is.
func TestOlder(t *testing.T) {
	base := func() map[Attribute]Base {
		return map[Attribute]Base{Title: {"t", "t", 1}, Estimate: {"3", "3", 2}}
	}
	for name, tt := range map[string]struct {
		held map[Attribute]string
		want map[Attribute]string // GitHub's values
	}{
		"nothing held":           {nil, map[Attribute]string{Title: "t", Estimate: "3"}},
		"an estimate held":       {map[Attribute]string{Estimate: "8"}, map[Attribute]string{Title: "t", Estimate: "8"}},
		"held without a base":    {map[Attribute]string{State: StateDone}, map[Attribute]string{Title: "t", Estimate: "3", State: StateDone}},
		"no label held any more": {map[Attribute]string{Estimate: ""}, map[Attribute]string{Title: "t", Estimate: ""}},
	} {
		p := Pair{Base: base(), Disputes: Disputes{Held: tt.held}}
		got := p.Older()
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v", name, got)
		}
		for a, want := range tt.want {
			if got[a].GitHub != want {
				t.Errorf("%s: %s was %q, want %q", name, a, got[a].GitHub, want)
			}
		}
		if p.Base[Estimate] != base()[Estimate] || len(p.Base) != 2 {
			t.Errorf("%s: the base became %v", name, p.Base)
		}
	}
}

// TestHeldLabelIsTheOlderOne: of two estimate labels the one that the issue had already is not new.
func TestHeldLabelIsTheOlderOne(t *testing.T) {
	scheme := LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"}
	issue := &Issue{Labels: []string{"points/8", "points/5"}}
	for held, want := range map[string]string{"8": "5", "5": "8"} {
		p := Pair{Base: map[Attribute]Base{Estimate: {"3", "3", 1}}, Disputes: Disputes{Held: map[Attribute]string{Estimate: held}}}
		if view, _ := IssueView(issue, scheme, Keys{}, p.Older()); view[Estimate].Value != want {
			t.Errorf("where %s was held the estimate is %s, want %s", held, view[Estimate].Value, want)
		}
	}
}

// TestAgree has a row for each decision that was carried out. Its base is agreed on, but nobody
// agreed on a text that got only its marker.
func TestAgree(t *testing.T) {
	now := Base{"new", "new", 4}
	for name, tt := range map[string]struct {
		action Action
		based  bool
		want   bool
	}{
		"a write":                           {ToPlan, false, true},
		"a write over a base":               {ToHub, true, true},
		"a value that both have":            {Adopt, false, true},
		"a marker put back":                 {RestoreMarker, false, false},
		"a marker put back, with a base":    {RestoreMarker, true, true},
		"a marker taken off":                {Unmark, false, false},
		"a marker taken off, with a base":   {Unmark, true, true},
		"a conflict":                        {ResolveConflict, false, true},
		"a merge":                           {MergeBoth, true, true},
		"what an operator brings back":      {Undo, false, true},
		"a question, of which nothing goes": {Ask, false, true},
	} {
		p := Pair{}
		if tt.based {
			p.Base = map[Attribute]Base{Summary: {"old", "old", 1}}
		}
		p.Agree(Decision{Attribute: Summary, Action: tt.action, Base: now})
		if got := p.Base[Summary] == now; got != tt.want {
			t.Errorf("%s: agreed is %v", name, p.Base)
		}
	}
}

// TestQuestionsOfAPair: each question once, those that are about to be asked too, in order.
func TestQuestionsOfAPair(t *testing.T) {
	p := Pair{Disputes: Disputes{
		Asking:  map[Attribute]string{Title: "c", State: "a"},
		Putting: map[Attribute]string{Summary: "b", Title: "c"},
	}}
	if got := p.Questions(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("people are asked %v", got)
	}
	if got := new(Pair).Questions(); len(got) != 0 {
		t.Errorf("about nothing people are asked %v", got)
	}
}

// TestWaitingCards has a row for each pair that waits for its issue, or does not. Only a card from
// planning waits, whose issue certainly was not made.
func TestWaitingCards(t *testing.T) {
	card := Pair{Origin: Planning, Card: CardID{ID: "c"}}
	for name, tt := range map[string]struct {
		change func(*Pair)
		want   bool
	}{
		"a card":                          {func(*Pair) {}, true},
		"its issue is about to be made":   {func(p *Pair) { p.Intent = &Intent{Side: GitHub} }, true},
		"its issue may have been made":    {func(p *Pair) { p.Intent = &Intent{Side: GitHub, Sent: true} }, false},
		"its issue is there":              {func(p *Pair) { p.Issue.ID = 7 }, false},
		"an issue's card":                 {func(p *Pair) { p.Origin = GitHub }, false},
		"a task that wants a sub-issue":   {func(p *Pair) { p.Kind = SubIssue }, false},
		"a line":                          {func(p *Pair) { p.Kind = Checklist }, false},
		"an issue with number, no id yet": {func(p *Pair) { p.Issue.Number = 12 }, true},
	} {
		p := card
		if tt.change(&p); p.AwaitsIssue() != tt.want {
			t.Errorf("%s: it waits %t, want %t", name, p.AwaitsIssue(), tt.want)
		}
	}
}

// TestJoinedPairs: two items of people are joined while a marker is still to be put on the card.
func TestJoinedPairs(t *testing.T) {
	for name, tt := range map[string]struct {
		pair Pair
		want bool
	}{
		"both are there":            {Pair{State: Creating, Intent: &Intent{Side: Planning}, Card: CardID{ID: "c"}}, true},
		"the card is to be made":    {Pair{State: Creating, Intent: &Intent{Side: Planning}}, false},
		"the issue is to be made":   {Pair{State: Creating, Intent: &Intent{Side: GitHub}, Card: CardID{ID: "c"}}, false},
		"nothing is to be made":     {Pair{State: Creating, Card: CardID{ID: "c"}}, false},
		"it was taken up long ago":  {Pair{State: Linked, Intent: &Intent{Side: Planning}, Card: CardID{ID: "c"}}, false},
		"it rests since":            {Pair{State: Dormant, Intent: &Intent{Side: Planning}, Card: CardID{ID: "c"}}, false},
		"it has not entered before": {Pair{State: Entering, Intent: &Intent{Side: Planning}, Card: CardID{ID: "c"}}, false},
	} {
		if got := tt.pair.Joined(); got != tt.want {
			t.Errorf("%s: joined %t, want %t", name, got, tt.want)
		}
	}
}

// TestRelink has a row for each state in which an operator links a pair again. It goes on as a pair
// of two items, or has its partner made, and the reason of its parting is removed.
func TestRelink(t *testing.T) {
	making := &Intent{Side: Planning}
	for name, tt := range map[string]struct {
		state  LinkState
		intent *Intent
		want   LinkState // "": it is refused
	}{
		"linked":                           {Linked, nil, Linked},
		"being created":                    {Creating, making, Creating},
		"being created, with nothing open": {Creating, nil, ""},
		"dormant":                          {Dormant, nil, Linked},
		"dormant, and was being created":   {Dormant, making, Creating},
		"left":                             {Left, nil, Linked},
		"left before it was made":          {Left, making, Creating},
		"orphaned":                         {Orphaned, nil, Linked},
		"orphaned before it was made":      {Orphaned, making, Creating},
		"erased":                           {Erased, nil, Linked},
		"not entered yet":                  {Entering, nil, ""},
		"not entered, and being made":      {Entering, making, ""},
		"erased while it was made":         {Erased, making, ""},
	} {
		l := &Link{
			Pair:   Pair{State: tt.state, Intent: tt.intent, Mark: Mark{MarkerRestored: "digest"}, Rest: Rest{Why: "parted"}, Dates: Dates{Created: time.Unix(1, 0)}},
			Parted: true, Cleaning: true, Clean: true, Family: Family{Listed: true},
		}
		sub := &Pair{Kind: SubIssue, State: Linked, Mark: Mark{MarkerRestored: "digest"}}
		child := &Pair{Kind: Tracking, State: Linked, Mark: Mark{MarkerRestored: "digest"}}
		l.SubLinks, l.Children = []*Pair{sub}, []*Pair{child}
		err := l.Relink()
		if (err == nil) != (tt.want != "") {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if l.State != tt.want || l.Why != "" || l.Suspended != "" {
			t.Errorf("%s: it is %s because %q, want %s", name, l.State, l.Why, tt.want)
		}
		if l.Parted || l.Cleaning || l.Clean || !l.Unfinished || !sub.Unfinished || l.Family.Listed {
			t.Errorf("%s: it still counts as parted, or is not read as a whole: %+v", name, l)
		}
		if l.MarkerRestored+sub.MarkerRestored+child.MarkerRestored != "" {
			t.Errorf("%s: a marker is not put back", name)
		}
	}
}
