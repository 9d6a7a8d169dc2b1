package mapping

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// sound returns a record of each kind of pair that breaks no invariant.
func sound() *Link {
	return &Link{
		ID: "l", Project: "p",
		Children: []*Pair{{Kind: Tracking, State: Linked, Nonce: "n2", Card: CardID{ID: "t1"}}, {Kind: Checklist, State: Left, Nonce: "n3"}},
		SubLinks: []*Pair{
			{Kind: SubIssue, State: Linked, Nonce: "n4", Issue: IssueID{ID: 2}, Card: CardID{ID: "t2"}},
			{Kind: SubIssue, State: Creating, Nonce: "n5", Issue: IssueID{ID: 3}, Intent: &Intent{}},
		}, Pair: Pair{State: Linked, Nonce: "n1", Issue: IssueID{ID: 1}, Card: CardID{ID: "c1"}},
	}
}

// Each invariant has at least one record that breaks it, and names the pair.
func TestInvariants(t *testing.T) {
	if b := sound().Broken(); b != nil {
		t.Fatalf("a sound record breaks %v", b)
	}
	var seen []string
	for _, c := range []struct {
		what, invariant, names string
		spoil                  func(*Link)
	}{
		{"no issue", "partners", `invariant partners: issue 0 and item "c1": it is linked and has no issue`, func(l *Link) { l.Issue.ID = 0 }},
		{"no card", "partners", `invariant partners: issue 1 and item "": it is linked and has no item of planning's`, func(l *Link) { l.Card.ID = "" }},
		{"a create is under way", "partners", "it is linked and a create of it is under way", func(l *Link) { l.Intent = &Intent{} }},
		{"a task is made by nothing", "creating", `invariant creating: task "t1": it is being made by no create`, func(l *Link) { l.Children[0].State = Creating }},
		{"another pair's issue", "items", "issue 1 and item \"t2\": another pair has the issue", func(l *Link) { l.SubLinks[0].Issue.ID = 1 }},
		{"another pair's task", "items", "item \"t1\": another pair has planning's item", func(l *Link) { l.SubLinks[0].Card.ID = "t1" }},
		{"another pair's nonce", "items", "another pair has its nonce", func(l *Link) { l.SubLinks[1].Nonce = "n1" }},
		{"no issue", "partners", "c1", func(l *Link) { l.Issue.ID = 0 }},
		{"no card", "partners", "issue 1", func(l *Link) { l.Card.ID = "" }},
		{"a create is under way", "partners", "issue 1", func(l *Link) { l.Intent = &Intent{} }},
		{"a task is not there", "partners", "task", func(l *Link) { l.Children[0].Card.ID = "" }},
		{"a part has no task", "partners", "issue 2", func(l *Link) { l.SubLinks[0].Card.ID = "" }},
		{"a part is made by nothing", "creating", "issue 3", func(l *Link) { l.SubLinks[1].Intent = nil }},
		{"a line is made by nothing", "creating", "task", func(l *Link) { l.Children[1].State = Creating }},
		{"an issue twice", "items", "issue 1", func(l *Link) { l.SubLinks[1].Issue.ID = 1 }},
		{"a task twice", "items", "t1", func(l *Link) { l.SubLinks[0].Card.ID = "t1" }},
		{"a nonce twice", "items", "issue 3", func(l *Link) { l.SubLinks[1].Nonce = "n2" }},
	} {
		l := sound()
		c.spoil(l)
		b := l.Broken()
		if b == nil || b.Invariant != c.invariant || !strings.Contains(b.Error(), c.names) || errors.Unwrap(b) == nil {
			t.Errorf("%s: %v, want invariant %s of %s", c.what, b, c.invariant, c.names)
		}
		seen = append(seen, c.invariant)
	}
	for _, i := range Invariants {
		if !slices.Contains(seen, i.Name) {
			t.Errorf("no record breaks %s", i.Name)
		}
	}
}
