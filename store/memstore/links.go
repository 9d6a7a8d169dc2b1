package memstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// Link implements [store.Links].
func (s *Store) Link(ctx context.Context, key store.Key) (l *mapping.Link, err error) {
	err = s.read(ctx, key.Project, func(sp *space, _ int64) (err error) {
		l, err = sp.link(key.Link)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("link %s: %w", key, err)
	}
	return l, nil
}

func (sp *space) link(id mapping.LinkID) (*mapping.Link, error) {
	r, ok := sp.Links.get(string(id))
	if !ok {
		return nil, store.ErrNotFound
	}
	return r.link.get(func(l *mapping.Link) error { return json.Unmarshal(r.Link, l) })
}

// Find implements [store.Links].
func (s *Store) Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (id mapping.LinkID, err error) {
	err = s.read(ctx, project, func(sp *space, _ int64) error {
		if id = sp.Owner(ref); id == "" {
			return store.ErrNotFound
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("link of %s in project %s: %w", ref, project, err)
	}
	return id, nil
}

func traitKey(t mapping.Trait, id mapping.LinkID) string { return string(t) + "\x00" + string(id) }

// FindByTraits implements [store.Links].
func (s *Store) FindByTraits(ctx context.Context, project mapping.ObjectID, traits []mapping.Trait, limit int) (ids []mapping.LinkID, err error) {
	err = s.read(ctx, project, func(sp *space, _ int64) error {
		for _, t := range traits {
			prefix := traitKey(t, "")
			for key := range sp.Traits.ascend(prefix) {
				id, of := strings.CutPrefix(key, prefix)
				if !of || len(ids) >= limit {
					break
				}
				if !slices.Contains(ids, mapping.LinkID(id)) {
					ids = append(ids, mapping.LinkID(id))
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("links by traits in project %s: %w", project, err)
	}
	return ids, nil
}

// List implements [store.Links], ordered by the links' ids. The cursor is the last id of the page
// before.
func (s *Store) List(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (links []*mapping.Link, next string, err error) {
	limit = max(limit, 1)
	err = s.read(ctx, project, func(sp *space, _ int64) error {
		for id := range sp.Links.ascend(cursor) {
			if id == cursor {
				continue
			}
			if len(links) == limit {
				next = string(links[limit-1].ID)
				return nil
			}
			l, err := sp.link(mapping.LinkID(id))
			if err != nil {
				return err
			}
			links = append(links, l)
		}
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("links of project %s: %w", project, err)
	}
	return links, next, nil
}

// Projects implements [store.Store].
func (s *Store) Projects(ctx context.Context) (projects []mapping.ObjectID, err error) {
	err = s.read(ctx, "", func(*space, int64) error {
		for name := range s.memory.content.Projects.ascend("") {
			if name != "" {
				projects = append(projects, mapping.ObjectID(name))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("projects: %w", err)
	}
	return projects, nil
}

// History implements [store.Links].
func (s *Store) History(ctx context.Context, key store.Key, limit int) (entries []mapping.Entry, err error) {
	err = s.read(ctx, key.Project, func(sp *space, _ int64) error {
		r, ok := sp.Links.get(string(key.Link))
		if !ok {
			return store.ErrNotFound
		}
		for _, data := range slices.Backward(r.History) {
			if len(entries) >= limit {
				return nil
			}
			var e mapping.Entry
			if err := json.Unmarshal(data, &e); err != nil {
				return err
			}
			entries = append(entries, e)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", key, err)
	}
	return entries, nil
}

// putLink stores a link and makes its Refs and Traits the only ones indexed for it. It fails with
// [store.ErrConflict] where one belongs to another link, and then changes nothing.
func (sp *space) putLink(l *mapping.Link) error {
	data, err := rules.EncodeLink(l)
	if err != nil {
		return err
	}
	return sp.putRecord(l, data)
}

// putRecord is putLink with the link's record, without a bound on its size.
func (sp *space) putRecord(l *mapping.Link, data []byte) error {
	refs := l.Refs()
	for _, ref := range refs {
		if owner := sp.Owner(ref); owner != "" && owner != l.ID {
			return fmt.Errorf("%s of %s: %w", ref, owner, store.ErrConflict)
		}
	}
	r, _ := sp.Links.get(string(l.ID))
	sp.unindex(l.ID, r)
	for _, ref := range refs {
		sp.Refs.put(string(ref), l.ID)
	}
	r.Link, r.Refs, r.Traits, r.link = data, refs, l.Traits(), new(decoded[mapping.Link])
	r.route, r.class = l.Route, rules.Class(l)
	for _, t := range r.Traits {
		sp.Traits.put(traitKey(t, l.ID), struct{}{})
	}
	sp.Links.put(string(l.ID), r)
	return nil
}

func (sp *space) unindex(id mapping.LinkID, r record) {
	for _, ref := range r.Refs {
		if sp.Owner(ref) == id {
			sp.Refs.remove(string(ref))
		}
	}
	for _, t := range r.Traits {
		sp.Traits.remove(traitKey(t, id))
	}
}

// addHistory appends entries; erase removes the earlier ones.
func (sp *space) addHistory(id mapping.LinkID, entries []mapping.Entry, erase bool) error {
	r, _ := sp.Links.get(string(id))
	all := slices.Clone(r.History)
	if erase {
		all = nil
	}
	more, err := rules.EncodeHistory(entries)
	if err != nil {
		return err
	}
	r.History = rules.BoundHistory(append(all, more...))
	sp.Links.put(string(id), r)
	return nil
}

// remove deletes everything about a link.
func (sp *space) remove(id mapping.LinkID) {
	r, _ := sp.Links.get(string(id))
	sp.unindex(id, r)
	if e := r.Work.Entry(id); sp.list(e.List) != nil {
		sp.list(e.List).remove(e.Key)
	}
	sp.Links.remove(string(id))
}
