package sim

import (
	"context"
	"iter"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Store is a replica's store: each call is a step.
type Store struct {
	store.Store
	Actor     string
	Scheduler *Scheduler
	Witness   Witness // nil: there is none
}

// step is one call with its arguments.
func (s *Store) step(ctx context.Context, what string, given ...any) {
	s.Scheduler.step(ctx, s.Actor, what, given)
}

// Ping implements [store.Store].
func (s *Store) Ping(ctx context.Context) error {
	s.step(ctx, "Ping")
	return s.Store.Ping(ctx)
}

// Epoch implements [store.Store].
func (s *Store) Epoch(ctx context.Context) (string, error) {
	s.step(ctx, "Epoch")
	return s.Store.Epoch(ctx)
}

// Adopt implements [store.Store].
func (s *Store) Adopt(ctx context.Context) (string, error) {
	s.step(ctx, "Adopt")
	epoch, err := s.Store.Adopt(ctx)
	if s.Witness != nil && err == nil {
		s.Witness.Adopted(s.Actor)
	}
	return epoch, err
}

// Scrub implements [store.Store].
func (s *Store) Scrub(ctx context.Context) error {
	s.step(ctx, "Scrub")
	return s.Store.Scrub(ctx)
}

// Repair implements [store.Store].
func (s *Store) Repair(ctx context.Context, project mapping.ObjectID) error {
	s.step(ctx, "Repair "+string(project), project)
	return s.Store.Repair(ctx, project)
}

// Link implements [store.Store].
func (s *Store) Link(ctx context.Context, key store.Key) (*mapping.Link, error) {
	s.step(ctx, "Link "+key.String(), key)
	return s.Store.Link(ctx, key)
}

// Find implements [store.Store].
func (s *Store) Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error) {
	s.step(ctx, "Find "+string(project), project, ref)
	return s.Store.Find(ctx, project, ref)
}

// FindByTraits implements [store.Store].
func (s *Store) FindByTraits(ctx context.Context, project mapping.ObjectID, traits []mapping.Trait, limit int) ([]mapping.LinkID, error) {
	s.step(ctx, "FindByTraits "+string(project), project, traits, limit)
	return s.Store.FindByTraits(ctx, project, traits, limit)
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (links []*mapping.Link, next string, err error) {
	s.step(ctx, "List "+string(project), project, cursor, limit)
	return s.Store.List(ctx, project, cursor, limit)
}

// History implements [store.Store].
func (s *Store) History(ctx context.Context, key store.Key, limit int) ([]mapping.Entry, error) {
	s.step(ctx, "History "+key.String(), key, limit)
	return s.Store.History(ctx, key, limit)
}

// Observe implements [store.Store].
func (s *Store) Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	s.step(ctx, "Observe "+string(project), project, obs)
	return s.Store.Observe(ctx, project, obs)
}

// Enqueue implements [store.Store].
func (s *Store) Enqueue(ctx context.Context, key store.Key, delay time.Duration, bulk bool) error {
	s.step(ctx, "Enqueue "+key.String(), key, delay, bulk)
	return s.Store.Enqueue(ctx, key, delay, bulk)
}

// Claim implements [store.Store].
func (s *Store) Claim(ctx context.Context, project mapping.ObjectID, ttl time.Duration) (*store.Claim, time.Duration, error) {
	s.step(ctx, "Claim "+string(project), project, ttl)
	c, wait, err := s.Store.Claim(ctx, project, ttl)
	return s.claimed(c), wait, err
}

// ClaimKey implements [store.Store].
func (s *Store) ClaimKey(ctx context.Context, key store.Key, ttl time.Duration) (*store.Claim, error) {
	s.step(ctx, "ClaimKey "+key.String(), key, ttl)
	c, err := s.Store.ClaimKey(ctx, key, ttl)
	return s.claimed(c), err
}

// Save implements [store.Store].
func (s *Store) Save(ctx context.Context, c *store.Claim, link *mapping.Link) error {
	s.step(ctx, "Save "+c.Key.String(), c.Token, link)
	return s.stored(c, link, s.Store.Save(ctx, c, link))
}

// Check implements [store.Store].
func (s *Store) Check(ctx context.Context, c *store.Claim) error {
	s.step(ctx, "Check "+c.Key.String(), c.Token)
	return s.Store.Check(ctx, c)
}

// Finish implements [store.Store].
func (s *Store) Finish(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome) error {
	s.step(ctx, "Finish "+c.Key.String(), c.Token, link, history, out)
	s.ends(c, out)
	return s.stored(c, link, s.Store.Finish(ctx, c, link, history, out))
}

// FinishAndClaim implements [store.Store].
func (s *Store) FinishAndClaim(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome, ttl time.Duration) (*store.Claim, error) {
	s.step(ctx, "FinishAndClaim "+c.Key.String(), c.Token, link, history, out, ttl)
	s.ends(c, out)
	next, err := s.Store.FinishAndClaim(ctx, c, link, history, out, ttl)
	return s.claimed(next), s.stored(c, link, err)
}

// Standing implements [store.Store].
func (s *Store) Standing(ctx context.Context, key store.Key) (store.Standing, error) {
	s.step(ctx, "Standing "+key.String(), key)
	return s.Store.Standing(ctx, key)
}

// Standings implements [store.Store].
func (s *Store) Standings(ctx context.Context, project mapping.ObjectID, limit int) ([]store.Standing, error) {
	s.step(ctx, "Standings "+string(project), project, limit)
	return s.Store.Standings(ctx, project, limit)
}

