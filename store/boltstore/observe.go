package boltstore

import (
	"context"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// Observe implements [store.Queue].
func (s *Store) Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	for i := range obs {
		if err := rules.CheckObservation(project, &obs[i]); err != nil {
			return nil, err
		}
	}
	if len(obs) == 0 {
		return nil, nil
	}
	seen := make([]store.Observed, len(obs))
	err := s.in(ctx, project, func(sp space) error {
		for i := range obs {
			var err error
			if seen[i], err = sp.observe(&obs[i]); err != nil {
				return fmt.Errorf("observe in project %s: %w", project, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return seen, nil
}

func (sp space) observe(o *store.Observation) (out store.Observed, err error) {
	id := sp.resolve(o)
	out.Duplicate = sp.delivered(o)
	create := id == "" && o.Create != nil && !out.Duplicate
	if create {
		id = o.Create.ID
	}
	if id == "" {
		return out, nil
	}
	out.Key = store.Key{Project: sp.project, Link: id}
	w, err := sp.work(id)
	if err != nil {
		return out, err
	}
	if sp.full(w) {
		out.Err = fmt.Errorf("%s: %w", out.Key, store.ErrFull)
		return out, nil
	}
	if create {
		w, out.Created = new(work), true
		if err := sp.putLink(o.Create); err != nil {
			return out, err
		}
	}
	w.change(sp.now, o.Delay, o.Bulk, false)
	if !out.Duplicate {
		if o.Data != nil {
			out.Stored = w.store(o, sp.now)
		}
		if len(o.Event) > 0 {
			w.addEvent(o.Event)
		}
		if err := sp.remember(o); err != nil {
			return out, err
		}
	}
	return out, sp.putWork(id, w)
}

// resolve finds the link of an observation: by its Refs in order, by the
// marker's link, and last by the Refs of what it would create, so that nothing
// is created twice.
func (sp space) resolve(o *store.Observation) mapping.LinkID {
	refs := sp.b("refs")
	for _, ref := range o.Refs {
		if id := refs.Get([]byte(ref)); id != nil {
			return mapping.LinkID(id)
		}
	}
	links := sp.b("links")
	if o.Link != "" && links.Get([]byte(o.Link)) != nil {
		return o.Link
	}
	if o.Create == nil {
		return ""
	}
	for _, ref := range o.Create.Refs() {
		if id := refs.Get([]byte(ref)); id != nil {
			return mapping.LinkID(id)
		}
	}
	if links.Get([]byte(o.Create.ID)) != nil {
		return o.Create.ID
	}
	return ""
}

// delivered reports whether the observation's delivery was stored before.
func (sp space) delivered(o *store.Observation) bool {
	if o.Delivery == "" {
		return false
	}
	at := sp.b("seen").Get([]byte(rules.DeliveryKey(o)))
	return at != nil && fromBE64(at) > sp.now-int64(rules.Deliveries)
}

// remember keeps a delivery and forgets a few of the outdated ones.
func (sp space) remember(o *store.Observation) error {
	if o.Delivery == "" {
		return nil
	}
	if err := sp.forget(sp.now-int64(rules.Deliveries), rules.DeliverySweep); err != nil {
		return err
	}
	key, at := rules.DeliveryKey(o), be64(sp.now)
	if err := sp.b("seen").Put([]byte(key), at); err != nil {
		return err
	}
	return sp.b("seentime").Put([]byte(string(at)+key), nil)
}

func (sp space) forget(until int64, most int) error {
	seen, c := sp.b("seen"), sp.b("seentime").Cursor()
	for k, _ := c.First(); k != nil && most > 0 && fromBE64(k) <= until; k, _ = c.First() {
		if err := seen.Delete(k[8:]); err != nil {
			return err
		}
		if err := c.Delete(); err != nil {
			return err
		}
		most--
	}
	return nil
}

// Enqueue implements [store.Queue].
func (s *Store) Enqueue(ctx context.Context, key store.Key, delay time.Duration, bulk bool) error {
	err := s.in(ctx, key.Project, func(sp space) error {
		w, err := sp.work(key.Link)
		if err != nil {
			return err
		}
		if w == nil {
			return store.ErrNotFound
		}
		if sp.full(w) {
			return store.ErrFull
		}
		w.change(sp.now, delay, bulk, true)
		return sp.putWork(key.Link, w)
	})
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", key, err)
	}
	return nil
}
