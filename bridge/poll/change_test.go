package poll_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/poll"
	"planbridge/mapping"
)

// TestUnchangedCostsNothing: no writes, in this process and in the next.
func TestUnchangedCostsNothing(t *testing.T) {
	var cards []mapping.Card
	for i := range 500 {
		cards = append(cards, card(fmt.Sprint("c", i)))
	}
	w := settled(t, cards...)
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.items["s"] = listing{cards: []mapping.Card{card("in sprint")}, tasks: []mapping.Task{task("t", 1)}}
	w.poll()
	w.store.writes()
	for round := range 4 {
		if round == 2 {
			w.restart()
		}
		w.poll()
		if obs, marked, docs := w.store.writes(); len(obs)+marked+docs != 0 {
			t.Errorf("round %d: %d observations, %d marks, %d documents", round, len(obs), marked, docs)
		}
	}
}

// TestIdleCalls: an idle project costs the backlog, the sprints, and one call
// a sprint that moves.
func TestIdleCalls(t *testing.T) {
	w := settled(t)
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}, {ID: "f", Future: true}, {ID: "p", Past: true, End: time.Now().Add(-time.Hour)}}
	w.poll()
	w.planned.calls = nil
	w.poll()
	if got := strings.Join(w.planned.calls, ", "); got != "sprints, sprint s, sprint f, sprint p, backlog" {
		t.Errorf("calls: %s", got)
	}
}

// TestChanged: each changed card is observed once, with its version, and makes
// its link due.
func TestChanged(t *testing.T) {
	w := settled(t, card("a"), card("b"))
	l := w.link(card("a"))
	w.planned.put(incoming, "Incoming", card("a", version(2)), card("b"))
	w.poll()
	if c := decode[mapping.Card](t, w.work(l), mapping.CardRef("a")); c.Version != 2 || c.Title.Value != "Edited" {
		t.Errorf("inbox has %+v", c)
	}
	obs, marked, _ := w.store.writes()
	if len(obs) != 1 || marked != 1 || obs[0].At != 2 || obs[0].Bulk || obs[0].Create != nil {
		t.Errorf("%d marks, observed %+v", marked, obs)
	}
}

// TestPolled: a value that a poll shows came to be after the last poll that did not show it. That
// may decide the order of two edits. The first poll of a process has no such bound.
func TestPolled(t *testing.T) {
	w := settled(t, card("a"), card("b"))
	l := w.link(card("a"))
	show := func(v int64) mapping.Interval {
		w.planned.put(incoming, "Incoming", card("a", version(v)), card("b"))
		w.poll()
		return decode[mapping.Card](t, w.work(l), mapping.CardRef("a")).Polled
	}
	before := time.Now()
	w.poll()
	between := time.Now()
	if got := show(2); got.From.Before(before) || got.From.After(between) || got.To.Before(between) || got.To.After(time.Now()) {
		t.Errorf("came to be in %s, want from between %s and %s", got, before, between)
	}
	w.restart()
	if got := show(3); got != (mapping.Interval{}) {
		t.Errorf("a first poll says %s", got)
	}
	before = time.Now()
	w.planned.put(incoming, "Incoming", card("a", version(3)), card("b"), card("new"))
	w.poll()
	fresh := w.links()[slices.IndexFunc(w.links(), func(l *mapping.Link) bool { return l.Card.ID == "new" })]
	got := decode[mapping.Card](t, w.work(fresh), mapping.CardRef("new")).Polled
	if got.From.IsZero() || got.From.After(before) {
		t.Errorf("a new card came to be in %s", got)
	}
}

// TestTimes: of each attribute the poll tells when it came to be as it is, whatever
// else of the card was changed since.
func TestTimes(t *testing.T) {
	w := settled(t, card("a"))
	l := w.link(card("a"))
	show := func(title, summary int64) map[mapping.Attribute]mapping.Interval {
		w.planned.put(incoming, "Incoming", card("a", func(c *mapping.Card) {
			c.Version, c.Title.Version, c.Summary.Version = title+summary, title, summary
		}))
		w.poll()
		c := decode[mapping.Card](t, w.work(l), mapping.CardRef("a"))
		if c.Edited(mapping.Estimate) != (mapping.Interval{}) {
			t.Errorf("the estimate, which nobody changed, came to be in %s", c.Edited(mapping.Estimate))
		}
		return c.Times
	}
	w.poll()
	first := show(2, 0)
	second := show(2, 1)
	if at := first[mapping.Title]; at.From.IsZero() || second[mapping.Title] != at {
		t.Errorf("the title came to be in %s, and then in %s", at, second[mapping.Title])
	}
	if at := second[mapping.Summary]; at.From.Before(first[mapping.Title].From) || !at.To.After(first[mapping.Title].To) || len(first) != 1 {
		t.Errorf("the summary came to be in %s, the title in %s", at, first)
	}
	w.restart()
	if times := show(3, 1); len(times) != 0 {
		t.Errorf("a first poll says %s", times)
	}
	if times := show(3, 2); len(times) != 1 || times[mapping.Summary].From.IsZero() {
		t.Errorf("a second poll says %s", times)
	}
}

