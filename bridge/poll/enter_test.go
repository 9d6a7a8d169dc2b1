package poll_test

import (
	"slices"
	"strings"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// TestEntering: the first cards are recorded, later ones enter.
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

// TestEnteringWhileAway: items made while no process ran enter too.
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

// TestBucketRenamedByPeople: people make cards in a bucket after they renamed it. They enter once
// the route has its new title, as the bucket is the same. Earlier cards do not.
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
