package retention

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// cards are those of a project: which there are, which of them a listing shows, and what
// happened to them here.
type cards struct {
	there, listed map[mapping.ObjectID]bool
	away          bool  // planning does not answer
	refused       error // of each read
	read          []mapping.ObjectID
	forgotten     []mapping.ObjectID
}

func (w *world) items(_ context.Context, _ mapping.ObjectID, carried Names) ([]Items, error) {
	w.carried = carried
	c := &w.cards
	if c.away {
		return nil, nil
	}
	return []Items{c}, nil
}

func (c *cards) Set() string { return "cards" }

func (c *cards) Needed(id mapping.ObjectID) bool { return c.listed[id] }

func (c *cards) Gone(_ context.Context, id mapping.ObjectID) (bool, error) {
	c.read = append(c.read, id)
	return !c.there[id], c.refused
}

func (c *cards) Forget(id mapping.ObjectID) { c.forgotten = append(c.forgotten, id) }

// show makes cards that a listing shows, and marks them as a poll does.
func (w *world) show(ids ...mapping.ObjectID) {
	w.t.Helper()
	marks := map[string]string{}
	for _, id := range ids {
		marks[string(id)] = "digest of " + string(id)
	}
	w.no(w.PutMarks(w.ctx, project, "cards", marks))
	w.cards.there, w.cards.listed = map[mapping.ObjectID]bool{}, map[mapping.ObjectID]bool{}
	for _, id := range ids {
		w.cards.there[id], w.cards.listed[id] = true, true
	}
}

func (w *world) marked(set string) []string {
	w.t.Helper()
	marks, err := w.Marks(w.ctx, project, set)
	w.no(err)
	return slices.Sorted(maps.Keys(store.MarkTexts(marks)))
}

// TestGoneItemsAreForgotten: the mark of a card goes when the card is gone for long, and
// for no less. One that comes back meanwhile, or is there though no listing shows it,
// keeps its mark.
func TestGoneItemsAreForgotten(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put(project, "baseline") // a project of the store
		w.show("back", "deleted", "hidden", "kept")
		c, most := &w.cards, int(UnusedFor/day)
		w.live(3)
		for _, id := range []mapping.ObjectID{"back", "deleted", "hidden"} {
			c.listed[id], c.there[id] = false, id == "hidden"
		}
		w.live(most - 2)
		c.listed["back"], c.there["back"] = true, true
		w.live(1)
		c.listed["back"], c.there["back"] = false, false
		if got := w.marked("cards"); len(got) != 4 || len(c.read) > 0 {
			t.Fatalf("after %d days marks of %q stay, and %q were read", most-1, got, c.read)
		}
		w.live(3)
		if got := w.marked("cards"); !slices.Equal(got, []string{"back", "hidden", "kept"}) {
			t.Errorf("marks of %q stay", got)
		}
		if !slices.Equal(c.forgotten, []mapping.ObjectID{"deleted"}) || !slices.Equal(c.read, []mapping.ObjectID{"deleted", "hidden"}) {
			t.Errorf("%q are forgotten, %q were read", c.forgotten, c.read)
		}
		w.live(most)
		if got := w.marked("cards"); !slices.Equal(got, []string{"hidden", "kept"}) {
			t.Errorf("marks of %q stay in the end", got)
		}
		c.listed["hidden"] = true
		w.live(1)
		if got := w.marked(setUnseen("cards")); len(got) > 0 {
			t.Errorf("days of %q are kept", got)
		}
	})
}

// TestNothingIsForgottenUnread: neither a project that does not answer nor an item that
// cannot be read loses a mark, however long.
func TestNothingIsForgottenUnread(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put(project, "baseline")
		w.show("a", "b")
		w.cards.listed = nil
		w.live(1)
		w.cards.away = true
		w.live(int(UnusedFor/day) + 10)
		if got := w.marked("cards"); len(got) != 2 {
			t.Fatalf("marks of %q stay while planning is away", got)
		}
		w.cards.away, w.cards.refused = false, errors.New("it may not be read")
		w.forgetLast()
		w.no(w.keeper(w.Store).Pass(w.ctx, func(string) {}))
		if got := w.marked("cards"); len(got) != 2 {
			t.Errorf("marks of %q stay though none could be read", got)
		}
	})
}

// TestReadsOfGoneItemsAreBounded: one pass reads so many items and no more; those that
// are unseen longest go first, and all go in the end.
func TestReadsOfGoneItemsAreBounded(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put(project, "baseline")
		var ids []mapping.ObjectID
		for n := range 2*goneReads + 10 {
			ids = append(ids, mapping.ObjectID(fmt.Sprintf("c%04d", n)))
		}
		w.show(ids...)
		w.cards.listed, w.cards.there = nil, nil
		w.live(int(UnusedFor/day) + 1)
		for _, want := range []int{goneReads, 2 * goneReads, len(ids)} {
			if len(w.cards.read) != want || len(w.marked("cards")) != len(ids)-want {
				t.Fatalf("%d cards were read and %d have marks, want %d to be read", len(w.cards.read), len(w.marked("cards")), want)
			}
			w.live(1)
		}
	})
}

// TestTasksOfLinksAreCarried: tasks that links keep the same are known to be there.
func TestTasksOfLinksAreCarried(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		l := &mapping.Link{
			ID: "l1", Project: project,
			Children: []*mapping.Pair{{State: mapping.Linked, Card: mapping.CardID{ID: "tracking"}}, {State: mapping.Orphaned, Card: mapping.CardID{ID: "lost"}}},
			SubLinks: []*mapping.Pair{{Kind: mapping.SubIssue, State: mapping.Linked, Card: mapping.CardID{ID: "sub"}}, {Kind: mapping.SubIssue, State: mapping.Left, Card: mapping.CardID{ID: "left"}}},
			Pair:     mapping.Pair{State: mapping.Linked, Card: mapping.CardID{ID: "card"}},
		}
		left := &mapping.Link{ID: "l2", Project: project, Children: []*mapping.Pair{{State: mapping.Linked, Card: mapping.CardID{ID: "resting"}}}, Pair: mapping.Pair{State: mapping.Left}}
		_, err := w.Observe(w.ctx, project, []store.Observation{{Create: l}, {Create: left}})
		w.no(err)
		w.live(1)
		if got := slices.Sorted(maps.Keys(w.carried.Tasks)); !slices.Equal(got, []mapping.ObjectID{"sub", "tracking"}) {
			t.Errorf("tasks %q are carried", got)
		}
	})
}
