package poll_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
)

// TestEntering: what is there at first is recorded, what comes later enters.
func TestEntering(t *testing.T) {
	w := settled(t, card("old"))
	w.planned.put(incoming, "Incoming", card("old"), card("new"))
	w.poll()
	l := w.onlyLink()
	if l.State != mapping.Entering || l.Origin != mapping.Planning || l.Route != "web" || l.Card.ID != "new" ||
		l.Card.CID != 7 || l.Card.Bucket != incoming || l.Card.BucketName != "Incoming" || l.Intent != nil || l.Nonce == "" {
		t.Errorf("link %+v", l)
	}
	if c := decode[mapping.Card](t, w.work(l), mapping.CardRef("new")); c.Title.Value != "Card new" {
		t.Errorf("inbox has %+v", c)
	}
	w.poll()
	if c := w.work(l); c != nil || len(w.links()) != 1 {
		t.Errorf("the next poll made %+v due", c)
	}
}

// TestEnteringWhileAway: what was made while no process ran enters too.
func TestEnteringWhileAway(t *testing.T) {
	w := settled(t, card("old"))
	w.planned.put(incoming, "Incoming", card("old"), card("new"))
	w.restart()
	w.poll()
	if l := w.onlyLink(); l.Card.ID != "new" {
		t.Errorf("link %+v", l)
	}
}

// TestMovedCard: a card enters when it is first seen in the bucket, and once.
func TestMovedCard(t *testing.T) {
	w := settled(t)
	w.planned.put(other, "Other", card("a"))
	w.poll()
	if n := len(w.links()); n != 0 {
		t.Fatalf("%d links of a bucket that is no route's", n)
	}
	w.planned.put(other, "Other")
	w.planned.put(incoming, "Incoming", card("a"))
	w.poll()
	l := w.onlyLink()
	c := w.work(l)
	if err := remove(w, l); err != nil {
		t.Fatal(err, c)
	}
	for range 2 {
		w.planned.put(incoming, "Incoming")
		w.planned.put(other, "Other", card("a", version(2)))
		w.poll()
		w.planned.put(other, "Other")
		w.planned.put(incoming, "Incoming", card("a", version(3)))
		w.restart()
		w.poll()
	}
	if n := len(w.links()); n != 0 {
		t.Errorf("a card that was in the bucket before entered again: %d links", n)
	}
}

// TestBucketRenamedByPeople: what people make in a bucket after they renamed it enters once the route has
// its new title, as the bucket is the same. What was there before does not.
func TestBucketRenamedByPeople(t *testing.T) {
	w := settled(t, card("old"))
	w.poll()
	for _, c := range [][]mapping.Card{{card("old")}, {card("old"), card("meanwhile")}} {
		w.planned.buckets[0].title = "Inbox"
		w.planned.put(incoming, "Inbox", c...)
		w.restart()
		w.poll()
	}
	if n := len(w.links()); n != 0 {
		t.Fatalf("%d links of a bucket that no route names", n)
	}
	w.routes = []mapping.Route{route("web", "Inbox")}
	w.poll()
	if l := w.onlyLink(); l.Card.ID != "meanwhile" {
		t.Errorf("link %+v", l)
	}
}

// TestBucketNamedAnew: a bucket that a route leaves, and gets back, begins anew.
func TestBucketNamedAnew(t *testing.T) {
	w := settled(t, card("old"))
	w.poll()
	for _, title := range []string{"Other", "Incoming"} {
		w.planned.put(incoming, "Incoming", card("old"), card("meanwhile"))
		w.routes = []mapping.Route{route("web", title)}
		w.poll()
	}
	if n := len(w.links()); n != 0 {
		t.Errorf("%d links of cards that were there before the route had their bucket", n)
	}
}

// TestNewRouteReportsOldCards: a route that comes while the project is polled leaves the cards of
// its bucket alone, and one line counts them.
func TestNewRouteReportsOldCards(t *testing.T) {
	w := settled(t)
	w.planned.put(other, "Other", card("a"), card("b"))
	w.poll()
	w.routes = append(w.routes, route("second", "Other"))
	for range 2 {
		w.poll()
	}
	if n := w.log.Lines("are left alone: import takes them\" route=second cards=2 "); n != 1 || len(w.links()) != 0 {
		t.Errorf("%d lines, %d links: %s", n, len(w.links()), w.log)
	}
}

