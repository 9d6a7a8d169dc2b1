package mapping

import (
	"slices"
	"testing"
)

// TestPairsByKind has a row for each kind of pair: its items, and its names for people and the
// store's indexes.
func TestPairsByKind(t *testing.T) {
	issue, card := IssueID{ID: 7, Repo: "acme/web", Number: 12}, CardID{ID: "5447"}
	for name, tt := range map[string]struct {
		pair           Pair
		task, hasIssue bool
		partner        Ref
		where          string
		refs           []Ref
	}{
		"an issue and its card":       {Pair{Kind: Root, Issue: issue, Card: card}, false, true, CardRef("5447"), "acme/web#12", []Ref{IssueRef(7), CardRef("5447")}},
		"a sub-issue and its task":    {Pair{Kind: SubIssue, Issue: issue, Card: card}, true, true, TaskRef("5447"), "acme/web#12", []Ref{IssueRef(7), TaskRef("5447")}},
		"a state and its task":        {Pair{Kind: Tracking, Card: card}, true, false, TaskRef("5447"), "5447", []Ref{TaskRef("5447")}},
		"a line and its task":         {Pair{Kind: Checklist, Card: card}, true, false, TaskRef("5447"), "5447", []Ref{TaskRef("5447")}},
		"a card without its issue":    {Pair{Kind: Root, Card: card}, false, true, CardRef("5447"), "5447", []Ref{CardRef("5447")}},
		"an issue without its card":   {Pair{Kind: Root, Issue: issue}, false, true, CardRef(""), "acme/web#12", []Ref{IssueRef(7)}},
		"an issue that had other ids": {Pair{Kind: Root, Issue: issue, Transfer: Transfer{Former: []int64{5, 6}}}, false, true, CardRef(""), "acme/web#12", []Ref{IssueRef(7), IssueRef(5), IssueRef(6)}},
	} {
		p := tt.pair
		if p.IsTask() != tt.task || p.HasIssue() != tt.hasIssue {
			t.Errorf("%s: task %v, issue %v", name, p.IsTask(), p.HasIssue())
		}
		if p.Partner() != tt.partner || p.Where() != tt.where {
			t.Errorf("%s: partner %s, called %s", name, p.Partner(), p.Where())
		}
		if got := p.Refs(); !slices.Equal(got, tt.refs) {
			t.Errorf("%s: indexed under %v, want %v", name, got, tt.refs)
		}
	}
}

// TestWholePair: a pair is whole when both its items are there and none is being made.
func TestWholePair(t *testing.T) {
	issue, card := IssueID{ID: 7}, CardID{ID: "5447"}
	for name, tt := range map[string]struct {
		pair Pair
		want bool
	}{
		"both items":                        {Pair{Issue: issue, Card: card}, true},
		"no card":                           {Pair{Issue: issue}, false},
		"no issue":                          {Pair{Card: card}, false},
		"its card is being made":            {Pair{Issue: issue, Card: card, Intent: &Intent{Side: Planning}}, false},
		"a sub-issue and its task":          {Pair{Kind: SubIssue, Issue: issue, Card: card}, true},
		"a task whose sub-issue is missing": {Pair{Kind: SubIssue, Card: card}, false},
		"a tracking task needs no issue":    {Pair{Kind: Tracking, Card: card}, true},
		"a line needs no issue":             {Pair{Kind: Checklist, Card: card}, true},
		"a line whose task is missing":      {Pair{Kind: Checklist}, false},
	} {
		if got := tt.pair.Whole(); got != tt.want {
			t.Errorf("%s: whole %v", name, got)
		}
	}
}

// TestAgreementLiftsARefusal: no side refuses the agreed value, and the refusal of another
// attribute stays.
func TestAgreementLiftsARefusal(t *testing.T) {
	p := Pair{Disputes: Disputes{Refused: map[Attribute]Refusal{Title: {Side: GitHub}, Summary: {Side: Planning}}}}
	p.SetBase(Title, Base{GitHub: "a", Planning: "a", Version: 3})
	p.SetBase(Estimate, Base{GitHub: "5", Planning: "5", Version: 1})
	if p.Base[Title] != (Base{"a", "a", 3}) || p.Base[Estimate] != (Base{"5", "5", 1}) || len(p.Base) != 2 {
		t.Errorf("agreed on are %v", p.Base)
	}
	if _, refused := p.Refused[Title]; refused || len(p.Refused) != 1 {
		t.Errorf("refused are %v", p.Refused)
	}
}

// TestPairsOfALink: the record lists its pairs with the root first. Those with an issue are the
// root and its sub-issues, of which only entered ones count.
func TestPairsOfALink(t *testing.T) {
	l := ofTheFamily()
	if all := l.All(); len(all) != 6 || all[0] != &l.Pair || all[1] != l.Children[0] || all[5] != l.SubLinks[1] {
		t.Errorf("all are %v", all)
	}
	if issues := l.Issues(); len(issues) != 3 || issues[0] != &l.Pair || issues[2] != l.SubLinks[1] {
		t.Errorf("those with issues are %v", issues)
	}
	if pairs := l.Pairs(); len(pairs) != 2 || pairs[0] != &l.Pair || pairs[1] != l.SubLinks[0] {
		t.Errorf("those that entered are %v", pairs)
	}
	if l.State = Entering; len(l.Pairs()) != 1 {
		t.Errorf("an issue that waits to enter counts: %v", l.Pairs())
	}
	if l.Child(Checklist) != l.Children[1] || l.Child(SubIssue) != nil {
		t.Error("the first child of a kind is another, or one of no such kind was found")
	}
}
