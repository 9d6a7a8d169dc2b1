package boltstore

import (
	"context"
	"fmt"
	"slices"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/queue"
	"planbridge/store/internal/rules"
)

// Link implements [store.Links].
func (s *Store) Link(ctx context.Context, key store.Key) (l *mapping.Link, err error) {
	err = s.read(ctx, key.Project, func(sp space) (err error) {
		l, err = sp.link(key.Link)
		return err
	})
	if err == nil && l == nil {
		err = fmt.Errorf("link %s: %w", key, store.ErrNotFound)
	}
	return l, err
}

// Find implements [store.Links].
func (s *Store) Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (id mapping.LinkID, err error) {
	err = s.read(ctx, project, func(sp space) error {
		id = mapping.LinkID(sp.b("refs").Get([]byte(ref)))
		return nil
	})
	if err == nil && id == "" {
		err = fmt.Errorf("link of %s in project %s: %w", ref, project, store.ErrNotFound)
	}
	return id, err
}

// List implements [store.Links], ordered by the links' ids. The cursor is the last id of the page
// before.
func (s *Store) List(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (links []*mapping.Link, next string, err error) {
	limit = max(limit, 1)
	err = s.read(ctx, project, func(sp space) error {
		c := sp.b("links").Cursor()
		k, _ := c.Seek([]byte(cursor))
		if string(k) == cursor {
			k, _ = c.Next()
		}
		for ; k != nil; k, _ = c.Next() {
			if len(links) == limit {
				next = string(links[limit-1].ID)
				return nil
			}
			l, err := sp.link(mapping.LinkID(k))
			if err != nil {
				continue // its claim parks it
			}
			links = append(links, l)
		}
		return nil
	})
	return links, next, err
}

// Projects implements [store.Store].
func (s *Store) Projects(ctx context.Context) ([]mapping.ObjectID, error) {
	projects, err := s.spaces(ctx)
	if err != nil {
		return nil, fmt.Errorf("projects: %w", err)
	}
	return slices.DeleteFunc(projects, func(p mapping.ObjectID) bool { return p == "" }), nil
}

// History implements [store.Links].
func (s *Store) History(ctx context.Context, key store.Key, limit int) (entries []mapping.Entry, err error) {
	if _, err := s.Link(ctx, key); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	err = s.read(ctx, key.Project, func(sp space) error {
		_, err := get(sp.b("history"), []byte(key.Link), &entries)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", key, err)
	}
	slices.Reverse(entries)
	return entries[:min(len(entries), max(limit, 0))], nil
}

// Failures implements [store.Queue].
func (s *Store) Failures(ctx context.Context, project mapping.ObjectID, limit int) (fs []store.Failure, err error) {
	err = s.read(ctx, project, func(sp space) error {
		for parked := range queue.ParkedKeys(sp) {
			if len(fs) >= limit {
				break
			}
			id := parked.Link
			l := sp.label(id)
			w, err := sp.work(id)
			if err != nil {
				return err
			}
			fs = append(fs, store.Failure{
				Key: store.Key{Project: project, Link: id}, Route: l.Route, Where: l.Where,
				Reason: w.Reason, Attempts: w.Failures(), At: parked.At,
			})
		}
		return nil
	})
	return fs, err
}

// Standing implements [store.Queue].
func (s *Store) Standing(ctx context.Context, key store.Key) (at store.Standing, err error) {
	err = s.read(ctx, key.Project, func(sp space) (err error) {
		at, err = sp.standing(key.Link)
		return err
	})
	if err == nil && at.State == "" { // the project has no data
		err = store.ErrNotFound
	}
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
	err = s.read(ctx, project, func(sp space) error {
		for _, id := range of(sp, sp.now, limit) {
			if at, err := sp.standing(id); err == nil { // else its claim parks it
				all = append(all, at)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("standings of project %s: %w", project, err)
	}
	return rules.SortStandings(all, limit), nil
}

func (sp space) standing(id mapping.LinkID) (at store.Standing, err error) {
	w, err := sp.work(id)
	if err == nil && w == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return at, err
	}
	at = w.Standing(store.Key{Project: sp.project, Link: id}, sp.now)
	l := sp.label(id)
	at.Route, at.Where = l.Route, l.Where
	return at, nil
}

// label returns a link's label. An unreadable record has the link's id as its label.
func (sp space) label(id mapping.LinkID) rules.Label {
	l, err := rules.ReadLabel(sp.b("links").Get([]byte(id)))
	if err != nil {
		l.Where = string(id)
	}
	return l
}

// Depth implements [store.Queue].
func (s *Store) Depth(ctx context.Context, project mapping.ObjectID) (d store.Depth, err error) {
	d = store.Depth{Waiting: map[string]int{}}
	err = s.read(ctx, project, func(sp space) error {
		d = queue.Depth(sp, sp.now)
		return nil
	})
	return d, err
}
