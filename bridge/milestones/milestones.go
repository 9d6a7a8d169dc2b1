// Package milestones brings milestones in line with sprints that have changed. It is no part of a
// poll, as GitHub may delay it.
package milestones

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
)

// The pauses after milestones could not be brought in line: the first one, and the longest.
const (
	firstPause   = time.Second
	longestPause = 10 * time.Minute
)

// Reconciler brings the milestones of a project in line with its sprints.
type Reconciler interface {
	Milestones(ctx context.Context, project mapping.ObjectID) error
}

// Options configure a Syncer. All fields are required.
type Options struct {
	Reconciler Reconciler
	Guard      *guard.Guard
	Logger     *slog.Logger
}

// Syncer remembers the projects whose sprints have changed since their milestones were checked. It
// is safe for concurrent use.
type Syncer struct {
	o        Options
	mu       sync.Mutex
	projects map[mapping.ObjectID]bool
	wake     chan struct{}
}

// New makes a Syncer without changed projects.
func New(o Options) *Syncer {
	return &Syncer{o: o, projects: map[mapping.ObjectID]bool{}, wake: make(chan struct{}, 1)}
}

// SprintsChanged records a project whose sprints have changed, or of which GitHub shows less than
// before.
func (s *Syncer) SprintsChanged(project mapping.ObjectID) {
	s.mu.Lock()
	s.projects[project] = true
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// drainChanged returns and clears the changed projects.
func (s *Syncer) drainChanged() []mapping.ObjectID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []mapping.ObjectID
	for project := range mapping.Sorted(s.projects) {
		out = append(out, project)
	}
	clear(s.projects)
	return out
}

// Run brings milestones in line with sprints that have changed, until ctx ends.
func (s *Syncer) Run(ctx context.Context) {
	wait := firstPause
	for {
		var again <-chan time.Time
		for _, project := range s.drainChanged() {
			err := s.o.Guard.Do("milestones of", string(project), func() error { return s.o.Reconciler.Milestones(ctx, project) })
			if err == nil {
				continue
			}
			if ctx.Err() == nil && wait == firstPause && !guard.Panicked(err) {
				s.o.Logger.Warn("milestones; to be tried again", "project", project, "err", err)
			}
			s.SprintsChanged(project)
			again = time.After(wait)
		}
		wake := s.wake
		if wait = min(2*wait, longestPause); again == nil {
			wait = firstPause
		} else {
			wake = nil // projects that change meanwhile wait, too
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-again:
		}
	}
}