// TestTimesOfASightThatCouldNotBeStored: an edit is older than the first poll that
// showed it, though only a later one could be stored.
func TestTimesOfASightThatCouldNotBeStored(t *testing.T) {
	w := settled(t, card("a"))
	l := w.link(card("a"))
	w.poll()
	edited := time.Now()
	w.planned.put(incoming, "Incoming", card("a", func(c *mapping.Card) { c.Version, c.Title.Version = 2, 2 }))
	w.store.fail = errors.New("away")
	if err := w.poller.Poll(t.Context()); err == nil {
		t.Fatal("the round was stored")
	}
	w.store.fail = nil
	w.poll()
	c := decode[mapping.Card](t, w.work(l), mapping.CardRef("a"))
	if at := c.Times[mapping.Title]; at.From.IsZero() || at.From.After(edited) || at.To.Before(edited) {
		t.Errorf("the title that was edited at %s came to be in %s", edited, at)
	}
}

// TestSameVersionOtherValue: the same version with another value is a change,
// and the store tells that it has to be read.
func TestSameVersionOtherValue(t *testing.T) {
	w := settled(t, card("a"))
	l := w.link(card("a"))
	for _, title := range []string{"One", "Two"} {
		w.planned.put(incoming, "Incoming", card("a", func(c *mapping.Card) { c.Title.Value = title }))
		w.poll()
	}
	if c := w.work(l); c == nil || !c.Inbox[mapping.CardRef("a")].Ambiguous {
		t.Errorf("claim %+v", c)
	}
}

// TestSweepFindsOrphans: a card that is there again is looked at, whatever this
// process knows of it.
func TestSweepFindsOrphans(t *testing.T) {
	w := settled(t, card("a"))
	l := w.link(card("a"), func(l *mapping.Link) {
		l.State, l.Gone = mapping.Orphaned, map[mapping.Side]int{mapping.Planning: 2}
	})
	w.planned.fails["tasks a"] = mapping.ErrNotFound
	w.options.TaskSweepInterval = w.options.Interval
	w.restart()
	w.poll()
	if c := w.work(l); c != nil {
		t.Errorf("claim %+v of a card that is gone still", c)
	}
	delete(w.planned.fails, "tasks a")
	w.restart()
	w.poll()
	if c := w.work(l); c == nil {
		t.Error("not due when its card is there again")
	}
}

// TestSweep: the tasks of every linked card that no sprint shows are read once
// in each interval, a few a round.
func TestSweep(t *testing.T) {
	w := settled(t)
	var links []*mapping.Link
	for i := range 10 {
		id := fmt.Sprint("c", i)
		links = append(links, w.link(card(id), func(l *mapping.Link) {
			l.Children = []*mapping.Pair{{Kind: mapping.Tracking, Card: mapping.CardID{ID: mapping.ObjectID("t" + id)}}}
		}))
		w.planned.tasks[mapping.ObjectID(id)] = []mapping.Task{task("t"+id, 1)}
	}
	w.link(card("childless"))
	w.link(card("left"), func(l *mapping.Link) { l.State, l.Children = mapping.Left, links[0].Children[:0:0] })
	w.options.TaskSweepInterval = 5 * w.options.Interval
	w.restart()
	for round := range 5 {
		w.planned.calls = nil
		w.poll()
		if n := len(w.planned.calls); n != 4 {
			t.Errorf("round %d: calls %v", round, w.planned.calls)
		}
	}
	for i := range links {
		if c, _, err := w.store.Claim(t.Context(), project, time.Minute); err != nil || c == nil || len(c.Inbox) != 1 {
			t.Errorf("claim %d: %+v, %v", i, c, err)
		}
	}
}

// TestSweepFindsDeleted: a card whose tasks are gone is looked at.
func TestSweepFindsDeleted(t *testing.T) {
	w := settled(t)
	l := w.link(card("a"), func(l *mapping.Link) {
		l.Children = []*mapping.Pair{{Kind: mapping.Tracking, Card: mapping.CardID{ID: "t"}}}
	})
	w.planned.fails["tasks a"] = mapping.ErrGone
	w.options.TaskSweepInterval = time.Minute
	w.restart()
	w.poll()
	if c := w.work(l); c == nil || len(c.Inbox) != 0 {
		t.Errorf("claim %+v: want it due without a snapshot", c)
	}
}

// TestVersionsGoBack: a card or task whose version is lower than what was seen before has
// its link read it, whatever waits in its inbox.
func TestVersionsGoBack(t *testing.T) {
	w := settled(t)
	l := w.link(card("a"), func(l *mapping.Link) {
		l.Children = []*mapping.Pair{{Kind: mapping.Tracking, State: mapping.Linked, Card: mapping.CardID{ID: "t"}}}
	})
	show := func(card mapping.Card, n int64) {
		card.Tasks = []mapping.Task{task("t", n)}
		w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
		w.planned.items["s"] = listing{cards: []mapping.Card{card}}
		w.poll()
	}
	show(card("a", version(9)), 9)
	show(card("a", version(3)), 9)
	if c := w.work(l); c == nil || len(c.Events) != 1 {
		t.Errorf("claim %+v: want the card to be read", c)
	}
	show(card("a", version(3)), 4)
	if c := w.work(l); c == nil || len(c.Events) != 1 {
		t.Errorf("claim %+v: want the task to be read", c)
	}
	show(card("a", version(4)), 5)
	if c := w.work(l); c == nil || len(c.Events) != 0 {
		t.Errorf("claim %+v: want nothing to be read", c)
	}
}
