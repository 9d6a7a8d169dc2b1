package boltstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/queue"
	"planbridge/store/internal/rules"
)

// Claim implements [store.Queue].
func (s *Store) Claim(ctx context.Context, project mapping.ObjectID, ttl time.Duration) (*store.Claim, time.Duration, error) {
	// Reading first costs no fsync, so that idle workers cost none.
	id, wait, err := s.next(ctx, project)
	if err != nil || id == "" {
		return nil, wait, err
	}
	until := time.Now().Add(ttl)
	var c *store.Claim
	err = s.in(ctx, project, func(sp space) error {
		c, wait, err = sp.claimNext("", ttl, until)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("claim in project %s: %w", project, err)
	}
	return c, wait, nil
}

func (s *Store) next(ctx context.Context, project mapping.ObjectID) (id mapping.LinkID, wait time.Duration, err error) {
	err = s.read(ctx, project, func(sp space) error {
		id, wait = queue.Next(sp, sp.now, "")
		return nil
	})
	return id, wait, err
}

// claimNext leases the next key other than but. Where none is due it returns how long until one
// is.
func (sp space) claimNext(but mapping.LinkID, ttl time.Duration, until time.Time) (*store.Claim, time.Duration, error) {
	for {
		id, wait := queue.Next(sp, sp.now, but)
		if id == "" {
			return nil, wait, nil
		}
		c, err := sp.claim(id, ttl, until)
		if err == nil {
			return c, 0, nil
		}
		if err := sp.parkUnreadable(id, err); err != nil {
			return nil, 0, err
		}
	}
}

// parkUnreadable parks a queued key that cannot be read, so that the others are worked. Where its
// work is unreadable too, the key starts anew.
func (sp space) parkUnreadable(id mapping.LinkID, why error) error {
	w, err := sp.work(id)
	if err != nil || w == nil {
		w = new(work)
		if w.entry, err = sp.queuedAs(id); err != nil {
			return err
		}
	}
	w.Work = w.ParkUnreadable(sp.now, fmt.Sprintf("it cannot be read: %v", why))
	return sp.putWork(id, w)
}

// queuedAs finds a key's entry among those that are due.
func (sp space) queuedAs(id mapping.LinkID) (queue.Entry, error) {
	for key := range sp.Ascend(queue.DueList, "") {
		if queue.LinkOf(key) == id {
			return queue.Entry{List: queue.DueList, Key: key}, nil
		}
	}
	return queue.Entry{}, fmt.Errorf("key %s/%s is not queued", sp.project, id)
}

// claim leases a key and reads its link and events.
func (sp space) claim(id mapping.LinkID, ttl time.Duration, until time.Time) (*store.Claim, error) {
	w, err := sp.work(id)
	if err == nil && w == nil {
		err = fmt.Errorf("work %s/%s: %w", sp.project, id, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	link, err := sp.link(id)
	if err != nil {
		return nil, err
	}
	var c *store.Claim
	w.Work, c = w.Lease(sp.now, ttl, "")
	c.Key, c.Until, c.Link = store.Key{Project: sp.project, Link: id}, until, link
	if err := sp.putWork(id, w); err != nil {
		return nil, err
	}
	c.Events = sp.events(id, w)
	return c, nil
}

// ClaimKey implements [store.Queue].
func (s *Store) ClaimKey(ctx context.Context, key store.Key, ttl time.Duration) (c *store.Claim, err error) {
	until := time.Now().Add(ttl)
	err = s.in(ctx, key.Project, func(sp space) error {
		w, err := sp.work(key.Link)
		if err != nil {
			return err
		}
		if w == nil {
			return store.ErrNotFound
		}
		if w.Leased(sp.now) {
			return store.ErrConflict
		}
		c, err = sp.claim(key.Link, ttl, until)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", key, err)
	}
	return c, nil
}

// Check implements [store.Queue].
func (s *Store) Check(ctx context.Context, c *store.Claim) error {
	held := false
	err := s.read(ctx, c.Key.Project, func(sp space) error {
		w, err := sp.work(c.Key.Link)
		held = w != nil && w.Holds(c.Token, sp.now)
		return err
	})
	if err == nil && !held {
		err = store.ErrLeaseLost
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Key, err)
	}
	return nil
}

// Save implements [store.Queue].
func (s *Store) Save(ctx context.Context, c *store.Claim, link *mapping.Link) error {
	if err := rules.CheckLink(c.Key, link); err != nil {
		return err
	}
	err := s.in(ctx, c.Key.Project, func(sp space) error {
		w, err := sp.work(c.Key.Link)
		if err != nil {
			return err
		}
		if w == nil || !w.Holds(c.Token, sp.now) {
			return store.ErrLeaseLost
		}
		return sp.putLink(link)
	})
	if err != nil {
		return fmt.Errorf("save %s: %w", c.Key, err)
	}
	return nil
}

// Finish implements [store.Queue]. Finishing an ended claim again, as after a lost answer,
// changes nothing while nobody claimed the key since.
func (s *Store) Finish(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome) error {
	return s.end(ctx, c, link, history, out, func(space) error { return nil })
}

// FinishAndClaim implements [store.Queue].
func (s *Store) FinishAndClaim(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome, ttl time.Duration) (next *store.Claim, err error) {
	until := time.Now().Add(ttl)
	err = s.end(ctx, c, link, history, out, func(sp space) error {
		next, _, err = sp.claimNext(c.Key.Link, ttl, until)
		return err
	})
	if err != nil {
		return nil, err
	}
	return next, nil
}

// end ends a claim and runs then in the same transaction.
func (s *Store) end(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome, then func(space) error) error {
	if err := rules.CheckLink(c.Key, link); err != nil {
		return err
	}
	err := s.in(ctx, c.Key.Project, func(sp space) error {
		if err := sp.end(c, link, history, out); err != nil {
			return err
		}
		return then(sp)
	})
	if err != nil {
		return fmt.Errorf("finish %s: %w", c.Key, err)
	}
	return nil
}

func (sp space) end(c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome) error {
	w, err := sp.work(c.Key.Link)
	if err != nil {
		return err
	}
	var known *queue.Work
	if w != nil {
		known = &w.Work
	}
	if done, err := queue.Ended(known, c.Token, out.Kind, sp.now); done || err != nil {
		return err
	}
	return sp.finish(c, w, link, history, out)
}

func (sp space) finish(c *store.Claim, w *work, link *mapping.Link, history []mapping.Entry, out store.Outcome) error {
	id := c.Key.Link
	if w.Removes(out, c.Generation) {
		return sp.remove(id, w)
	}
	if link != nil {
		if err := sp.putLink(link); err != nil {
			return err
		}
	}
	if out.Kind == store.Erase {
		if err := sp.b("history").Delete([]byte(id)); err != nil {
			return err
		}
	}
	if err := sp.addHistory(id, history); err != nil {
		return err
	}
	w.Work = w.Finish(out, c.Generation, sp.now)
	return sp.putWork(id, w)
}

func (sp space) addHistory(id mapping.LinkID, entries []mapping.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var all []json.RawMessage
	if _, err := get(sp.b("history"), []byte(id), &all); err != nil {
		return err
	}
	more, err := rules.EncodeHistory(entries)
	if err != nil {
		return err
	}
	return put(sp.b("history"), []byte(id), rules.BoundHistory(append(all, more...)))
}

// Wake implements [store.Queue].
func (s *Store) Wake(ctx context.Context, project mapping.ObjectID, service string, perSecond float64) (int, error) {
	woken := 0
	err := s.in(ctx, project, func(sp space) error {
		ids := queue.WaitingFor(sp, service)
		for i, id := range ids {
			w, err := sp.work(id)
			if err != nil {
				return err
			}
			w.Work = w.Wake(sp.now, i, perSecond)
			if err := sp.putWork(id, w); err != nil {
				return err
			}
		}
		woken = len(ids)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("wake %s in project %s: %w", service, project, err)
	}
	return woken, nil
}
