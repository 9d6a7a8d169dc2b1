package mapping

import (
	"slices"
	"testing"
	"time"
)

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

// TestSuccessor takes an issue over unchanged, with the bridge's additions to the issue. It takes
// nothing else from the link that hands it over.
func TestSuccessor(t *testing.T) {
	at := time.Date(2031, 1, 2, 0, 0, 0, 0, time.UTC)
	l := Link{
		ID: "old", Project: "web", Route: "web", Shown: &Shown{Labels: []string{"plan:todo"}, Milestone: 3, Status: "To Do", Assignees: []string{"dev"}},
		Moving: &Moving{Project: "ops", Route: "later", Link: "new", Nonce: "n", Issue: 7},
		Pair: Pair{
			State: Linked, Nonce: "old nonce", Card: CardID{ID: "c1"}, Issue: IssueID{ID: 7, NodeID: "node", Repo: "acme/web", Number: 12, Digest: "digest", Author: "dev", Born: at.Add(-time.Hour), UpdatedAt: at},
			Base: map[Attribute]Base{Title: {GitHub: "a", Planning: "a"}},
		},
	}
	next := l.Successor(at)
	if next.ID != "new" || next.Project != "ops" || next.Route != "later" || next.Nonce != "n" || next.State != Entering || next.Import != ImportAll {
		t.Errorf("the link is %+v", next)
	}
	if next.Issue.ID != 7 || next.Issue.Number != 12 || next.Issue.Digest != "" || next.Issue.Author != "dev" || !next.Issue.Born.Equal(at.Add(-time.Hour)) || next.Card.ID != "" || len(next.Base) != 0 {
		t.Errorf("its pair is %+v", next.Pair)
	}
	if next.Before == nil || *next.Before != (FormerCard{"web", "c1"}) {
		t.Errorf("before it was %+v", next.Before)
	}
	if next.Shown == nil || next.Shown.Milestone != 3 || len(next.Shown.Labels) != 1 || len(next.Shown.Assignees) != 1 || next.Shown.Status != "" {
		t.Errorf("it shows %+v", next.Shown)
	}
}

// TestStay: an issue stays unless it is decided which link takes it over.
func TestStay(t *testing.T) {
	undecided, decided := Link{Moving: &Moving{}}, Link{Moving: &Moving{Link: "new"}}
	undecided.Stay()
	decided.Stay()
	if undecided.Moving != nil || decided.Moving == nil {
		t.Errorf("moving are %+v and %+v", undecided.Moving, decided.Moving)
	}
	for name, tt := range map[string]struct {
		l    Link
		want bool
	}{
		"handed over": {Link{Moving: &Moving{Link: "new"}, Pair: Pair{}, Parted: true}, true},
		"on its way":  {Link{Moving: &Moving{Link: "new"}}, false},
		"parted":      {Link{Parted: true}, false},
		"undecided":   {Link{Parted: true, Moving: &Moving{}}, false},
	} {
		if tt.l.HandedOver() != tt.want {
			t.Errorf("%s: %v", name, !tt.want)
		}
	}
}

// TestAwaitsAnswer: an open question keeps an issue from moving. A part without an issue of its own
// is named by the root's.
func TestAwaitsAnswer(t *testing.T) {
	root := Pair{State: Linked, Issue: IssueID{ID: 7, Repo: "acme/web", Number: 12}}
	asking := Disputes{Asking: map[Attribute]string{Title: "id"}}
	asked := root
	asked.Disputes = asking
	for name, tt := range map[string]struct {
		l    Link
		want string
	}{
		"nobody is asked": {Link{Pair: root, Children: []*Pair{{Kind: Tracking}}}, ""},
		"the root":        {Link{Pair: asked}, "people are asked about the title of acme/web#12: answer first"},
		"a sub-issue":     {Link{Pair: root, SubLinks: []*Pair{{Kind: SubIssue, Issue: IssueID{ID: 8, Repo: "acme/api", Number: 3}, Disputes: asking}}}, "people are asked about the title of acme/api#3: answer first"},
		"a line":          {Link{Pair: root, Children: []*Pair{{Kind: Checklist, Disputes: asking}}}, "people are asked about the title of acme/web#12: answer first"},
		"a card alone":    {Link{Pair: Pair{Card: CardID{ID: "c1"}, Disputes: asking}}, "people are asked about the title of c1: answer first"},
	} {
		if got := tt.l.AwaitsAnswer(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestGivenUpIssueLeavesTheCard: the resting card has the ids of the link, and a reason.
func TestGivenUpIssueLeavesTheCard(t *testing.T) {
	moving := &Moving{Project: "ops", Route: "later", Link: "new", Nonce: "n", Issue: 7}
	l := Link{
		ID: "l", Project: "web", Route: "web", Moving: moving, Epoch: "e", Review: "approved", Shown: &Shown{}, SubLinks: []*Pair{{}}, Pair: Pair{
			State: Linked, Nonce: "nonce", Origin: Planning, Card: CardID{ID: "c2", CID: 2}, Issue: IssueID{ID: 7},
			Base: map[Attribute]Base{Title: {}}, Dates: Dates{Created: noon, Synced: noon.Add(time.Hour)},
		},
	}
	if err := l.GiveUpIssue(); err != nil {
		t.Fatal(err)
	}
	if l.ID != "l" || l.Project != "web" || l.Route != "web" || l.Moving != moving || !l.HandedOver() {
		t.Errorf("the link is %+v", l)
	}
	want := Dates{Created: noon, Synced: noon.Add(time.Hour)}
	if l.State != Dormant || l.Nonce != "nonce" || l.Origin != GitHub || l.Card != (CardID{ID: "c2", CID: 2}) || l.Dates != want || l.Why != MovedWhy {
		t.Errorf("its pair is %+v", l.Pair)
	}
	if l.Issue != (IssueID{}) || l.Base != nil || l.SubLinks != nil || l.Shown != nil || l.Epoch != "" || l.Review != "" {
		t.Errorf("of the issue is left %+v", l)
	}
	if (&Link{Pair: Pair{State: "unknown"}}).GiveUpIssue() == nil {
		t.Error("a link in no known state gives its issue up")
	}
}

// TestSuccessorIsOfGitHub: the issue was there first, and its labels with a card's number go along.
func TestSuccessorIsOfGitHub(t *testing.T) {
	l := Link{Moving: &Moving{Link: "new"}, Shown: &Shown{Made: []string{"card/7"}, Labels: []string{"card/7"}}}
	next := l.Successor(noon)
	if next.Origin != GitHub || !next.Created.Equal(noon) || !slices.Equal(next.Shown.Made, []string{"card/7"}) {
		t.Errorf("the link is %+v and shows %+v", next, next.Shown)
	}
	l.Shown = nil
	if next := l.Successor(noon); next.Shown != nil {
		t.Errorf("of an issue that shows nothing it shows %+v", next.Shown)
	}
}
