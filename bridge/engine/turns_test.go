package engine

import (
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
)

// One row ends for each project that is due and that nobody works, longest due first. Such a
// project is asked before those in turn.
func TestOneRowEndsForAProject(t *testing.T) {
	t.Parallel()
	now, turns := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), newTurns()
	projects := []mapping.ObjectID{"a", "b", "c", "d"}
	for i, project := range projects { // d is due longest, and a not yet
		turns.expect(project, now.Add(time.Duration(-i)*time.Second+time.Millisecond))
	}
	end := turns.begin("c")
	for _, want := range []string{"d", "b", ""} {
		yields := turns.yields(now)
		order := turns.order(projects, 1)
		if yields != (want != "") || !slices.Equal(order, append(next(want), "b", "c", "d", "a")) {
			t.Errorf("a row ends: %v; asked are %q, want first %q", yields, order, want)
		}
	}
	end()
	if !turns.yields(now) || turns.order(projects[:2], 0)[0] != "a" {
		t.Error("a project that nobody works any more is not served, or one that is gone is asked")
	}
}

func next(project string) (first []mapping.ObjectID) {
	if project != "" {
		first = append(first, mapping.ObjectID(project))
	}
	return first
}
