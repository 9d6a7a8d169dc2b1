package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/queue"
	"planbridge/store/internal/rules"
)

// The other indexes of links. The transaction that stores a link also updates them, so that they
// agree. A link of an earlier program's file is in none of them until Repair indexes it.

// Prefixes of names in counts.
const (
	countLinks  = "links "
	countFailed = "failed "
)

// until encodes the link up to which the file is indexed.
func until(id mapping.LinkID) []byte { return []byte(">" + id) }

// indexed reports whether a link's indexes must be updated.
func (sp space) indexed(id mapping.LinkID) bool {
	to := sp.b("counts").Get(countUntil)
	return to == nil || string(id) <= string(to[1:])
}

// allIndexed reports whether all links are indexed.
func (sp space) allIndexed() bool { return sp.b("counts").Get(countUntil) == nil }

// reindex moves a link's index entries from its old state to its new one; either may be nil.
func (sp space) reindex(id mapping.LinkID, was, is *mapping.Link) error {
	if !sp.indexed(id) {
		return nil
	}
	return errors.Join(sp.countLink(was, -1), sp.countLink(is, 1), sp.retrait(id, was, is))
}

func traitKey(t mapping.Trait, id mapping.LinkID) []byte {
	return []byte(string(t) + "\x00" + string(id))
}

// retrait updates the traits under which a link is indexed.
func (sp space) retrait(id mapping.LinkID, was, is *mapping.Link) error {
	var had, has []mapping.Trait
	if was != nil {
		had = was.Traits()
	}
	if is != nil {
		has = is.Traits()
	}
	if slices.Equal(had, has) {
		return nil
	}
	traits := sp.b("traits")
	for _, t := range had {
		if err := traits.Delete(traitKey(t, id)); err != nil {
			return err
		}
	}
	for _, t := range has {
		if err := traits.Put(traitKey(t, id), nil); err != nil {
			return err
		}
	}
	return nil
}

// FindByTraits implements [store.Links].
func (s *Store) FindByTraits(ctx context.Context, project mapping.ObjectID, traits []mapping.Trait, limit int) (ids []mapping.LinkID, err error) {
	err = s.read(ctx, project, func(sp space) error {
		if !sp.allIndexed() {
			return store.ErrNotIndexed
		}
		for _, t := range traits {
			prefix := traitKey(t, "")
			c := sp.b("traits").Cursor()
			for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix) && len(ids) < limit; k, _ = c.Next() {
				if id := mapping.LinkID(k[len(prefix):]); !slices.Contains(ids, id) {
					ids = append(ids, id)
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

func (sp space) countLink(l *mapping.Link, change int64) error {
	if l == nil {
		return nil
	}
	return sp.count([]byte(countLinks+rules.Class(l)), change)
}

// countParked updates the count of parked keys when a key becomes parked or stops being so.
func (sp space) countParked(id mapping.LinkID, is, was bool) error {
	if is == was || !sp.indexed(id) {
		return nil
	}
	var route string
	if l, err := sp.link(id); err == nil { // an unreadable link has no route, in Failures neither
		route = l.Route
	}
	change := int64(1)
	if was {
		change = -1
	}
	return sp.count([]byte(countFailed+route), change)
}

// Tally implements [store.Links].
func (s *Store) Tally(ctx context.Context, project mapping.ObjectID) (t store.Tally, err error) {
	t.Links, t.Failures = map[string]map[mapping.LinkState]int{}, map[string]int{}
	err = s.read(ctx, project, func(sp space) error {
		t.Queued, t.Oldest = sp.queued(), queue.Oldest(sp, sp.now)
		if !sp.allIndexed() {
			t.Links, t.Failures = nil, nil
			return nil
		}
		return sp.b("counts").ForEach(func(name, n []byte) error {
			if class, ok := strings.CutPrefix(string(name), countLinks); ok {
				rules.Counted(t.Links, class, int(fromBE64(n)))
			}
			if route, ok := strings.CutPrefix(string(name), countFailed); ok {
				t.Failures[route] = int(fromBE64(n))
			}
			return nil
		})
	})
	return t, err
}

// repairPage is how many links one transaction of Repair indexes. Other writes wait for it.
const repairPage = 200

// Repair implements [store.Store]. A transaction is stored whole or not at all, so that it only
// has to index the links of an earlier program.
func (s *Store) Repair(ctx context.Context, project mapping.ObjectID) error {
	for {
		allIndexed := true
		err := s.read(ctx, project, func(sp space) error {
			allIndexed = sp.allIndexed()
			return nil
		})
		if err == nil && !allIndexed {
			err = s.in(ctx, project, func(sp space) error { return sp.indexSome(repairPage) })
		}
		if err != nil {
			return fmt.Errorf("repair project %s: %w", project, err)
		}
		if allIndexed {
			return nil
		}
	}
}

// indexSome indexes some of the unindexed links.
func (sp space) indexSome(most int) error {
	counts := sp.b("counts")
	last := counts.Get(countUntil)
	if last == nil {
		return nil
	}
	c := sp.b("links").Cursor()
	k, _ := c.Seek(last[1:])
	if string(k) == string(last[1:]) {
		k, _ = c.Next()
	}
	for n := 0; k != nil && n < most; n++ {
		id := mapping.LinkID(k)
		if err := counts.Put(countUntil, until(id)); err != nil {
			return err
		}
		if err := sp.indexStored(id); err != nil {
			return err
		}
		k, _ = c.Next()
	}
	if k != nil {
		return nil
	}
	return counts.Delete(countUntil)
}

// indexStored indexes a stored link. An unreadable one gets no index.
func (sp space) indexStored(id mapping.LinkID) error {
	l, err := sp.link(id)
	if err != nil {
		return nil //nolint:nilerr // its claim parks it
	}
	if err := sp.reindex(id, nil, l); err != nil {
		return err
	}
	w, err := sp.work(id)
	if err != nil || w == nil {
		return nil //nolint:nilerr // its claim parks it
	}
	return sp.countParked(id, w.Place == queue.Parked, false)
}