// Queued implements [store.Store].
func (s *Store) Queued(ctx context.Context, project mapping.ObjectID, limit int) ([]store.Standing, error) {
	s.step(ctx, "Queued "+string(project), project, limit)
	return s.Store.Queued(ctx, project, limit)
}

// Wake implements [store.Store].
func (s *Store) Wake(ctx context.Context, project mapping.ObjectID, service string, perSecond float64) (int, error) {
	s.step(ctx, "Wake "+string(project), project, service, perSecond)
	return s.Store.Wake(ctx, project, service, perSecond)
}

// Failures implements [store.Store].
func (s *Store) Failures(ctx context.Context, project mapping.ObjectID, limit int) ([]store.Failure, error) {
	s.step(ctx, "Failures "+string(project), project, limit)
	return s.Store.Failures(ctx, project, limit)
}

// Depth implements [store.Store].
func (s *Store) Depth(ctx context.Context, project mapping.ObjectID) (store.Depth, error) {
	s.step(ctx, "Depth "+string(project), project)
	return s.Store.Depth(ctx, project)
}

// PutConflict implements [store.Store].
func (s *Store) PutConflict(ctx context.Context, c mapping.Conflict) error {
	s.step(ctx, "PutConflict", c)
	return s.Store.PutConflict(ctx, c)
}

// Conflict implements [store.Store].
func (s *Store) Conflict(ctx context.Context, project mapping.ObjectID, id string) (mapping.Conflict, error) {
	s.step(ctx, "Conflict "+string(project), project, id)
	return s.Store.Conflict(ctx, project, id)
}

// Conflicts implements [store.Store].
func (s *Store) Conflicts(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (cs []mapping.Conflict, next string, err error) {
	s.step(ctx, "Conflicts "+string(project), project, cursor, limit)
	return s.Store.Conflicts(ctx, project, cursor, limit)
}

// Acquire implements [store.Store].
func (s *Store) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	s.step(ctx, "Acquire "+name, name, owner, ttl)
	return s.Store.Acquire(ctx, name, owner, ttl)
}

// Release implements [store.Store].
func (s *Store) Release(ctx context.Context, name, owner string) error {
	s.step(ctx, "Release "+name, name, owner)
	return s.Store.Release(ctx, name, owner)
}

// Heartbeat implements [store.Store].
func (s *Store) Heartbeat(ctx context.Context, id store.Session, lasts time.Duration) ([]store.Session, error) {
	s.step(ctx, "Heartbeat", id, lasts)
	return s.Store.Heartbeat(ctx, id, lasts)
}

// EndSessions implements [store.Store].
func (s *Store) EndSessions(ctx context.Context, over []store.Session) (int, error) {
	s.step(ctx, "EndSessions", over)
	return s.Store.EndSessions(ctx, over)
}

// Take implements [store.Store].
func (s *Store) Take(ctx context.Context, b store.Budget, a store.Ask) (store.Grant, error) {
	s.step(ctx, "Take "+b.Name, b, a)
	g, err := s.Store.Take(ctx, b, a)
	if g.Wait > 0 { // two that wait for one moment have no order, and one client asks for both
		g.Wait += time.Duration(s.Scheduler.Random(s.Actor+" "+b.Name, int64(delay)))
	}
	return g, err
}

// Hold implements [store.Store].
func (s *Store) Hold(ctx context.Context, name string, d time.Duration) error {
	s.step(ctx, "Hold "+name, name, d)
	return s.Store.Hold(ctx, name, d)
}

// Held implements [store.Store].
func (s *Store) Held(ctx context.Context, names ...string) ([]time.Duration, error) {
	s.step(ctx, "Held", names)
	return s.Store.Held(ctx, names...)
}

// Doc implements [store.Store].
func (s *Store) Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error) {
	s.step(ctx, "Doc "+name, project, name)
	return s.Store.Doc(ctx, project, name)
}

// PutDoc implements [store.Store].
func (s *Store) PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error {
	s.step(ctx, "PutDoc "+name, project, name, data)
	return s.Store.PutDoc(ctx, project, name, data)
}

// Marks implements [store.Store].
func (s *Store) Marks(ctx context.Context, project mapping.ObjectID, set string) ([]store.Mark, error) {
	s.step(ctx, "Marks "+string(project), project, set)
	return s.Store.Marks(ctx, project, set)
}

// PutMarks implements [store.Store].
func (s *Store) PutMarks(ctx context.Context, project mapping.ObjectID, set string, marks map[string]string) error {
	s.step(ctx, "PutMarks "+string(project), project, set, marks)
	return s.Store.PutMarks(ctx, project, set, marks)
}

// Dump implements [store.Store].
func (s *Store) Dump(ctx context.Context, visit func(store.Entry) error) error {
	s.step(ctx, "Dump")
	return s.Store.Dump(ctx, visit)
}

// Load implements [store.Store].
func (s *Store) Load(ctx context.Context, entries iter.Seq2[store.Entry, error], replace bool) error {
	s.step(ctx, "Load", replace)
	return s.Store.Load(ctx, entries, replace)
}

// Incarnation is that of the store behind it.
func (s *Store) Incarnation(ctx context.Context) (string, error) {
	servers, ok := s.Store.(interface {
		Incarnation(ctx context.Context) (string, error)
	})
	if !ok {
		return "", nil
	}
	s.step(ctx, "Incarnation")
	return servers.Incarnation(ctx)
}