// remove deletes a link as the reconcile does when an item does not enter.
func remove(w *world, l *mapping.Link) error {
	c, err := w.store.ClaimKey(w.t.Context(), store.Key{Project: project, Link: l.ID}, 1e10)
	if err != nil {
		return err
	}
	return w.store.Finish(w.t.Context(), c, nil, nil, store.Outcome{Kind: store.Remove})
}

func TestNotEntering(t *testing.T) {
	for name, tt := range map[string]struct {
		card  mapping.Card
		route func(*mapping.Route)
	}{
		"placeholder":   {card("a", func(c *mapping.Card) { c.Placeholder = true }), nil},
		"create_issues": {card("a"), func(r *mapping.Route) { r.CreateIssues = false }},
		"to_planning":   {card("a"), func(r *mapping.Route) { r.Direction = mapping.ToPlanning }},
		"glob":          {card("a"), func(r *mapping.Route) { r.Repositories, r.NewCardsIn = []string{"acme/*"}, "" }},
		"other project": {card("a"), func(r *mapping.Route) { r.Project = "elsewhere" }},
	} {
		w := newWorld(t)
		if tt.route != nil {
			tt.route(&w.routes[0])
		}
		w.planned.put(incoming, "Incoming")
		w.poll()
		w.planned.put(incoming, "Incoming", tt.card)
		w.poll()
		if n := len(w.links()); n != 0 {
			t.Errorf("%s: %d links", name, n)
		}
	}
}

// TestLaterRoutes: a route, or a bucket of one, that is configured later only
// records at first, and so does one that comes back.
func TestLaterRoutes(t *testing.T) {
	w := settled(t, card("a"))
	enter := func(want int, what string) {
		t.Helper()
		w.poll()
		if n := len(w.links()); n != want {
			t.Fatalf("%s: %d links, want %d\n%s", what, n, want, w.log)
		}
	}
	w.planned.put(other, "Other", card("b"))
	enter(0, "no route")
	w.routes = append(w.routes, route("api", "Other"))
	enter(0, "new route")
	w.planned.put(other, "Other", card("b"), card("c"))
	enter(1, "new card of the new route")

	w.planned.put("b-bugs", "Bugs", card("d"))
	w.routes[0].BucketByLabel = []mapping.LabelBucket{{Label: "bug", Bucket: "Bugs"}}
	enter(1, "new bucket")
	w.planned.put("b-bugs", "Bugs", card("d"), card("e"))
	enter(2, "new card of the new bucket")

	gone := w.routes[1]
	w.routes = w.routes[:1]
	w.planned.put(other, "Other", card("b"), card("c"), card("f"))
	enter(2, "without the route")
	w.routes = append(w.routes, gone)
	w.restart()
	enter(2, "the route is back")
	w.planned.put(other, "Other", card("b"), card("c"), card("f"), card("g"))
	enter(3, "new card of the route that is back")
}

// TestRenamedBucket: a route that names its bucket by id does not take a new
// title for new cards.
func TestRenamedBucket(t *testing.T) {
	w := newWorld(t)
	w.routes[0].Bucket = string(incoming)
	w.planned.put(incoming, "Incoming", card("a"))
	w.poll()
	w.planned.buckets[0].title = "Inbox"
	w.poll()
	if n := len(w.links()); n != 0 {
		t.Fatalf("%d links", n)
	}
	w.planned.put(incoming, "Inbox", card("a"), card("b"))
	w.poll()
	w.onlyLink()
}

