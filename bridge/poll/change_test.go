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
	"planbridge/store"
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

// TestPolled: what a poll shows came to be after the last poll that did not show
// it, which is how two edits' order may be told; the first poll of a process
// cannot say.
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

// TestMissing: a card that disappears is looked at once, and again seen when it
// is back.
func TestMissing(t *testing.T) {
	all := []mapping.Card{card("a"), card("b"), card("c"), card("d")}
	w := settled(t, all...)
	l := w.link(all[3])
	w.planned.put(incoming, "Incoming", all[:3]...)
	w.poll()
	if c := w.work(l); c == nil || len(c.Inbox) != 0 {
		t.Fatalf("claim %+v: want it due without a snapshot", c)
	}
	w.poll()
	if c := w.work(l); c != nil {
		t.Error("it is looked at in every round")
	}
	w.planned.put(incoming, "Incoming", all...)
	w.poll()
	if c := w.work(l); c == nil || len(c.Inbox) != 1 {
		t.Errorf("claim %+v: want it due with a snapshot", c)
	}
}

// TestMovedToSprint: a card that moves between listings is not missing.
func TestMovedToSprint(t *testing.T) {
	w := settled(t, card("a"), card("b"), card("c"))
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.put(incoming, "Incoming", card("a"), card("b"))
	w.planned.items["s"] = listing{cards: []mapping.Card{card("c")}}
	w.poll()
	obs, _, _ := w.store.writes()
	for _, o := range obs {
		if o.Data == nil {
			t.Errorf("looked for %v", o.Refs)
		}
	}
}

// TestEmptyAndHalved: a listing that lost more than half is not believed.
func TestEmptyAndHalved(t *testing.T) {
	var all []mapping.Card
	for i := range 100 {
		all = append(all, card(fmt.Sprint("c", i)))
	}
	for _, left := range []int{0, 49} {
		w := settled(t, all...)
		w.planned.put(incoming, "Incoming", all[:left]...)
		w.poll()
		if obs, marked, _ := w.store.writes(); len(obs)+marked != 0 {
			t.Errorf("%d left: observed %d", left, len(obs))
		}
		if !strings.Contains(w.log.String(), "not believed") {
			t.Errorf("%d left: not reported", left)
		}
		w.planned.put(incoming, "Incoming", all...)
		w.poll()
		if obs, _, _ := w.store.writes(); len(obs) != 0 || len(w.links()) != 0 {
			t.Errorf("back from %d: observed %d", left, len(obs))
		}
	}
	w := settled(t, all...)
	w.planned.put(incoming, "Incoming", all[:60]...)
	for _, want := range []int{20, 20, 0} {
		w.poll()
		if obs, _, _ := w.store.writes(); len(obs) != want {
			t.Errorf("looked for %d of 40, want %d a round", len(obs), want)
		}
	}
}

