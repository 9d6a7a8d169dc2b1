package memstore

import (
	"context"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/queue"
	"planbridge/store/internal/rules"
)

// Standing implements [store.Queue].
func (s *Store) Standing(ctx context.Context, key store.Key) (at store.Standing, err error) {
	err = s.read(ctx, key.Project, func(sp *space, now int64) error {
		at, err = sp.standing(now, key)
		return err
	})
	if err != nil {
		return at, fmt.Errorf("standing of %s: %w", key, err)
	}
	return at, nil
}

// Standings implements [store.Queue].
func (s *Store) Standings(ctx context.Context, project mapping.ObjectID, limit int) ([]store.Standing, error) {
	return s.standings(ctx, project, limit, queue.NotDue)
}

// Queued implements [store.Queue].
func (s *Store) Queued(ctx context.Context, project mapping.ObjectID, limit int) ([]store.Standing, error) {
	return s.standings(ctx, project, limit, queue.All)
}

func (s *Store) standings(ctx context.Context, project mapping.ObjectID, limit int, of queue.Part) (all []store.Standing, err error) {
	err = s.read(ctx, project, func(sp *space, now int64) error {
		for _, id := range of(sp, now, limit) {
			at, err := sp.standing(now, store.Key{Project: project, Link: id})
			if err != nil {
				return err
			}
			all = append(all, at)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("standings of project %s: %w", project, err)
	}
	return rules.SortStandings(all, limit), nil
}

func (sp *space) standing(now int64, key store.Key) (at store.Standing, err error) {
	w := sp.work(key.Link)
	if w == nil {
		return at, store.ErrNotFound
	}
	l, err := sp.link(key.Link)
	if err != nil {
		return at, err
	}
	at = w.Standing(key, now)
	at.Route, at.Where = l.Route, rules.Where(l)
	return at, nil
}
