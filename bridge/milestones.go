package bridge

import (
	"context"
	"sync"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
)

// How long the milestones are left alone after they could not be brought in
// line: at first, and at most.
const (
	milestonesFirst = time.Second
	milestonesMost  = 10 * time.Minute
)

// sprintNews remembers in which projects sprints have changed since their
// milestones were looked at.
type sprintNews struct {
	mu       sync.Mutex
	projects map[mapping.ObjectID]bool
	kick     chan struct{}
}

func newSprintNews() *sprintNews {
	return &sprintNews{projects: map[mapping.ObjectID]bool{}, kick: make(chan struct{}, 1)}
}

func (n *sprintNews) tell(project mapping.ObjectID) {
	n.mu.Lock()
	n.projects[project] = true
	n.mu.Unlock()
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

// take hands over what there is.
func (n *sprintNews) take() []mapping.ObjectID {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []mapping.ObjectID
	for project := range mapping.Sorted(n.projects) {
		out = append(out, project)
	}
	clear(n.projects)
	return out
}

// seeToMilestones brings milestones in line with sprints that have changed,
// until ctx ends. It is no part of a poll: GitHub may keep it waiting.
func (a *App) seeToMilestones(ctx context.Context) {
	wait := milestonesFirst
	for {
		var again <-chan time.Time
		for _, project := range a.sprintNews.take() {
			err := a.guard.Do("milestones of", string(project), func() error { return a.reconcile.Milestones(ctx, project) })
			if err == nil {
				continue
			}
			if ctx.Err() == nil && wait == milestonesFirst && !guard.Panicked(err) {
				a.log.Warn("milestones; to be tried again", "project", project, "err", err)
			}
			a.sprintNews.tell(project)
			again = time.After(wait)
		}
		kick := a.sprintNews.kick
		if wait = min(2*wait, milestonesMost); again == nil {
			wait = milestonesFirst
		} else {
			kick = nil // whatever is told meanwhile waits, too
		}
		select {
		case <-ctx.Done():
			return
		case <-kick:
		case <-again:
		}
	}
}
