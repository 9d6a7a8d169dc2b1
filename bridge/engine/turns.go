package engine

import (
	"slices"
	"sync"
	"time"

	"planbridge/mapping"
)

// turns selects the project that is served next. A project goes first if one of its keys is due
// and none is worked: a worker of another project then ends its row. It is safe for concurrent
// use.
type turns struct {
	mu     sync.Mutex
	all    int                            // keys under way
	inHand map[mapping.ObjectID]int       // keys under way, by project
	due    map[mapping.ObjectID]time.Time // when the next key of a project is due, where known
	next   []mapping.ObjectID             // projects for which a worker ended its row
}

func newTurns() *turns {
	return &turns{inHand: map[mapping.ObjectID]int{}, due: map[mapping.ObjectID]time.Time{}}
}

// begin counts a key of a project as under way until end is called.
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

// count returns how many keys are under way, and how many of them belong to a project.
func (t *turns) count(project mapping.ObjectID) (all, of int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all, t.inHand[project]
}

// expect notes when the next key of a project is due. Zero says that it is unknown.
func (t *turns) expect(project mapping.ObjectID, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.IsZero() {
		delete(t.due, project)
		return
	}
	t.due[project] = at
}

// yields reports whether a worker must end its row for a project that has a due key and none
// under way. One row ends for each such project. The project whose key is due longest comes
// first.
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

// order returns the projects in the order in which they are asked for a key. Projects for which a
// row ended come first, then all in turn.
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
