package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// wakeStep bounds how many keys one script wakes, since Redis answers nobody else during a
// script.
const wakeStep = 1000

// standingsStep bounds the standings that one script returns, for the same reason.
const standingsStep = 200

// Enqueue implements [store.Queue].
func (s *Store) Enqueue(ctx context.Context, key store.Key, delay time.Duration, bulk bool) error {
	_, err := s.run(ctx, scriptEnqueue, key.Project, string(key.Link), s.limit, millis(delay), flag(bulk))
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", key, err)
	}
	return nil
}

// Standing implements [store.Queue].
func (s *Store) Standing(ctx context.Context, key store.Key) (store.Standing, error) {
	all, err := s.standingsOf(ctx, key.Project, []any{string(key.Link)})
	if err == nil && len(all) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Standing{}, fmt.Errorf("standing of %s: %w", key, err)
	}
	return all[0], nil
}

// Standings implements [store.Queue].
func (s *Store) Standings(ctx context.Context, project mapping.ObjectID, limit int) ([]store.Standing, error) {
	return s.standings(ctx, project, limit, false)
}

// Queued implements [store.Queue].
func (s *Store) Queued(ctx context.Context, project mapping.ObjectID, limit int) ([]store.Standing, error) {
	return s.standings(ctx, project, limit, true)
}

