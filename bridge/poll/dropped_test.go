package poll

import (
	"maps"
	"slices"
	"testing"

	"planbridge/bridge/clock"
	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
	"planbridge/store/memstore"
)

// TestTheMemoryForgets: dropped items leave the memory, except a card that the last round saw. A
// process that does not poll keeps no list of it.
func TestTheMemoryForgets(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	p := &Poller{o: Options{Store: s, Project: "p"}, rounds: 7}
	p.cards = cached(SetCards, map[mapping.ObjectID]*seen.Entry{"seen": {Round: 7}, "gone": {Round: 7, Gone: true}, "late": {Round: 6}, "kept": {Round: 6}})
	p.tasks = cached(SetTasks, map[mapping.ObjectID]*seen.Entry{"task": {}})
	for _, id := range []mapping.ObjectID{"seen", "gone", "late", "unknown"} {
		p.Forget(SetCards, id)
	}
	p.Forget(SetTasks, "task")
	if err := p.forgetDropped(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(p.cards.Items)); !slices.Equal(got, []mapping.ObjectID{"kept", "seen"}) || len(p.tasks.Items) > 0 {
		t.Errorf("remembered are %q and %d tasks", got, len(p.tasks.Items))
	}
	if marks, err := s.Marks(t.Context(), "p", SetCards); err != nil || len(marks) != 1 || marks[0].ID != "seen" || marks[0].Text == "" {
		t.Errorf("marks %v, %v, want that of the card that came back", marks, err)
	}
	p.Forget(SetCards, "kept")
	if p.forget(); len(p.dropped.items) > 0 {
		t.Errorf("listed are %v", p.dropped.items)
	}
}

// cached is a cache of a set with entries.
func cached(set string, entries map[mapping.ObjectID]*seen.Entry) *seen.Cache {
	m := seen.New(set, len(entries))
	m.Items = entries
	return m
}
