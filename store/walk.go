package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"planbridge/mapping"
)

// WakePerSecond is the rate at which keys that waited for a service become due. New changes go
// before them.
const WakePerSecond = 1000

// EnqueuePerSecond is the rate at which many keys become due among those of live changes.
const EnqueuePerSecond = 50

// LinksPage is how many links a walk reads at once. Each takes some 20 KB while it is read.
const LinksPage = 100

// AllLinks walks the links of a project page by page, in the store's order. An error ends the
// walk.
func AllLinks(ctx context.Context, s Links, project mapping.ObjectID) iter.Seq2[*mapping.Link, error] {
	return func(yield func(*mapping.Link, error) bool) {
		for cursor := ""; ; {
			links, next, err := s.List(ctx, project, cursor, LinksPage)
			if err != nil {
				yield(nil, fmt.Errorf("list links: %w", err))
				return
			}
			for _, l := range links {
				if !yield(l, nil) {
					return
				}
			}
			if cursor = next; cursor == "" {
				return
			}
		}
	}
}

type (
	finder interface {
		Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error)
	}
	lister interface {
		Projects(ctx context.Context) ([]mapping.ObjectID, error)
	}
	// Finder finds links by their items, in all projects with data in the store.
	Finder interface {
		finder
		lister
	}
)

// ProjectsAfter lists first the projects in first, then all others with data in the store,
// configured or not.
func ProjectsAfter(ctx context.Context, s lister, first []mapping.ObjectID) ([]mapping.ObjectID, error) {
	all, err := s.Projects(ctx)
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	others := slices.DeleteFunc(all, func(p mapping.ObjectID) bool { return slices.Contains(first, p) })
	return slices.Concat(first, others), nil
}

// FindAnywhere returns the key of the link with an item in any project of the store, and whether
// there is one. It searches the first projects first.
func FindAnywhere(ctx context.Context, s Finder, first []mapping.ObjectID, ref mapping.Ref) (Key, bool, error) {
	if key, found, err := FindIn(ctx, s, first, ref); found || err != nil {
		return key, found, err
	}
	all, err := ProjectsAfter(ctx, s, first)
	if err != nil {
		return Key{}, false, err
	}
	return FindIn(ctx, s, all[len(first):], ref)
}

// FindIn returns the key of the link with an item in one of the projects, and whether there is
// one.
func FindIn(ctx context.Context, s finder, projects []mapping.ObjectID, ref mapping.Ref) (Key, bool, error) {
	for _, project := range projects {
		id, err := s.Find(ctx, project, ref)
		if err == nil {
			return Key{Project: project, Link: id}, true, nil
		}
		if !errors.Is(err, ErrNotFound) {
			return Key{}, false, err
		}
	}
	return Key{}, false, nil
}

// Add adds the links and the failures of another tally.
func (t *Tally) Add(other Tally) {
	if t.Links == nil {
		t.Links, t.Failures = map[string]map[mapping.LinkState]int{}, map[string]int{}
	}
	for route, states := range other.Links {
		for state, n := range states {
			t.Count(route, state, n)
		}
	}
	for route, n := range other.Failures {
		t.Failures[route] += n
	}
}

// WithoutProject returns the tally of a project that is not configured. Nobody works its links:
// they count as dormant, and nothing else counts.
func (t Tally) WithoutProject() (out Tally) {
	for route, states := range t.Links {
		for state, n := range states {
			if t, err := mapping.FindTransition(state, mapping.EventRouteRemoved); err == nil {
				state = t.To
			}
			out.Count(route, state, n)
		}
	}
	return out
}

// Count adds links of a route in a state.
func (t *Tally) Count(route string, state mapping.LinkState, n int) {
	if t.Links == nil {
		t.Links, t.Failures = map[string]map[mapping.LinkState]int{}, map[string]int{}
	}
	if t.Links[route] == nil {
		t.Links[route] = map[mapping.LinkState]int{}
	}
	t.Links[route][state] += n
}