func (s *Store) standings(ctx context.Context, project mapping.ObjectID, limit int, due bool) (all []store.Standing, err error) {
	if limit <= 0 {
		return nil, nil
	}
	states := []store.KeyState{store.KeyWaiting, store.KeyLater, store.KeyWorked}
	if due {
		states = append(states, store.KeyDue)
	}
	isOther := func(at store.Standing) bool { return !slices.Contains(states, at.State) } // it moved since it was listed
	r, err := s.run(ctx, scriptQueued, project, limit, flag(due))
	if err == nil {
		for ids := range slices.Chunk(r.values, standingsStep) {
			var some []store.Standing
			if some, err = s.standingsOf(ctx, project, ids); err != nil {
				break
			}
			all = append(all, slices.DeleteFunc(some, isOther)...)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("standings of project %s: %w", project, err)
	}
	return rules.SortStandings(all, limit), nil
}

// standingsOf returns the standings of keys. A missing key is left out.
func (s *Store) standingsOf(ctx context.Context, project mapping.ObjectID, ids []any) (all []store.Standing, err error) {
	r, err := s.run(ctx, scriptStanding, project, append([]any{len(ids)}, ids...)...)
	if err != nil {
		return nil, err
	}
	for r.more() {
		all = append(all, readStanding(project, r))
	}
	return all, r.err
}

func readStanding(project mapping.ObjectID, r *reply) store.Standing {
	at := store.Standing{Key: store.Key{Project: project, Link: mapping.LinkID(r.str())}, State: store.KeyState(r.str())}
	if ms := r.num(); ms != 0 {
		at.At = time.UnixMilli(ms)
	}
	at.Service = r.str()
	at.Reason = rules.Why(at.State, at.Service, r.str())
	at.Attempts = int(r.num())
	l := labelOf(at.Key, r.str())
	at.Route, at.Where = l.Route, l.Where
	return at
}

// labelOf returns a link's label. An unreadable record has the link's id as its label.
func labelOf(key store.Key, record string) (l rules.Label) {
	err := withPlain(record, func(data []byte) (err error) {
		l, err = rules.ReadLabel(data)
		return err
	})
	if err != nil {
		l.Where = string(key.Link)
	}
	return l
}

// Check implements [store.Queue].
func (s *Store) Check(ctx context.Context, c *store.Claim) error {
	if _, err := s.run(ctx, scriptCheck, c.Key.Project, string(c.Key.Link), c.Token); err != nil {
		return fmt.Errorf("check %s: %w", c.Key, err)
	}
	return nil
}

// Save implements [store.Queue].
func (s *Store) Save(ctx context.Context, c *store.Claim, link *mapping.Link) error {
	if err := rules.CheckLink(c.Key, link); err != nil {
		return err
	}
	data, err := rules.EncodeLink(link)
	var record []byte
	if err == nil {
		record, err = packRecord(data, true)
	}
	if err == nil {
		args := appendEntries([]any{string(c.Key.Link), c.Token, record}, link)
		_, err = s.run(ctx, scriptSave, c.Key.Project, args...)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", c.Key, err)
	}
	return nil
}

// kinds are the outcomes' names in finish.lua.
var kinds = map[store.OutcomeKind]string{
	store.Done: "done", store.Retry: "retry", store.Again: "again",
	store.Wait: "wait", store.Park: "park", store.Hold: "hold", store.Remove: "remove", store.Erase: "erase",
}

// Finish implements [store.Queue]. Finishing an ended claim again, as after a lost answer,
// changes nothing while nobody claimed the key since.
func (s *Store) Finish(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome) error {
	if _, err := s.finish(ctx, c, link, history, out, 0, new(claimant)); err != nil {
		return fmt.Errorf("finish %s: %w", c.Key, err)
	}
	return nil
}

// FinishAndClaim implements [store.Queue].
func (s *Store) FinishAndClaim(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome, ttl time.Duration) (*store.Claim, error) {
	until, by := time.Now().Add(ttl), s.claiming()
	r, err := s.finish(ctx, c, link, history, out, ttl, by)
	s.unanswered.add(by, until)
	if err != nil {
		return nil, fmt.Errorf("finish %s: %w", c.Key, err)
	}
	next, _, err := readClaim(c.Key.Project, r, until, by.session)
	if s.parkUnreadable(ctx, err) {
		return nil, nil // the claim was ended; Claim goes on
	}
	if err != nil {
		return nil, fmt.Errorf("claim after %s: %w", c.Key, err)
	}
	return next, nil
}

// historyFrames bounds the frames of a history, in bytes. A frame is never longer than its
// entries, except for what compression adds to incompressible data.
const historyFrames = mapping.MaxHistoryBytes + 16*mapping.MaxHistory

// wholeHistory joins a history of many frames with further entries: in one frame old entries take
// a fifth of the bytes. It reports false where the history has few frames or is unreadable. The
// entries then become a frame of their own.
func wholeHistory(framed string, lines []json.RawMessage) (all []json.RawMessage, entire bool) {
	before, err := linesOf(framed)
	if err == nil {
		before, err = rules.SettleHistory(before, time.Now())
	}
	if framed == "" || err != nil {
		return lines, false
	}
	return rules.BoundHistory(append(before, lines...)), true
}

// finish ends a claim. Where ttl is not 0 it leases the next key for a claimant.
func (s *Store) finish(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome, ttl time.Duration, by *claimant) (*reply, error) {
	if err := rules.CheckLink(c.Key, link); err != nil {
		return nil, err
	}
	var record []byte
	if link != nil {
		data, err := rules.EncodeLink(link)
		if err != nil {
			return nil, err
		}
		if record, err = packRecord(data, false); err != nil {
			return nil, err
		}
	}
	lines, err := rules.EncodeHistory(history)
	if err != nil {
		return nil, err
	}
	all, entire := lines, false
	if len(lines) > 0 && out.Kind != store.Erase {
		all, entire = wholeHistory(c.History, lines)
	}
	var entries []byte
	if len(all) > 0 {
		if entries, err = encode(all); err != nil {
			return nil, err
		}
	}
	args := []any{string(c.Key.Link), c.Token, c.Generation, kinds[out.Kind], millis(out.After), out.Service, rules.Reason(out.Reason), record}
	args = append(appendEntries(args, link), len(all), entries, flag(entire), mapping.MaxHistory, historyFrames, millis(ttl), flag(out.Unspent), by)
	return s.run(ctx, scriptFinish, c.Key.Project, args...)
}

// Wake implements [store.Queue]. It wakes many keys in steps, each atomic. After a crash another
// Wake wakes the remaining ones.
func (s *Store) Wake(ctx context.Context, project mapping.ObjectID, service string, perSecond float64) (int, error) {
	woken, total := 0, 1
	for first := true; woken < total; first = false {
		r, err := s.run(ctx, scriptWake, project, service, wakeStep, woken, max(perSecond, 0), millis(rules.StaysLive))
		if err != nil {
			return woken, fmt.Errorf("wake %s in project %s: %w", service, project, err)
		}
		step, waited := int(r.num()), int(r.num())
		if first {
			total = waited // keys that begin to wait meanwhile are for the next Wake
		}
		if woken += step; step == 0 {
			break
		}
	}
	return woken, nil
}

// Failures implements [store.Queue].
func (s *Store) Failures(ctx context.Context, project mapping.ObjectID, limit int) (fs []store.Failure, err error) {
	if limit <= 0 {
		return nil, nil
	}
	r, err := s.run(ctx, scriptFailures, project, limit)
	if err != nil {
		return nil, fmt.Errorf("failures of project %s: %w", project, err)
	}
	for r.more() {
		f := store.Failure{Key: store.Key{Project: project, Link: mapping.LinkID(r.str())}, At: time.UnixMilli(r.num())}
		l := labelOf(f.Key, r.str())
		f.Route, f.Where = l.Route, l.Where
		f.Reason, f.Attempts = r.str(), int(r.num())
		fs = append(fs, f)
	}
	return fs, r.err
}

// Depth implements [store.Queue].
func (s *Store) Depth(ctx context.Context, project mapping.ObjectID) (store.Depth, error) {
	d := store.Depth{Waiting: map[string]int{}}
	r, err := s.run(ctx, scriptDepth, project)
	if err != nil {
		return d, fmt.Errorf("queue of project %s: %w", project, err)
	}
	d.Live, d.Bulk, d.Due, d.Failures = int(r.num()), int(r.num()), int(r.num()), int(r.num())
	if oldest := r.num(); oldest > 0 {
		d.Oldest = time.UnixMilli(oldest)
	}
	for r.more() {
		service := r.str()
		d.Waiting[service] = int(r.num())
	}
	return d, r.err
}
