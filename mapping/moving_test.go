package mapping

import "testing"

// TestGiveUpIssueKeepsTheCardBefore: an erasure goes from link to link of an issue that moved
// more than once.
func TestGiveUpIssueKeepsTheCardBefore(t *testing.T) {
	l := Link{
		ID: "l", Project: "other", Route: "web", Before: &FormerCard{"web", "c1"}, Moving: &Moving{},
		Pair: Pair{State: Linked, Card: CardID{ID: "c2"}, Issue: IssueID{ID: 7, Repo: "acme/web", Number: 12}},
	}
	if err := l.GiveUpIssue(); err != nil {
		t.Fatal(err)
	}
	if l.Before == nil || *l.Before != (FormerCard{"web", "c1"}) || l.Card.ID != "c2" || l.Issue.ID != 0 || !l.Parted {
		t.Errorf("it keeps %+v, before it %+v", l.Pair, l.Before)
	}
}