// TestFewAreLookedFor: in a small project cards that disappear are looked for
// even where they were all it had, and are news when they are there again.
func TestFewAreLookedFor(t *testing.T) {
	w := settled(t, card("a"), card("b"))
	a := w.link(card("a"))
	w.planned.put(incoming, "Incoming")
	w.poll()
	if c := w.work(a); c == nil || len(c.Inbox) != 0 {
		t.Errorf("claim %+v: want it due without a snapshot", c)
	}
	w.planned.put(incoming, "Incoming", card("a"), card("b"))
	w.poll()
	if c := w.work(a); c == nil || len(c.Inbox) != 1 {
		t.Errorf("claim %+v: want it due with the card", c)
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

// TestAdoption: nothing may be created before everything marked was seen on
// both sides, old sprints included; a project adopts once for each epoch.
func TestAdoption(t *testing.T) {
	w := newWorld(t)
	mark := mapping.Marker{Kind: mapping.MarkCard, Link: "00000000000000aa", Nonce: "00000000000000bb", Partner: "12345"}
	w.planned.sprints = []poll.Sprint{{ID: "o", Past: true}}
	w.planned.items["o"] = listing{cards: []mapping.Card{card("a", func(c *mapping.Card) {
		c.Summary.Value = keys.AppendFooter("", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")
	})}}
	adopted := func() bool {
		doc, err := w.store.Doc(t.Context(), project, store.DocAdopted)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		epoch, _ := w.store.Epoch(t.Context())
		return string(doc) == epoch
	}
	w.planned.fails["sprint o"] = mapping.ErrForbidden
	w.adopted()
	w.poll()
	if adopted() {
		t.Error("adopted though a sprint could not be read")
	}
	delete(w.planned.fails, "sprint o")
	w.poll()
	if !adopted() || w.onlyLink().ID != mark.Link {
		t.Errorf("adopted %v, links %v", adopted(), w.links())
	}

	// The other side first, this time.
	w = newWorld(t)
	w.poll()
	if adopted() {
		t.Error("adopted though the repository's own issues were not listed")
	}
	w.adopted()
	w.poll()
	if !adopted() {
		t.Errorf("not adopted:\n%s", w.log)
	}
	const unlisted = `"nothing is created yet"`
	if log := fmt.Sprint(w.log); strings.Count(log, " fact="+unlisted) != 1 || strings.Count(log, " over="+unlisted) != 1 {
		t.Errorf("the wait for GitHub's side is no fact that ends:\n%s", log)
	}
}

// TestAdoptionLooksAtTheKnown: when adoption begins anew in the same epoch (the
// store rolled back), cards whose marks survived are observed all the same.
func TestAdoptionLooksAtTheKnown(t *testing.T) {
	w := newWorld(t)
	mark := mapping.Marker{Kind: mapping.MarkCard, Link: "00000000000000aa", Nonce: "00000000000000bb", Partner: "12345"}
	w.planned.put(incoming, "Incoming", card("plain"), card("a", func(c *mapping.Card) {
		c.Summary.Value = keys.AppendFooter("", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")
	}))
	w.adopted()
	w.poll()
	w.work(w.onlyLink())
	if err := remove(w, w.onlyLink()); err != nil {
		t.Fatal(err)
	}
	w.poll()
	if n := len(w.links()); n != 0 {
		t.Fatalf("%d links before the adoption", n)
	}
	if err := w.store.Store.PutDoc(t.Context(), project, store.DocAdopted, []byte("rolled back")); err != nil {
		t.Fatal(err)
	}
	w.poll()
	if l := w.onlyLink(); l.ID != mark.Link {
		t.Errorf("link %+v", l)
	}
}

// TestLinksOfGitHubsMarkersAreToldOfTheirCards: a link that GitHub's side restores is made
// after the store dropped what a listing showed of its card. Nothing but a listing tells the
// card's bucket. It is told once, also by the next process.
func TestLinksOfGitHubsMarkersAreToldOfTheirCards(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		w := newWorld(t)
		w.planned.put(other, "Later", card("a"))
		w.poll()
		l := w.link(card("a"))
		w.adopted()
		w.poll()
		if restarts {
			w.restart()
		}
		w.poll()
		if c := decode[mapping.Card](t, w.work(l), mapping.CardRef("a")); c.BucketName != "Later" {
			t.Errorf("restarts %t: told of %+v, want its bucket", restarts, c)
		}
		w.poll()
		if w.work(l) != nil {
			t.Errorf("restarts %t: told again", restarts)
		}
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

// TestAdoptionAfterARestartOfTheStore: a store whose servers restarted holds what its marks tell.
// What is as it was is not observed again. What changed meanwhile is, and so is what has lost
// its mark.
func TestAdoptionAfterARestartOfTheStore(t *testing.T) {
	for _, listedFirst := range []bool{true, false} {
		w := newWorld(t)
		marked := func(id string) mapping.Card {
			mark := mapping.Marker{Kind: mapping.MarkCard, Link: mapping.LinkID("00000000000000" + id), Nonce: "00000000000000bb", Partner: "12345"}
			return card(id, func(c *mapping.Card) {
				c.Summary.Value = keys.AppendFooter("", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")
			})
		}
		changed := marked("ab")
		w.planned.put(incoming, "Incoming", card("plain"), marked("aa"), changed)
		w.adopted()
		w.poll()
		w.poll()
		w.options.Restarted = true
		w.restart()
		epoch, err := w.store.Epoch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.Store.PutDoc(t.Context(), project, store.DocAdopted, []byte("before")); err != nil {
			t.Fatal(err)
		}
		if !listedFirst {
			if err := w.store.Store.PutDoc(t.Context(), "", "adopted:"+w.routes[0].Repositories[0], []byte("before")); err != nil {
				t.Fatal(err)
			}
		}
		changed.Version, changed.Title.Value = changed.Version+1, "Changed"
		w.planned.put(incoming, "Incoming", card("plain"), marked("aa"), changed, marked("ac"))
		w.store.writes()
		w.poll()
		if !listedFirst {
			w.adopted()
			w.poll()
		}
		seen := map[mapping.Ref]bool{}
		observed, _, _ := w.store.writes()
		for _, o := range observed {
			seen[o.Item] = true
		}
		if len(seen) != 2 || !seen[mapping.CardRef("ab")] || !seen[mapping.CardRef("ac")] {
			t.Errorf("GitHub's side first %t: observed %v, want the card that changed and the one that is new", listedFirst, seen)
		}
		if doc, err := w.store.Doc(t.Context(), project, store.DocAdopted); err != nil || string(doc) != epoch {
			t.Errorf("GitHub's side first %t: adopted %q, %v, want %q", listedFirst, doc, err, epoch)
		}
	}
}
