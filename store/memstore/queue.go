package memstore

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
	err := s.write(ctx, project, func(sp *space, now int64) (wrote bool, err error) {
		for i := range obs {
			if seen[i], err = s.observe(sp, now, project, obs[i]); err != nil {
				return false, err
			}
			wrote = wrote || seen[i].Key.Link != "" && seen[i].Err == nil
		}
		return wrote, nil
	})
	if err != nil {
		return nil, fmt.Errorf("observe in project %s: %w", project, err)
	}
	return seen, nil
}

func (s *Store) observe(sp *space, now int64, project mapping.ObjectID, o store.Observation) (out store.Observed, err error) {
	id := queue.Resolve(sp, &o)
	out.Duplicate = sp.delivered(&o, now)
	create := id == "" && o.Create != nil && !out.Duplicate
	if create {
		id = o.Create.ID
	}
	if id == "" {
		return out, nil
	}
	out.Key = store.Key{Project: project, Link: id}
	var w queue.Work
	if known := sp.work(id); known != nil {
		w = *known
	}
	if w.Full(sp.queued(), s.memory.limit) {
		out.Err = fmt.Errorf("%s: %w", out.Key, store.ErrFull)
		return out, nil
	}
	if create {
		if err := sp.putLink(o.Create); err != nil {
			return out, err
		}
		out.Created = true
	}
	o.Data, o.Event = bytes.Clone(o.Data), bytes.Clone(o.Event)
	w, out.Stored = w.Observe(&o, now, out.Duplicate)
	sp.putWork(id, w)
	if !out.Duplicate {
		sp.remember(&o, now)
	}
	return out, nil
}

// delivered reports whether the observation's delivery was stored before.
func (sp *space) delivered(o *store.Observation, now int64) bool {
	if o.Delivery == "" {
		return false
	}
	at, known := sp.Seen.get(rules.DeliveryKey(o))
	return known && at > now-int64(rules.Deliveries)
}

// remember stores a delivery and removes a few outdated ones.
func (sp *space) remember(o *store.Observation, now int64) {
	if o.Delivery == "" {
		return
	}
	for range rules.DeliverySweep {
		if len(sp.SeenBy.rows) == 0 {
			break
		}
		oldest := sp.SeenBy.rows[0]
		if at, _ := sp.Seen.get(oldest.value); at > now-int64(rules.Deliveries) {
			break
		}
		sp.Seen.remove(oldest.value)
		sp.SeenBy.remove(oldest.key)
	}
	sp.putDelivery(rules.DeliveryKey(o), now)
}

func (sp *space) putDelivery(key string, at int64) {
	if old, known := sp.Seen.get(key); known {
		sp.SeenBy.remove(rules.OrderInt(old) + key)
	}
	sp.Seen.put(key, at)
	sp.SeenBy.put(rules.OrderInt(at)+key, key)
}

// Enqueue implements [store.Queue].
func (s *Store) Enqueue(ctx context.Context, key store.Key, delay time.Duration, bulk bool) error {
	err := s.write(ctx, key.Project, func(sp *space, now int64) (bool, error) {
		w := sp.work(key.Link)
		switch {
		case w == nil:
			return false, store.ErrNotFound
		case w.Full(sp.queued(), s.memory.limit):
			return false, store.ErrFull
		}
		sp.putWork(key.Link, w.Change(now, delay, bulk, true))
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", key, err)
	}
	return nil
}

// Claim implements [store.Queue].
func (s *Store) Claim(ctx context.Context, project mapping.ObjectID, ttl time.Duration) (c *store.Claim, wait time.Duration, err error) {
	until := s.clock.Now().Add(ttl)
	err = s.write(ctx, project, func(sp *space, now int64) (_ bool, err error) {
		c, wait, err = sp.claimNext(now, project, "", ttl, s.session)
		return c != nil, err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("claim in project %s: %w", project, err)
	}
	if c != nil {
		c.Until = until
	}
	return c, wait, nil
}

// claimNext leases the next key other than but. Where none is due it returns how long until one
// is.
func (sp *space) claimNext(now int64, project mapping.ObjectID, but mapping.LinkID, ttl time.Duration, session store.Session) (*store.Claim, time.Duration, error) {
	id, wait := queue.Next(sp, now, but)
	if id == "" {
		return nil, wait, nil
	}
	c, err := sp.claim(now, store.Key{Project: project, Link: id}, ttl, session)
	return c, 0, err
}

// claim leases a key and reads its link and events.
func (sp *space) claim(now int64, key store.Key, ttl time.Duration, session store.Session) (*store.Claim, error) {
	link, err := sp.link(key.Link)
	if err != nil {
		return nil, err
	}
	w, c := sp.work(key.Link).Lease(now, ttl, session)
	c.Key, c.Link = key, link
	for _, slot := range w.Inbox {
		s := c.Inbox[slot.Item]
		s.Data = bytes.Clone(s.Data)
		c.Inbox[slot.Item] = s
	}
	c.Events = append(texts(w.Events), texts(w.Own)...)
	sp.putWork(key.Link, w)
	return c, nil
}

// ClaimKey implements [store.Queue].
func (s *Store) ClaimKey(ctx context.Context, key store.Key, ttl time.Duration) (c *store.Claim, err error) {
	until := s.clock.Now().Add(ttl)
	err = s.write(ctx, key.Project, func(sp *space, now int64) (_ bool, err error) {
		w := sp.work(key.Link)
		switch {
		case w == nil:
			return false, store.ErrNotFound
		case w.Leased(now):
			return false, store.ErrConflict
		}
		c, err = sp.claim(now, key, ttl, s.session)
		return true, err
	})
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", key, err)
	}
	c.Until = until
	return c, nil
}

// Check implements [store.Queue].
func (s *Store) Check(ctx context.Context, c *store.Claim) error {
	err := s.read(ctx, c.Key.Project, func(sp *space, now int64) error { return sp.holds(c, now) })
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Key, err)
	}
	return nil
}

