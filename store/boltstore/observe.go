package boltstore

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/queue"
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
	id, err := sp.resolve(o)
	if err != nil {
		return out, err
	}
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
		out.Err = fmt.Errorf("%w: %w", store.ErrSpoilt, err)
		return out, nil
	}
	if w == nil {
		w = new(work)
	}
	if w.Full(sp.queued(), sp.limit) {
		out.Err = fmt.Errorf("%s: %w", out.Key, store.ErrFull)
		return out, nil
	}
	if create {
		out.Created = true
		if err := sp.putLink(o.Create); err != nil {
			return out, err
		}
	}
	w.Work, out.Stored = w.Observe(o, sp.now, out.Duplicate)
	if !out.Duplicate {
		if err := sp.remember(o); err != nil {
			return out, err
		}
	}
	return out, sp.putWork(id, w)
}

// resolve finds the link of an observation.
func (sp space) resolve(o *store.Observation) (mapping.LinkID, error) {
	index := &index{space: sp}
	id := queue.Resolve(index, o)
	return id, index.err
}

// index is the [queue.Index] of a space. It removes refs that lead to a missing link.
type index struct {
	space
	err error
}

// Exists implements [queue.Index].
func (x *index) Exists(id mapping.LinkID) bool { return x.b("links").Get([]byte(id)) != nil }

// Owner implements [queue.Index].
func (x *index) Owner(ref mapping.Ref) mapping.LinkID {
	id := mapping.LinkID(x.b("refs").Get([]byte(ref)))
	if id == "" || x.Exists(id) {
		return id
	}
	if err := x.b("refs").Delete([]byte(ref)); err != nil && x.err == nil {
		x.err = err
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

// remember stores a delivery and removes a few outdated ones.
func (sp space) remember(o *store.Observation) error {
	if o.Delivery == "" {
		return nil
	}
	if err := sp.forget(sp.now-int64(rules.Deliveries), rules.DeliverySweep); err != nil {
		return err
	}
	return sp.putDelivery([]byte(rules.DeliveryKey(o)), sp.now)
}

func (sp space) putDelivery(key []byte, at int64) error {
	if err := sp.b("seen").Put(key, be64(at)); err != nil {
		return err
	}
	return sp.b("seentime").Put(append(be64(at), key...), nil)
}

// forget removes deliveries stored by then, except those stored again since.
func (sp space) forget(until int64, most int) error {
	seen, c := sp.b("seen"), sp.b("seentime").Cursor()
	for k, _ := c.First(); k != nil && most > 0 && fromBE64(k) <= until; k, _ = c.First() {
		if bytes.Equal(seen.Get(k[8:]), k[:8]) {
			if err := seen.Delete(k[8:]); err != nil {
				return err
			}
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
		if w.Full(sp.queued(), sp.limit) {
			return store.ErrFull
		}
		w.Work = w.Change(sp.now, delay, bulk, true)
		return sp.putWork(key.Link, w)
	})
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", key, err)
	}
	return nil
}
