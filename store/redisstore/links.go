package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// fields reads some fields of a link's hash. Every link must have the first one.
func (s *Store) fields(ctx context.Context, key store.Key, names ...any) ([]string, error) {
	r, err := s.read(ctx, key.Project, keyLink+string(key.Link), "HMGET", names...)
	if err != nil {
		return nil, err
	}
	values, ok := r.([]any)
	if !ok || len(values) != len(names) || values[0] == nil {
		return nil, store.ErrNotFound
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i], _ = v.(string)
	}
	return texts, nil
}

// Link implements [store.Links].
func (s *Store) Link(ctx context.Context, key store.Key) (*mapping.Link, error) {
	v, err := s.fields(ctx, key, "r")
	l := new(mapping.Link)
	if err == nil {
		err = decode(v[0], l)
	}
	if err != nil {
		return nil, fmt.Errorf("link %s: %w", key, err)
	}
	return l, nil
}

// Find implements [store.Links].
func (s *Store) Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error) {
	r, err := s.run(ctx, scriptFind, project, string(ref))
	if err == nil {
		if id := r.str(); id != "" {
			return mapping.LinkID(id), nil
		}
		err = store.ErrNotFound
	}
	return "", fmt.Errorf("link of %s in project %s: %w", ref, project, err)
}

// FindByTraits implements [store.Links].
func (s *Store) FindByTraits(ctx context.Context, project mapping.ObjectID, traits []mapping.Trait, limit int) (ids []mapping.LinkID, err error) {
	args := []any{max(limit, 0), len(traits)}
	for _, t := range traits {
		args = append(args, string(t))
	}
	r, err := s.run(ctx, scriptFindTraits, project, args...)
	if err != nil {
		return nil, fmt.Errorf("links by traits in project %s: %w", project, err)
	}
	for r.more() {
		ids = append(ids, mapping.LinkID(r.str()))
	}
	return ids, r.err
}

// List implements [store.Links], ordered by the links' ids. The cursor is the last id of the page
// before.
func (s *Store) List(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (links []*mapping.Link, next string, err error) {
	r, err := s.run(ctx, scriptList, project, cursor, max(limit, 1))
	if err != nil {
		return nil, "", fmt.Errorf("links of project %s: %w", project, err)
	}
	for next = r.str(); r.more(); {
		l := new(mapping.Link)
		if err := decode(r.str(), l); err != nil {
			s.log.Warn("a link is left out of a listing", "project", project, "after", cursor, "err", err) // its claim parks it
			continue
		}
		links = append(links, l)
	}
	return links, next, r.err
}

// Tally implements [store.Links].
func (s *Store) Tally(ctx context.Context, project mapping.ObjectID) (t store.Tally, err error) {
	r, err := s.run(ctx, scriptTally, project)
	if err != nil {
		return t, fmt.Errorf("tally of project %s: %w", project, err)
	}
	t.Queued = int(r.num())
	if oldest := r.num(); oldest > 0 {
		t.Oldest = time.UnixMilli(oldest)
	}
	if counted := r.num() == 1; !counted {
		return t, r.err
	}
	t.Links, t.Failures = map[string]map[mapping.LinkState]int{}, map[string]int{}
	for r.more() {
		kind, n := r.str(), int(r.num())
		switch class, isClass := strings.CutPrefix(kind, "="); {
		case n == 0:
		case isClass:
			rules.Counted(t.Links, class, n)
		default:
			t.Failures[strings.TrimPrefix(kind, "!")] = n
		}
	}
	return t, r.err
}

// History implements [store.Links].
func (s *Store) History(ctx context.Context, key store.Key, limit int) ([]mapping.Entry, error) {
	v, err := s.fields(ctx, key, "x", "h")
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", key, err)
	}
	entries, err := historyOf(v[1])
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", key, err)
	}
	slices.Reverse(entries)
	return entries[:min(len(entries), max(limit, 0))], nil
}

// historyOf reads a link's history, oldest first. The oldest frame may have entries beyond the
// bound.
func historyOf(value string) ([]mapping.Entry, error) {
	lines, err := linesOf(value)
	if err != nil {
		return nil, err
	}
	return rules.DecodeHistory(rules.BoundHistory(lines))
}

// linesOf reads the entries of frames.
func linesOf(value string) ([]json.RawMessage, error) {
	batches, err := frames(value, func(_ int, body string) (batch []json.RawMessage, err error) {
		err = decode(body, &batch)
		return batch, err
	})
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return slices.Concat(batches...), nil
}

// Projects implements [store.Store].
func (s *Store) Projects(ctx context.Context) ([]mapping.ObjectID, error) {
	if _, err := s.Epoch(ctx); err != nil {
		return nil, err
	}
	projects, err := s.projects(ctx)
	if err != nil {
		return nil, err
	}
	return projects[1:], nil
}
