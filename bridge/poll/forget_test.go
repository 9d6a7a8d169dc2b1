package poll_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"planbridge/bridge/poll"
	"planbridge/mapping"
	"planbridge/store"
)

// vanish has cards be shown no more: only these are left.
func (w *world) vanish(left ...mapping.Card) {
	w.t.Helper()
	w.planned.put(incoming, "Incoming", left...)
	w.poll()
	w.poll()
}

// forgotten removes the marks of cards, as the retention does long after they are gone.
func (w *world) forgotten(ids ...mapping.ObjectID) {
	w.t.Helper()
	for _, id := range ids {
		if err := w.store.DropMarks(w.t.Context(), project, poll.SetCards, []string{string(id)}); err != nil {
			w.t.Fatal(err)
		}
		w.poller.Forget(poll.SetCards, id)
	}
}

func (w *world) markedCards() []string {
	w.t.Helper()
	marks, err := w.store.Marks(w.t.Context(), project, poll.SetCards)
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(store.MarkTexts(marks)))
}

// TestAForgottenCardComesBack: a card that was gone for so long that its mark was removed
// is met by its link, or by its marker. One that has neither is new. Within that time no
// card is.
func TestAForgottenCardComesBack(t *testing.T) {
	for _, forgotten := range []bool{false, true} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("forgotten=%v,restart=%v", forgotten, restart), func(t *testing.T) {
				linked, old, kept := card("linked"), card("old"), card("kept")
				mark := mapping.Marker{Kind: mapping.MarkCard, Link: "00000000000000aa", Nonce: "00000000000000bb", Partner: "12345"}
				marked := card("marked", func(c *mapping.Card) {
					c.Summary.Value = keys.AppendFooter("Text", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")
				})
				w := settled(t, linked, old, kept)
				l := w.link(linked)
				w.planned.put(incoming, "Incoming", linked, old, kept, marked)
				w.poll()
				w.vanish(kept)
				if forgotten {
					w.forgotten("linked", "old", "marked")
					w.poll()
					if got := w.markedCards(); !slices.Equal(got, []string{"kept"}) {
						t.Fatalf("marks of %q stay", got)
					}
				}
				if restart {
					w.restart()
					w.poll()
				}
				w.store.writes()
				w.planned.put(incoming, "Incoming", kept, old, linked, marked)
				w.poll()
				w.comeBack(l, forgotten)
			})
		}
	}
}

// comeBack judges what became of the cards that came back.
func (w *world) comeBack(l *mapping.Link, forgotten bool) {
	w.t.Helper()
	observed, _, _ := w.store.writes()
	seen := map[mapping.Ref]bool{}
	for _, o := range observed {
		seen[o.Item] = true
	}
	links := map[mapping.ObjectID]mapping.LinkID{}
	for _, l := range w.links() {
		links[l.Card.ID] = l.ID
	}
	if links["linked"] != l.ID || links["marked"] != "00000000000000aa" || len(w.links()) != len(links) {
		w.t.Errorf("the links of cards are %v, want that of the linked one to be %s", links, l.ID)
	}
	if forgotten && (!seen["card:linked"] || !seen["card:marked"]) {
		w.t.Errorf("shown were %v", seen)
	}
	if (links["old"] != "") != forgotten {
		w.t.Errorf("the card that was left alone has the link %q, forgotten %v", links["old"], forgotten)
	}
}

// TestACardComesBackWhileItIsForgotten: the mark of a card that a round shows is made
// again, wherever its removal and its return met.
func TestACardComesBackWhileItIsForgotten(t *testing.T) {
	old, kept := card("old"), card("kept")
	w := settled(t, old, kept)
	w.vanish(kept)
	w.planned.put(incoming, "Incoming", kept, old)
	w.poll()
	w.forgotten("old")
	w.poll()
	if got := w.markedCards(); !slices.Equal(got, []string{"kept", "old"}) {
		t.Errorf("marks of %q stay", got)
	}
	w.restart()
	w.poll()
	if n := len(w.links()); n > 0 {
		t.Errorf("%d links", n)
	}
}
