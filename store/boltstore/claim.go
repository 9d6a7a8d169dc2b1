package boltstore

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// Claim implements [store.Queue].
func (s *Store) Claim(ctx context.Context, project mapping.ObjectID, ttl time.Duration) (*store.Claim, time.Duration, error) {
	// Looking costs no fsync, so that idle workers cost none.
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
		id, wait = sp.next("")
		return nil
	})
	return id, wait, err
}

// next finds the key to claim that is not the given one, or how long until
// there is one (0: none is queued).
func (sp space) next(but mapping.LinkID) (mapping.LinkID, time.Duration) {
	var wait int64
	c := sp.b("queue").Cursor()
	for _, class := range []byte{0, 1} {
		k, _ := c.Seek([]byte{class})
		if k != nil && k[0] == class && mapping.LinkID(k[9:]) == but {
			k, _ = c.Next()
		}
		if k == nil || k[0] != class {
			continue
		}
		due := fromBE64(k[1:])
		if due <= sp.now {
			return mapping.LinkID(k[9:]), 0
		}
		if wait == 0 || due-sp.now < wait {
			wait = due - sp.now
		}
	}
	return "", time.Duration(wait)
}

// claimNext leases the next key that is not the given one, or returns how long
// until there is one.
func (sp space) claimNext(but mapping.LinkID, ttl time.Duration, until time.Time) (*store.Claim, time.Duration, error) {
	id, wait := sp.next(but)
	if id == "" {
		return nil, wait, nil
	}
	c, err := sp.claim(id, ttl, until)
	return c, 0, err
}

// claim leases a key and gathers what its worker needs.
func (sp space) claim(id mapping.LinkID, ttl time.Duration, until time.Time) (*store.Claim, error) {
	w, err := sp.work(id)
	if err != nil {
		return nil, err
	}
	link, err := sp.link(id)
	if err != nil {
		return nil, err
	}
	due := w.lease(sp.now, ttl)
	c := &store.Claim{
		Key: store.Key{Project: sp.project, Link: id}, Token: w.Token, Until: until, Attempts: w.Attempts,
		Link: link, Inbox: map[mapping.Ref]store.Snapshot{}, Due: time.Unix(0, due), Generation: w.Gen,
	}
	for ref, s := range w.Inbox {
		c.Inbox[ref] = store.Snapshot{At: s.At, Digest: s.Digest, Ambiguous: s.Ambiguous, Data: s.Data, Seen: time.Unix(0, s.Seen)}
	}
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
		if w.leased(sp.now) {
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
		held = w != nil && w.holds(c.Token, sp.now)
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
		if w == nil || !w.holds(c.Token, sp.now) {
			return store.ErrLeaseLost
		}
		return sp.putLink(link)
	})
	if err != nil {
		return fmt.Errorf("save %s: %w", c.Key, err)
	}
	return nil
}

// Finish implements [store.Queue]. Finishing a claim again that nobody has
// taken up since is fine and changes nothing, as after a lost answer.
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

// end ends a claim and does, in the same transaction, what comes then.
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
	switch {
	case err != nil:
		return err
	case w == nil && out.Kind == store.Remove, w != nil && w.Token == c.Token && w.Until == 0:
		return nil
	case w == nil || !w.holds(c.Token, sp.now):
		return store.ErrLeaseLost
	}
	return sp.finish(c, w, link, history, out)
}

func (sp space) finish(c *store.Claim, w *work, link *mapping.Link, history []mapping.Entry, out store.Outcome) error {
	id := c.Key.Link
	if out.Kind == store.Remove && w.Gen == c.Generation {
		return sp.remove(id, w)
	}
	if link != nil {
		if err := sp.putLink(link); err != nil {
			return err
		}
	}
	if err := sp.addHistory(id, history); err != nil {
		return err
	}
	w.finish(out, c.Generation, sp.now)
	return sp.putWork(id, w)
}

func (sp space) addHistory(id mapping.LinkID, entries []mapping.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var all []mapping.Entry
	if _, err := get(sp.b("history"), []byte(id), &all); err != nil {
		return err
	}
	all = append(all, entries...)
	return put(sp.b("history"), []byte(id), all[max(0, len(all)-rules.History):])
}

// Wake implements [store.Queue].
func (s *Store) Wake(ctx context.Context, project mapping.ObjectID, service string, perSecond float64) (int, error) {
	woken := 0
	err := s.in(ctx, project, func(sp space) error {
		ids := sp.waiting(service)
		for i, id := range ids {
			w, err := sp.work(id)
			if err != nil {
				return err
			}
			w.queue(sp.now + int64(rules.WakeDelay(i, perSecond)))
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

// waiting lists the keys that wait for a service, live ones first.
func (sp space) waiting(service string) (ids []mapping.LinkID) {
	prefix := []byte(service + "\x00")
	c := sp.b("waiting").Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		ids = append(ids, mapping.LinkID(k[len(prefix)+1:]))
	}
	return ids
}