func (sp *space) holds(c *store.Claim, now int64) error {
	if w := sp.work(c.Key.Link); w == nil || !w.Holds(c.Token, now) {
		return store.ErrLeaseLost
	}
	return nil
}

// Save implements [store.Queue].
func (s *Store) Save(ctx context.Context, c *store.Claim, link *mapping.Link) error {
	if err := rules.CheckLink(c.Key, link); err != nil {
		return err
	}
	err := s.write(ctx, c.Key.Project, func(sp *space, now int64) (bool, error) {
		if err := sp.holds(c, now); err != nil {
			return false, err
		}
		return true, sp.putLink(link)
	})
	if err != nil {
		return fmt.Errorf("save %s: %w", c.Key, err)
	}
	return nil
}

// Finish implements [store.Queue]. Finishing an ended claim again, as after a lost answer,
// changes nothing while nobody claimed the key since.
func (s *Store) Finish(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome) error {
	return s.finish(ctx, c, link, history, out, func(*space, int64) (bool, error) { return false, nil })
}

// FinishAndClaim implements [store.Queue].
func (s *Store) FinishAndClaim(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome, ttl time.Duration) (next *store.Claim, err error) {
	until := s.clock.Now().Add(ttl)
	err = s.finish(ctx, c, link, history, out, func(sp *space, now int64) (_ bool, err error) {
		next, _, err = sp.claimNext(now, c.Key.Project, c.Key.Link, ttl, s.session)
		return next != nil, err
	})
	if err != nil {
		return nil, err
	}
	if next != nil {
		next.Until = until
	}
	return next, nil
}

// finish ends a claim and runs then in the same step.
func (s *Store) finish(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome, then func(*space, int64) (wrote bool, err error)) error {
	if err := rules.CheckLink(c.Key, link); err != nil {
		return err
	}
	err := s.write(ctx, c.Key.Project, func(sp *space, now int64) (bool, error) {
		done, err := queue.Ended(sp.work(c.Key.Link), c.Token, out.Kind, now)
		if err == nil && !done {
			err = sp.finish(now, c, link, history, out)
		}
		if err != nil {
			return false, err
		}
		wrote, err := then(sp, now)
		return wrote || !done, err
	})
	if err != nil {
		return fmt.Errorf("finish %s: %w", c.Key, err)
	}
	return nil
}

func (sp *space) finish(now int64, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome) error {
	id := c.Key.Link
	w := sp.work(id)
	if w.Removes(out, c.Generation) {
		sp.remove(id)
		return nil
	}
	if link != nil {
		if err := sp.putLink(link); err != nil {
			return err
		}
	}
	if err := sp.addHistory(id, history, out.Kind == store.Erase); err != nil {
		return err
	}
	sp.putWork(id, w.Finish(out, c.Generation, now))
	return nil
}

// Wake implements [store.Queue].
func (s *Store) Wake(ctx context.Context, project mapping.ObjectID, service string, perSecond float64) (n int, err error) {
	err = s.write(ctx, project, func(sp *space, now int64) (bool, error) {
		ids := queue.WaitingFor(sp, service)
		for i, id := range ids {
			sp.putWork(id, sp.work(id).Wake(now, i, perSecond))
		}
		n = len(ids)
		return n > 0, nil
	})
	if err != nil {
		return 0, fmt.Errorf("wake %s in project %s: %w", service, project, err)
	}
	return n, nil
}

// Failures implements [store.Queue].
func (s *Store) Failures(ctx context.Context, project mapping.ObjectID, limit int) (fs []store.Failure, err error) {
	err = s.read(ctx, project, func(sp *space, _ int64) error {
		for parked := range queue.ParkedKeys(sp) {
			if len(fs) >= limit {
				return nil
			}
			l, err := sp.link(parked.Link)
			if err != nil {
				return err
			}
			w := sp.work(parked.Link)
			fs = append(fs, store.Failure{
				Key: store.Key{Project: project, Link: parked.Link}, Route: l.Route, Where: rules.Where(l),
				Reason: w.Reason, Attempts: w.Failures(), At: parked.At,
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("failures of project %s: %w", project, err)
	}
	return fs, nil
}

// Depth implements [store.Queue].
func (s *Store) Depth(ctx context.Context, project mapping.ObjectID) (d store.Depth, err error) {
	err = s.read(ctx, project, func(sp *space, now int64) error {
		d = queue.Depth(sp, now)
		return nil
	})
	if err != nil {
		return store.Depth{}, fmt.Errorf("queue of project %s: %w", project, err)
	}
	return d, nil
}
