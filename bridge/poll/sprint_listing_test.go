package poll_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/poll"
	"planbridge/mapping"
)

// TestBacklogAndSprint: of two sights of a card the higher version counts, with
// the bucket of the backlog and the tasks of the sprint.
func TestBacklogAndSprint(t *testing.T) {
	for name, tt := range map[string]struct{ backlog, sprint, want int64 }{
		"backlog newer": {3, 2, 3}, "sprint newer": {2, 3, 3}, "same": {2, 2, 2},
	} {
		w := settled(t, card("a"))
		l := w.link(card("a"))
		w.planned.put(incoming, "Incoming", card("a", version(tt.backlog)))
		w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
		w.planned.items["s"] = listing{cards: []mapping.Card{card("a", version(tt.sprint), func(c *mapping.Card) {
			c.Bucket = "in-progress"
			c.Tasks = []mapping.Task{task("t", 1)}
		})}}
		w.poll()
		c := decode[mapping.Card](t, w.work(l), mapping.CardRef("a"))
		if c.Version != tt.want || c.Bucket != incoming || c.BucketName != "Incoming" || len(c.Tasks) != 1 {
			t.Errorf("%s: inbox has %+v", name, c)
		}
		w.store.writes()
		w.poll()
		if obs, marked, _ := w.store.writes(); len(obs)+marked != 0 {
			t.Errorf("%s: the next poll observed %+v", name, obs)
		}
	}
}

// TestSprintKeepsTheBucket: a sprint's listing does not tell the bucket. Where it replaces a
// sight that told it, and that nobody has dealt with, the bucket is still known.
func TestSprintKeepsTheBucket(t *testing.T) {
	w := settled(t, card("a"))
	l := w.link(card("a"))
	w.planned.put(incoming, "Incoming")
	w.planned.put(other, "Later", card("a", version(2)))
	w.poll()
	w.planned.put(other, "Later")
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.items["s"] = listing{cards: []mapping.Card{card("a", version(3))}}
	w.poll()
	if c := decode[mapping.Card](t, w.work(l), mapping.CardRef("a")); c.Version != 3 || c.Bucket != other || c.BucketName != "Later" {
		t.Errorf("inbox has %+v", c)
	}
	w.store.writes()
	for range 2 {
		w.poll()
		if obs, marked, _ := w.store.writes(); len(obs)+marked != 0 {
			t.Errorf("the next poll observed %+v", obs)
		}
		w.restart() // which forgets the bucket, and that is no news
	}
}

// TestSprintForms: tasks are found nested in cards and flat in the listing.
func TestSprintForms(t *testing.T) {
	w := settled(t, card("a"))
	l := w.link(card("a"), func(l *mapping.Link) {
		l.Children = []*mapping.Pair{{Kind: mapping.Tracking, Card: mapping.CardID{ID: "nested"}}, {Kind: mapping.Checklist, Card: mapping.CardID{ID: "flat"}}}
	})
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	show := func(v int64) {
		w.planned.items["s"] = listing{
			cards: []mapping.Card{card("x", func(c *mapping.Card) { c.Tasks = []mapping.Task{task("nested", v)} })},
			tasks: []mapping.Task{task("flat", v), task("a stranger's", v)},
		}
	}
	show(1)
	w.poll()
	w.work(l)
	show(2)
	w.poll()
	c := w.work(l)
	for _, id := range []mapping.ObjectID{"nested", "flat"} {
		if got := decode[mapping.Task](t, c, mapping.TaskRef(id)); got.Version != 2 {
			t.Errorf("inbox has %+v", got)
		}
	}
	if len(c.Inbox) != 2 {
		t.Errorf("inbox %v", c.Inbox)
	}
}

// TestSprintFirst: a card that a sprint shows first enters when it is seen in
// its bucket, or when its state names the bucket.
func TestSprintFirst(t *testing.T) {
	w := settled(t, card("old"))
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.items["s"] = listing{cards: []mapping.Card{
		card("a"), card("b", func(c *mapping.Card) { c.Bucket = "in-progress" }),
		card("c", func(c *mapping.Card) { c.Bucket = incoming }),
	}}
	w.poll()
	if l := w.onlyLink(); l.Card.ID != "c" || l.Card.BucketName != "Incoming" {
		t.Errorf("link %+v", l.Card)
	}
	w.planned.put(incoming, "Incoming", card("old"), card("a"))
	w.poll()
	if n := len(w.links()); n != 2 {
		t.Errorf("%d links, want those of c and a", n)
	}
}

// TestOldSprints: sprints that ended long ago are read in turn, and what only
// they show is not missing meanwhile.
func TestOldSprints(t *testing.T) {
	w := settled(t, card("a"), card("b"), card("c"))
	long := time.Now().Add(-20 * 24 * time.Hour)
	w.planned.sprints = []poll.Sprint{{ID: "o1", Past: true, End: long}, {ID: "o2", Past: true, End: long}}
	w.planned.items["o1"] = listing{cards: []mapping.Card{card("x")}}
	w.planned.items["o2"] = listing{cards: []mapping.Card{card("y")}}
	for range 60 {
		w.poll()
	}
	if a, b := w.planned.count("sprint o1"), w.planned.count("sprint o2"); a != 3 || b != 3 {
		t.Errorf("old sprints were read %d and %d times in 60 rounds, want 3 each", a, b)
	}
	obs, _, _ := w.store.writes()
	if len(obs) != 2 {
		t.Errorf("observed %+v: want x and y once", obs)
	}
}

// TestBrokenSprint: one sprint that cannot be read does not keep the rest from
// being seen; a service that does not answer ends the round.
func TestBrokenSprint(t *testing.T) {
	w := settled(t, card("a"))
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.fails["sprint s"] = mapping.ErrForbidden
	w.planned.put(incoming, "Incoming", card("a"), card("b"))
	w.poll()
	w.onlyLink()
	if !strings.Contains(w.log.String(), "sprint=s") {
		t.Errorf("not reported:\n%s", w.log)
	}
	for _, call := range []string{"sprint s", "sprints", "backlog"} {
		w.planned.fails = map[string]error{call: mapping.ErrUnavailable}
		if err := w.poller.Poll(t.Context()); !errors.Is(err, mapping.ErrUnavailable) {
			t.Errorf("%s: error %v", call, err)
		}
	}
}
