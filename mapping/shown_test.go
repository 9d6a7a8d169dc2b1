package mapping_test

import (
	"encoding/json"
	"slices"
	"testing"

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
