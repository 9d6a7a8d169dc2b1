package engine

import (
	"slices"
	"sync"
	"time"

	"planbridge/mapping"
)

// turns says which project is served next. A project of which no key is worked goes first
// once a key of it is due: a worker of another one ends its row for it. It is safe for
// concurrent use.
type turns struct {
	mu     sync.Mutex
	all    int                            // keys that are worked
	inHand map[mapping.ObjectID]int       // of them, by project
	due    map[mapping.ObjectID]time.Time // when the next key of a project is due, as far as is known
	next   []mapping.ObjectID             // those for which a row ended
}

func newTurns() *turns {
	return &turns{inHand: map[mapping.ObjectID]int{}, due: map[mapping.ObjectID]time.Time{}}
}

// begin counts a key of a project that is worked, until end is called.
func (t *turns) begin(project mapping.ObjectID) (end func()) {
	t.add(project, 1)
	return func() { t.add(project, -1) }
}

func (t *turns) add(project mapping.ObjectID, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all += n
	if t.inHand[project] += n; t.inHand[project] == 0 {
		delete(t.inHand, project)
	}
}

// count is how many keys are worked, and how many of them are of a project.
func (t *turns) count(project mapping.ObjectID) (all, of int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all, t.inHand[project]
}

// expect notes when the next key of a project is due. Zero: that is not known.
func (t *turns) expect(project mapping.ObjectID, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.IsZero() {
		delete(t.due, project)
		return
	}
	t.due[project] = at
}

// yields reports whether a worker is to end its row for a project of which a key is due and none
// is worked. One row ends for each such project, first for the one whose key is due longest.
func (t *turns) yields(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	var next mapping.ObjectID
	for project, at := range mapping.Sorted(t.due) {
		if t.inHand[project] == 0 && !now.Before(at) && (next == "" || at.Before(t.due[next])) {
			next = project
		}
	}
	if next == "" {
		return false
	}
	delete(t.due, next)
	t.next = append(t.next, next)
	return true
}

// order is in which order projects are asked for a key: first those for which a row ended,
// then all in turn.
func (t *turns) order(projects []mapping.ObjectID, from int) []mapping.ObjectID {
	t.mu.Lock()
	defer t.mu.Unlock()
	order := slices.DeleteFunc(t.next, func(p mapping.ObjectID) bool { return !slices.Contains(projects, p) })
	t.next = nil
	for i := range projects {
		order = append(order, projects[(from+i)%len(projects)])
	}
	return order
}
