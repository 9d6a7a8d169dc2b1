package poll_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/burndown"
	"planbridge/bridge/poll"
	"planbridge/mapping"
	"planbridge/store"
)

func read[T any](w *world, name string) (v T) {
	w.t.Helper()
	data, err := w.store.Doc(w.t.Context(), project, name)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		w.t.Fatal(err)
	}
	return v
}

// TestSprintsAreTold: the milestones' part of the sprints is stored when it changes, and the keeper
// of milestones is called then. Each process also calls it once, as it cannot know earlier changes.
func TestSprintsAreTold(t *testing.T) {
	told := 0
	w := newWorld(t)
	w.options.OnSprints = func() { told++ }
	w.restart()
	end := time.Date(2031, 3, 5, 0, 30, 0, 0, time.FixedZone("", 3600))
	w.planned.sprints = []poll.Sprint{{ID: "s1", Title: "One", Summary: "Text", End: end}, {ID: "s0", Past: true}}
	for range 3 {
		w.poll()
	}
	sprints := read[[]mapping.Sprint](w, store.DocSprints)
	if told != 1 || len(sprints) != 2 || sprints[0].ID != "s0" || !sprints[0].Past || sprints[1].Title != "One" || sprints[1].Summary != "Text" ||
		mapping.DueOn(sprints[1].End).Format(time.DateOnly) != "2031-03-05" {
		t.Errorf("told %d times of %+v", told, sprints)
	}
	w.restart()
	w.poll()
	w.planned.sprints[0].Active = true // no milestone shows that
	w.poll()
	if told != 2 {
		t.Errorf("told %d times after a restart, want once more", told)
	}
	w.planned.sprints[0].Title = "Uno"
	w.poll()
	if sprints = read[[]mapping.Sprint](w, store.DocSprints); told != 3 || sprints[1].Title != "Uno" {
		t.Errorf("told %d times of %+v", told, sprints)
	}
}

// TestUsersAreRemembered: only a sprint's listing tells who works on a card. A
// round that leaves it out sees no change, in this process or the next; that
// somebody joined or left is one.
func TestUsersAreRemembered(t *testing.T) {
	in := card("c1")
	w := settled(t, in)
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	show := func(users ...string) {
		c := in
		c.Users = users
		w.planned.items["s"] = listing{cards: []mapping.Card{c}}
	}
	for _, step := range []struct {
		what  string
		do    func()
		seen  bool
		users []string
	}{
		{"users are shown", func() { show("alice", "bob") }, true, []string{"alice", "bob"}},
		{"they are shown again", func() {}, false, nil},
		{"the sprint is not listed", func() { w.planned.sprints = nil }, false, nil},
		{"and the process is another", w.restart, false, nil},
		{"one has left", func() { w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}; show("bob") }, true, []string{"bob"}},
		{"all have left", func() { show([]string{}...); w.planned.items["s"].cards[0].Users = []string{} }, true, []string{}},
		{"another process sees nobody", w.restart, false, nil},
	} {
		w.store.writes()
		step.do()
		w.poll()
		obs, _, _ := w.store.writes()
		if !step.seen {
			if len(obs) != 0 {
				t.Errorf("%s: observed %+v", step.what, obs)
			}
			continue
		}
		var c mapping.Card
		if len(obs) != 1 || json.Unmarshal(obs[0].Data, &c) != nil || c.Users == nil || !slices.Equal(c.Users, step.users) {
			t.Errorf("%s: observed %d, users %q", step.what, len(obs), c.Users)
		}
	}
}

// charts are those of all sprints.
type charts func() (mapping.Burndown, error)

func (f charts) Burndown(context.Context, mapping.ObjectID) (mapping.Burndown, error) { return f() }

// TestActiveSprintsHaveBurndowns: a round records the charts of the active sprints alone, and
// one that fails does not fail the round.
func TestActiveSprintsHaveBurndowns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		asked := 0
		var broken error
		w.options.Charts = charts(func() (mapping.Burndown, error) {
			asked++
			return mapping.Burndown{Original: 9, Remaining: []float64{8}}, broken
		})
		w.restart()
		w.planned.sprints = []poll.Sprint{{ID: "s1", Title: "One", Active: true}, {ID: "s0", Past: true}}
		for range 5 {
			w.poll()
		}
		if got := read[[]mapping.Burndown](w, store.DocBurndown); asked != 1 || len(got) != 1 || got[0].Sprint != "s1" || got[0].Title != "One" || !got[0].Active {
			t.Errorf("asked %d times for %+v", asked, got)
		}
		broken = mapping.ErrNotFound
		time.Sleep(burndown.Every)
		w.poll()
		if n := strings.Count(w.log.String(), "burndowns could not be read"); n != 1 || asked != 2 {
			t.Errorf("said %d times that they could not be read, asked %d times", n, asked)
		}
	})
}