// TestMarkedCard: a card that the bridge made leads to its link, or to the one
// that the store lost.
func TestMarkedCard(t *testing.T) {
	mark := mapping.Marker{Kind: mapping.MarkCard, Link: "00000000000000aa", Nonce: "00000000000000bb", Partner: "12345"}
	made := func(id string) mapping.Card {
		return card(id, func(c *mapping.Card) {
			c.Summary.Value = keys.AppendFooter("Text", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")
		})
	}
	t.Run("link known", func(t *testing.T) {
		w := settled(t)
		l := w.link(mapping.Card{}, func(l *mapping.Link) {
			l.ID, l.Nonce, l.State, l.Origin = mark.Link, mark.Nonce, mapping.Creating, mapping.GitHub
			l.Issue = mapping.IssueID{ID: 12345, Repo: "acme/web", Number: 12}
		})
		w.planned.put(incoming, "Incoming", made("a"))
		w.poll()
		w.onlyLink()
		decode[mapping.Card](t, w.work(l), mapping.CardRef("a"))
	})
	t.Run("store lost", func(t *testing.T) {
		w := newWorld(t)
		w.planned.put(incoming, "Incoming", made("a"), card("b"))
		w.poll()
		l := w.onlyLink()
		if l.ID != mark.Link || l.Nonce != mark.Nonce || l.State != mapping.Linked || l.Origin != mapping.GitHub || l.Card.ID != "a" ||
			l.Issue.ID != 12345 || l.Issue.Repo != "acme/web" || l.Issue.Number != 12 || l.Route != "web" || len(l.Base) != 0 {
			t.Errorf("rebuilt %+v", l)
		}
	})
	t.Run("copied", func(t *testing.T) {
		w := settled(t)
		w.planned.put(incoming, "Incoming", made("a"))
		w.poll()
		l := w.onlyLink()
		w.work(l)
		w.planned.put(incoming, "Incoming", made("a"), made("b"))
		w.poll()
		w.onlyLink()
		decode[mapping.Card](t, w.work(l), mapping.CardRef("b"))
	})
	t.Run("escaped by Markdown", func(t *testing.T) {
		w := newWorld(t)
		c := made("a")
		c.Summary.Value = escape(c.Summary.Value)
		w.planned.put(incoming, "Incoming", c)
		w.poll()
		if l := w.onlyLink(); l.ID != mark.Link || l.Issue.Number != 12 || l.Issue.Repo != "acme/web" {
			t.Errorf("rebuilt %+v", l.Issue)
		}
	})
	t.Run("of no route", func(t *testing.T) {
		w := settled(t)
		w.routes[0].Repositories, w.routes[0].NewCardsIn = []string{"acme/renamed"}, "acme/renamed"
		w.planned.put(incoming, "Incoming", made("a"))
		w.poll()
		if l := w.onlyLink(); l.ID != mark.Link || l.Route != "" || l.Issue.Number != 12 {
			t.Errorf("it is %+v by route %q: it has its own issue once a route is back", l.Issue, l.Route)
		}
	})
}

// escape puts backslashes before the hyphens and dots of the link's target, as
// a Markdown writer may.
func escape(text string) string {
	i := slices.Index([]byte(text), '#')
	var out []byte
	for j, c := range []byte(text) {
		if j > i && (c == '-' || c == '.') && j > len(text)-120 {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return string(out)
}

// TestNothingIsLostWithoutTheStore: what could not be stored is seen again, and
// a first poll that could not be stored makes no baseline.
func TestNothingIsLostWithoutTheStore(t *testing.T) {
	w := settled(t, card("old"))
	w.planned.put(incoming, "Incoming", card("old"), card("new"))
	w.store.fail = errors.New("connection refused")
	for range 2 {
		if err := w.poller.Poll(t.Context()); !errors.Is(err, w.store.fail) {
			t.Fatalf("error %v", err)
		}
	}
	w.store.fail = nil
	w.poll()
	if l := w.onlyLink(); l.Card.ID != "new" {
		t.Errorf("link %+v", l)
	}
}

// TestStoreLost: this process still knows what was there: that does not enter,
// what was made meanwhile does, and what is marked finds its link.
func TestStoreLost(t *testing.T) {
	w := settled(t, card("a"))
	w.store.Store = newStore(t, boltstore.Options{})
	mark := mapping.Marker{Kind: mapping.MarkCard, Link: "00000000000000aa", Nonce: "00000000000000bb", Partner: "12345"}
	w.planned.put(incoming, "Incoming", card("a"), card("new meanwhile"), card("made", func(c *mapping.Card) {
		c.Summary.Value = keys.AppendFooter("", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")
	}))
	w.poll()
	states := map[mapping.ObjectID]mapping.LinkState{}
	for _, l := range w.links() {
		states[l.Card.ID] = l.State
	}
	want := map[mapping.ObjectID]mapping.LinkState{"made": mapping.Linked, "new meanwhile": mapping.Entering}
	if !maps.Equal(states, want) {
		t.Errorf("links %v, want %v", states, want)
	}
	if _, err := w.store.Doc(t.Context(), project, store.DocAdopted); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("adopted before the repository's own issues were listed: %v", err)
	}
	w.adopted()
	w.poll()
	if _, err := w.store.Doc(t.Context(), project, store.DocAdopted); err != nil {
		t.Errorf("not adopted: %v", err)
	}
}

// TestQueueFull: what a full queue refuses comes again, and keeps nothing else
// from being seen.
func TestQueueFull(t *testing.T) {
	w := settled(t, card("a"), card("b"))
	linked := w.link(card("b"))
	w.store.Store = &refusing{w.store.Store, "new"}
	w.planned.put(incoming, "Incoming", card("new"), card("a"), card("b", version(2)))
	for range 2 {
		if err := w.poller.Poll(t.Context()); !errors.Is(err, store.ErrFull) {
			t.Fatalf("error %v", err)
		}
		if len(w.links()) != 1 {
			t.Fatalf("links %v", w.links())
		}
	}
	decode[mapping.Card](t, w.work(linked), mapping.CardRef("b"))
	w.store.Store = w.store.Store.(*refusing).Store
	w.poll()
	if n := len(w.links()); n != 2 {
		t.Errorf("%d links once there is room", n)
	}
}

// refusing has no room for the links of one card.
type refusing struct {
	store.Store
	card mapping.ObjectID
}

func (s *refusing) Observe(ctx context.Context, p mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	keep := slices.DeleteFunc(slices.Clone(obs), func(o store.Observation) bool { return o.Refs[0] == mapping.CardRef(s.card) })
	got, err := s.Store.Observe(ctx, p, keep)
	for i, o := range obs {
		if o.Refs[0] == mapping.CardRef(s.card) {
			got = slices.Insert(got, i, store.Observed{Err: store.ErrFull})
		}
	}
	return got, err
}

// TestInterruptedBaseline: cards of a first poll that did not come to its end
// are old in the next one too.
func TestInterruptedBaseline(t *testing.T) {
	w := newWorld(t)
	w.planned.put(incoming, "Incoming", card("a"))
	w.store.fail = errors.New("away")
	if err := w.poller.Poll(t.Context()); err == nil {
		t.Fatal("no error")
	}
	w.store.fail = nil
	w.planned.put(incoming, "Incoming", card("a"), card("b"))
	w.poll()
	if n := len(w.links()); n != 0 {
		t.Errorf("%d links of a first poll", n)
	}
}

// TestForeignCard: a card of a bridge with other keys has its issue already, and
// one with a forged footer leads nowhere.
func TestForeignCard(t *testing.T) {
	w := settled(t)
	foreign := mapping.NewKeys([]byte("the key of another bridge"))
	made := card("theirs", func(c *mapping.Card) {
		mark := mapping.Marker{Kind: mapping.MarkCard, Link: "l1", Nonce: "n1", Partner: "12"}
		c.Summary.Value = foreign.AppendFooter("text", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")
	})
	told := card("told", func(c *mapping.Card) { c.Summary.Value = "Synced by planbridge with great care" })
	w.planned.put(incoming, "Incoming", made, told)
	for range 3 {
		w.poll()
	}
	if l := w.onlyLink(); l.Card.ID != "told" {
		t.Errorf("link %+v", l)
	}
	if n := strings.Count(w.log.String(), "another marker key"); n != 1 {
		t.Errorf("said %d times:\n%s", n, w.log)
	}
}
