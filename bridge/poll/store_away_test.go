package poll_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
)

// TestNothingIsLostWithoutTheStore: cards that could not be stored are seen again, and a first poll
// that could not be stored makes no baseline.
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

// TestQueueFull: observations that a full queue refuses come again, and block nothing else.
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
