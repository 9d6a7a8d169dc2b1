package mapping_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
)

func TestShownTakesWhatASnapshotKnows(t *testing.T) {
	s := mapping.Shown{Users: []string{"alice"}, Labels: []string{"plan:Done"}}
	s.Take(&mapping.Card{Review: "Approved", Iteration: "s1", Counters: &mapping.Counters{Status: "done"}})
	if s.Status != "done" || s.Review != "Approved" || s.Sprint != "s1" || !slices.Equal(s.Users, []string{"alice"}) {
		t.Errorf("of a card whose users are not known: %+v", s)
	}
	s.Milestone, s.Dropped = 7, []string{"#8"}
	if m := s.Moved(); m.Milestone != 0 || m.Dropped != nil || m.Labels != nil || m.Review != "Approved" || s.Milestone != 7 || (*mapping.Shown)(nil).Moved() != nil {
		t.Errorf("in another repository: %+v", m)
	}
	s.Take(&mapping.Card{Users: []string{}})
	if s.Status != "" || s.Review != "" || s.Sprint != "" || len(s.Users) != 0 || len(s.Labels) != 1 {
		t.Errorf("of a card without anything: %+v", s)
	}
}

// That nobody is on a card's tasks must not become "not known" on its way
// through the store.
func TestNobodyIsNotUnknown(t *testing.T) {
	for _, users := range [][]string{nil, {}, {"alice"}} {
		data, err := json.Marshal(mapping.Card{Users: users})
		if err != nil {
			t.Fatal(err)
		}
		var c mapping.Card
		if err := json.Unmarshal(data, &c); err != nil || (c.Users == nil) != (users == nil) || !slices.Equal(c.Users, users) {
			t.Errorf("%#v came back as %#v, %v", users, c.Users, err)
		}
	}
}

func TestProjectionsAreToldFromPeoplesLabels(t *testing.T) {
	s := mapping.LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"}
	labels := []string{"bug", "plan:To Do", "PLAN:approved", "bucket:Later", "plan:ignore", "plan:conflict", "points/3"}
	if got := s.Projections(labels); !slices.Equal(got, []string{"plan:To Do", "PLAN:approved", "bucket:Later"}) {
		t.Errorf("projections %v", got)
	}
	for review, want := range map[string]bool{"approved": true, "Rejected": false, "": false} {
		if got := s.Reviewed(labels, review); got != want {
			t.Errorf("review %q shows: %v", review, got)
		}
	}
	card := (&mapping.Shown{Status: "done", Review: "Rejected"}).Card("Later")
	add, remove := mapping.ProjectLabels(labels, card, s)
	if !slices.Equal(add, []string{"plan:Done", "plan:Rejected"}) || !slices.Equal(remove, []string{"plan:To Do", "PLAN:approved"}) {
		t.Errorf("add %v, remove %v", add, remove)
	}
}

// TestShownOfAMovedIssue: planning's state goes along, and so do the people whom the bridge
// assigned; the milestone, and what GitHub refused, are the old repository's.
func TestShownOfAMovedIssue(t *testing.T) {
	s := mapping.Shown{
		Status: "done", Review: "Approved", Sprint: "s1", Users: []string{"alice"}, Labels: []string{"plan:Done"}, Made: []string{"card/7"}, Unsure: true, Waited: true,
		Milestone: 7, Assignees: []string{"octocat"}, Assigned: []string{"octocat", "hubot"}, Dropped: []string{"#7"}, Closing: time.Unix(1, 0),
	}
	want := mapping.Shown{Status: "done", Review: "Approved", Sprint: "s1", Users: []string{"alice"}, Made: []string{"card/7"}, Assignees: []string{"octocat"}}
	if diff := cmp.Diff(&want, s.Moved()); diff != "" {
		t.Errorf("in another repository (-want +got):\n%s", diff)
	}
}

// TestCardThatIsShown: labels show a card's status, review and bucket as planning said them last.
func TestCardThatIsShown(t *testing.T) {
	s := mapping.Shown{Status: "done", Review: "Approved"}
	want := &mapping.Card{Review: "Approved", BucketName: "Later", Counters: &mapping.Counters{Status: "done"}}
	if diff := cmp.Diff(want, s.Card("Later")); diff != "" {
		t.Errorf("the card (-want +got):\n%s", diff)
	}
	add, remove := s.Project([]string{"plan:To Do", "bucket:Incoming", "bug"}, s.Card("Later"), labelScheme)
	if !slices.Equal(add, []string{"plan:Done", "plan:Approved", "bucket:Later"}) || !slices.Equal(remove, []string{"plan:To Do", "bucket:Incoming"}) {
		t.Errorf("add %q, remove %q", add, remove)
	}
}

// TestReviewOnAnIssue: an issue shows a review where it has its label, in any case; no review shows
// nowhere.
func TestReviewOnAnIssue(t *testing.T) {
	labels := []string{"PLAN:approved", "bug", "plan:"}
	for review, want := range map[string]bool{"approved": true, "Approved!": true, "partially": false, "": false, "later": false} {
		if got := labelScheme.Reviewed(labels, review); got != want {
			t.Errorf("review %q shows: %v", review, got)
		}
	}
}

// TestTakenUsersAreACopy: the record keeps whom a snapshot showed, whatever becomes of the snapshot.
func TestTakenUsersAreACopy(t *testing.T) {
	card := &mapping.Card{Users: []string{"alice"}}
	var s mapping.Shown
	s.Take(card)
	card.Users[0] = "bob"
	if !slices.Equal(s.Users, []string{"alice"}) {
		t.Errorf("the record has %q", s.Users)
	}
}
