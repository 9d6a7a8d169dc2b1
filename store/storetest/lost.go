package storetest

import (
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// testLost empties the store under two handles.
func testLost(f *fixture) {
	two := f.Opened.Second(f.T)
	old, err := f.Epoch(f.ctx)
	f.no("Epoch", err)
	l, fresh := f.newLink(), mapping.ObjectID(mapping.NewID())
	f.observe(creating(l))
	c := f.claim(l)
	f.no("PutDoc of the other handle", two.PutDoc(f.ctx, "", "doc", nil))

	f.Opened.Lose(f.T)
	for name, err := range everyOperation(f, f.Store, c, fresh) {
		f.wantErr(name+" on a lost store", err, store.ErrEpoch)
	}
	now, err := f.Adopt(f.ctx)
	f.no("Adopt", err)
	if now == old || now == "" {
		f.Errorf("adopted epoch %q after %q", now, old)
	}
	f.no("Ping after Adopt", f.Ping(f.ctx))
	if again, err := f.Epoch(f.ctx); err != nil || again != now {
		f.Errorf("Epoch after Adopt = %q, %v, want %q", again, err, now)
	}
	_, err = f.Link(f.ctx, f.key(l))
	f.wantErr("Link in the emptied store", err, store.ErrNotFound)
	f.wantErr("a claim of before", f.Finish(f.ctx, c, l, nil, store.Outcome{}), store.ErrLeaseLost)
	f.observe(creating(l))
	f.claim(l)

	// The other replica notices although the store has an epoch again.
	_, err = two.Link(f.ctx, f.key(l))
	f.wantErr("Link of the other handle", err, store.ErrEpoch)
	if also, err := two.Adopt(f.ctx); err != nil || also != now {
		f.Errorf("the other handle adopts %q, %v, want %q", also, err, now)
	}
	if _, err := two.Link(f.ctx, f.key(l)); err != nil {
		f.Errorf("Link of the other handle after Adopt: %v", err)
	}
	f.no("the first handle goes on", f.Ping(f.ctx))
}

// everyOperation calls each method once and returns its error by name.
func everyOperation(f *fixture, s store.Store, c *store.Claim, p mapping.ObjectID) map[string]error {
	errs := map[string]error{}
	try := func(name string, err error) { errs[name] = err }
	key := c.Key
	_, err := s.Epoch(f.ctx)
	try("Epoch", err)
	try("Ping", s.Ping(f.ctx))
	_, err = s.Link(f.ctx, key)
	try("Link", err)
	_, err = s.Find(f.ctx, key.Project, "issue:1")
	try("Find", err)
	_, _, err = s.List(f.ctx, p, "", 1)
	try("List", err)
	_, err = s.History(f.ctx, key, 1)
	try("History", err)
	_, err = s.Observe(f.ctx, p, []store.Observation{{Link: "x"}})
	try("Observe", err)
	try("Enqueue", s.Enqueue(f.ctx, key, 0, false))
	_, _, err = s.Claim(f.ctx, p, ttl)
	try("Claim", err)
	_, err = s.ClaimKey(f.ctx, key, ttl)
	try("ClaimKey", err)
	try("Save", s.Save(f.ctx, c, c.Link))
	try("Check", s.Check(f.ctx, c))
	try("Finish", s.Finish(f.ctx, c, nil, nil, store.Outcome{}))
	_, err = s.FinishAndClaim(f.ctx, c, nil, nil, store.Outcome{}, ttl)
	try("FinishAndClaim", err)
	_, err = s.Wake(f.ctx, p, "github", 1)
	try("Wake", err)
	_, err = s.Failures(f.ctx, p, 1)
	try("Failures", err)
	_, err = s.Depth(f.ctx, p)
	try("Depth", err)
	try("PutConflict", s.PutConflict(f.ctx, mapping.Conflict{ID: "c", Project: p}))
	_, err = s.Conflict(f.ctx, p, "c")
	try("Conflict", err)
	_, _, err = s.Conflicts(f.ctx, p, "", 1)
	try("Conflicts", err)
	_, err = s.Acquire(f.ctx, "n", "o", ttl)
	try("Acquire", err)
	try("Release", s.Release(f.ctx, "n", "o"))
	_, err = s.Take(f.ctx, store.Budget{Name: "n", PerMinute: 1, PerHour: 1, Burst: 1}, store.Ask{})
	try("Take", err)
	try("Hold", s.Hold(f.ctx, "n", time.Second))
	_, err = s.Held(f.ctx, "n")
	try("Held", err)
	_, err = s.Doc(f.ctx, p, "d")
	try("Doc", err)
	try("PutDoc", s.PutDoc(f.ctx, p, "d", nil))
	_, err = s.Marks(f.ctx, p, "s")
	try("Marks", err)
	try("PutMarks", s.PutMarks(f.ctx, p, "s", map[string]string{"a": "b"}))
	return errs
}
