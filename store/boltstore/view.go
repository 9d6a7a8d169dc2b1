package boltstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
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

// List implements [store.Links]. The order is that of the links' ids, and the
// cursor is the last id of the page before.
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
				return err
			}
			links = append(links, l)
		}
		return nil
	})
	return links, next, err
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
		c := sp.b("failed").Cursor()
		for k, _ := c.First(); k != nil && len(fs) < limit; k, _ = c.Next() {
			id := mapping.LinkID(k[8:])
			l, err := sp.link(id)
			if err != nil {
				return err
			}
			w, err := sp.work(id)
			if err != nil {
				return err
			}
			fs = append(fs, store.Failure{
				Key: store.Key{Project: project, Link: id}, Route: l.Route, Where: rules.Where(l),
				Reason: w.Reason, Attempts: w.Attempts, At: time.Unix(0, fromBE64(k)),
			})
		}
		return nil
	})
	return fs, err
}

// Depth implements [store.Queue].
func (s *Store) Depth(ctx context.Context, project mapping.ObjectID) (d store.Depth, err error) {
	d.Waiting = map[string]int{}
	err = s.read(ctx, project, func(sp space) error {
		oldest := sp.now + 1
		c := sp.b("queue").Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			due := fromBE64(k[1:])
			switch {
			case k[0] == 0:
				d.Live++
			case due <= sp.now:
				d.Due++
				fallthrough
			default:
				d.Bulk++
			}
			oldest = min(oldest, due)
		}
		if oldest <= sp.now {
			d.Oldest = time.Unix(0, oldest)
		}
		c = sp.b("waiting").Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			service, _, _ := bytes.Cut(k, []byte{0})
			d.Waiting[string(service)]++
		}
		c = sp.b("failed").Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			d.Failures++
		}
		return nil
	})
	return d, err
}
