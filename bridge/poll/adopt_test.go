package poll_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"planbridge/bridge/poll"
	"planbridge/mapping"
	"planbridge/store"
)

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

// TestAdoptionAfterARestartOfTheStore: a store whose servers restarted holds what its marks tell.
// Unchanged cards are not observed again. Cards that changed meanwhile are, and so are those
// without their mark.
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

// TestRestoredLinksHaveNoLines: a lost store of many links is one fact, so that the log has no
// line for each link that is restored.
func TestRestoredLinksHaveNoLines(t *testing.T) {
	w := newWorld(t)
	mark := mapping.Marker{Kind: mapping.MarkCard, Link: "00000000000000aa", Nonce: "n1", Partner: "7"}
	w.planned.put(incoming, "Incoming", card("a", func(c *mapping.Card) {
		c.Summary.Value = keys.AppendFooter("", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")
	}))
	w.adopted()
	w.poll()
	w.poll()
	if n := w.log.Lines("new link"); n != 0 || len(w.links()) != 1 {
		t.Errorf("%d lines tell of %d links", n, len(w.links()))
	}
	w.planned.put(incoming, "Incoming", card("b"))
	w.poll()
	if n := w.log.Lines("new link"); n != 1 {
		t.Errorf("%d lines tell of a card that entered", n)
	}
}
