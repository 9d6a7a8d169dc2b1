package bridge

import (
	"sync"

	"planbridge/bridge/adapters"
	"planbridge/bridge/inventory"
	"planbridge/bridge/needs"
	"planbridge/bridge/poll"
	"planbridge/mapping"
)

// project is one planning project with its client and its poller.
type project struct {
	id     mapping.ObjectID
	name   string // of the configuration that added it
	side   *adapters.Planning
	poller *poll.Poller
	stop   func() // ends the poller; nil: it was not started
}

// projects are the planning projects of this process: those that the configuration names, also
// after a reload.
type projects struct {
	mu   sync.Mutex
	byID map[mapping.ObjectID]*project
	// run starts a poller; nil until the store has been reached.
	run func(*project) (stop func())
}

func (ps *projects) get(id mapping.ObjectID) *project {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.byID[id]
}

// Project returns a project as the inventory uses it.
func (ps *projects) Project(id mapping.ObjectID) inventory.Planning {
	if p := ps.get(id); p != nil {
		return p.side
	}
	return nil
}

// Remembered returns a project as package needs uses it.
func (ps *projects) Remembered(id mapping.ObjectID) needs.Project {
	if p := ps.get(id); p != nil {
		return remembered{p.side, p.poller}
	}
	return nil
}

// remembered is a project whose items its poller remembers.
type remembered struct {
	*adapters.Planning
	*poll.Poller
}

// exists tells a project's poller of a card, which may be in no listing yet.
func (ps *projects) exists(project, card mapping.ObjectID) {
	if p := ps.get(project); p != nil {
		p.poller.Exists(card)
	}
}

func (ps *projects) all() []*project {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var all []*project
	for _, p := range mapping.Sorted(ps.byID) {
		all = append(all, p)
	}
	return all
}

// start begins to poll, now and whenever a project is added.
func (ps *projects) start(run func(*project) (stop func())) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.run = run
	for _, p := range mapping.Sorted(ps.byID) {
		p.stop = run(p)
	}
}

func (ps *projects) add(id mapping.ObjectID, p *project) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.byID[id] = p
	if ps.run != nil {
		p.stop = ps.run(p)
	}
}

// remove takes out the projects that are not kept. Their pollers have ended when it returns.
func (ps *projects) remove(kept map[mapping.ObjectID]bool) (removed []*project) {
	ps.mu.Lock()
	for id, p := range mapping.Sorted(ps.byID) {
		if !kept[id] {
			delete(ps.byID, id)
			removed = append(removed, p)
		}
	}
	ps.mu.Unlock() // a poller that ends may ask for its project
	for _, p := range removed {
		if p.stop != nil {
			p.stop()
		}
	}
	return removed
}
