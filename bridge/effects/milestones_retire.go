package effects

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// MilestonesKept is how long the book keeps an entry that nothing needs. Its sprint is past or
// gone, or no route shows sprints in its repository.
const MilestonesKept = 90 * 24 * time.Hour

// RetireMilestones removes the entries of a project's book that nothing needed for
// [MilestonesKept]. The milestones stay. An entry is only a shortcut to the marker in its
// milestone's description. The marker identifies the sprint when a card of it is worked again. An
// entry whose marker somebody overwrote stays as long as its milestone.
func (s *Shell) RetireMilestones(ctx context.Context, project mapping.ObjectID) error {
	sprints, err := s.sprints(ctx, project)
	if err != nil {
		return err
	}
	book, err := s.readBook(ctx, project)
	if err != nil || len(book) == 0 || s.Settings.Settings().DryRun {
		return err
	}
	live := map[mapping.ObjectID]bool{}
	for _, s := range sprints {
		live[s.ID] = !s.Past
	}
	return s.withBook(ctx, project, func(ctx context.Context, b *openBook) error {
		var errs []error
		changed := false
		for _, repo := range slices.Sorted(maps.Keys(b.milestoneBook)) {
			did, err := b.retire(ctx, repo, live)
			changed, errs = changed || did, append(errs, err)
		}
		if changed {
			errs = append(errs, b.write(ctx))
		}
		return errors.Join(errs...)
	})
}

// retire notes since when entries of a repository are idle, and removes those idle for
// MilestonesKept. It reports whether anything changed.
func (b *openBook) retire(ctx context.Context, repo string, live map[mapping.ObjectID]bool) (changed bool, err error) {
	entries, routed, now := b.milestoneBook[repo], b.routed(repo), b.s.Clock.Now().UTC().Truncate(time.Second)
	over := map[mapping.ObjectID]milestoneEntry{}
	for sprint, e := range entries {
		switch idle := !routed || !live[sprint]; {
		case idle && e.Idle.IsZero():
			e.Idle = now
		case !idle && !e.Idle.IsZero():
			e.Idle = time.Time{}
		case idle && now.Sub(e.Idle) >= MilestonesKept:
			over[sprint] = e
			continue
		default:
			continue
		}
		entries[sprint], changed = e, true
	}
	if len(over) == 0 {
		return changed, nil
	}
	if routed {
		if over, err = b.removable(ctx, repo, over); err != nil {
			return changed, err
		}
	}
	for sprint := range over {
		delete(entries, sprint)
	}
	if len(entries) == 0 {
		delete(b.milestoneBook, repo)
	}
	return changed || len(over) > 0, nil
}

// routed reports whether a route shows sprints in a repository.
func (b *openBook) routed(repo string) bool {
	return slices.ContainsFunc(b.set.Routes.ForRepo(repo), func(route *mapping.Route) bool {
		return route.Project == b.project && route.Direction != mapping.ToPlanning
	})
}

// removable returns the entries that may go: their milestone is gone from GitHub, or its marker
// identifies the sprint.
func (b *openBook) removable(ctx context.Context, repo string, entries map[mapping.ObjectID]milestoneEntry) (map[mapping.ObjectID]milestoneEntry, error) {
	if now, err := b.s.GitHub.Locate(ctx, repo, 0, false); mapping.Refused(err) || err == nil && !strings.EqualFold(now, repo) {
		return entries, nil // the name stands for no repository of ours
	} else if err != nil {
		return nil, fmt.Errorf("milestones of %s: %w", repo, err)
	}
	existing, err := b.s.GitHub.Milestones(ctx, repo)
	if reconcile.IsGone(err) || errors.Is(err, mapping.ErrMoved) {
		return entries, nil
	}
	if err != nil {
		return nil, fmt.Errorf("milestones of %s: %w", repo, err)
	}
	maps.DeleteFunc(entries, func(sprint mapping.ObjectID, e milestoneEntry) bool {
		there := slices.ContainsFunc(existing, func(m mapping.Milestone) bool { return m.Number == e.Number })
		marked, found := mapping.FindMilestone(existing, sprint, b.set.Keys)
		return there && !(found && marked.Number == e.Number)
	})
	return entries, nil
}
