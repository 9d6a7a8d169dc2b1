package storetest

import (
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

func testFinishAndClaim(f *fixture) {
	one, c := f.worked()
	bulk, live := f.newLink(), f.newLink()
	o := creating(bulk)
	o.Bulk = true
	f.observe(o)
	f.Opened.Advance(time.Minute)
	f.observe(creating(live))
	one.Why = "stored"
	for i, want := range []*mapping.Link{live, bulk} { // live ones first, as Claim does
		next, err := f.FinishAndClaim(f.ctx, c, one, []mapping.Entry{{What: "work"}}, store.Outcome{}, ttl)
		f.no("FinishAndClaim", err)
		if next == nil || next.Key != f.key(want) || next.Link.ID != want.ID || next.Token <= 0 {
			f.Fatalf("claim %d = %+v, want one of %s", i, next, want.ID)
		}
		f.no("Check of the next", f.Check(f.ctx, next))
		f.wantErr("Check of the one before", f.Check(f.ctx, c), store.ErrLeaseLost)
		c, one = next, next.Link
	}
	next, err := f.FinishAndClaim(f.ctx, c, nil, nil, store.Outcome{Kind: store.Again}, ttl)
	if err != nil || next != nil {
		f.Errorf("the last FinishAndClaim = %+v, %v, want none: the key itself is left", next, err)
	}
	f.claim(bulk)
	got, err := f.Link(f.ctx, f.key(&mapping.Link{ID: live.ID}))
	if err != nil || got.ID != live.ID {
		f.Errorf("Link = %+v, %v", got, err)
	}
}

// testFinishAndClaimLost: where a claim could not be ended, nothing is leased. Where it had been
// ended already and the answer was lost, the next key is leased.
func testFinishAndClaimLost(f *fixture) {
	l, old := f.worked()
	f.Opened.Advance(ttl)
	c := f.claim(l)
	other := f.newLink()
	f.observe(creating(other))
	next, err := f.FinishAndClaim(f.ctx, old, l, nil, store.Outcome{}, ttl)
	f.wantErr("FinishAndClaim of a lost claim", err, store.ErrLeaseLost)
	if next != nil {
		f.Errorf("a lost claim led to %+v", next)
	}
	taken := *l
	taken.Card.ID = mapping.ObjectID(mapping.NewID())
	holder := f.newLink()
	holder.Card.ID = taken.Card.ID
	f.observe(creating(holder))
	next, err = f.FinishAndClaim(f.ctx, c, &taken, nil, store.Outcome{}, ttl)
	f.wantErr("FinishAndClaim with another link's card", err, store.ErrConflict)
	if next != nil {
		f.Errorf("a refused link led to %+v", next)
	}
	f.finish(c, store.Outcome{})
	next, err = f.FinishAndClaim(f.ctx, c, nil, nil, store.Outcome{}, ttl)
	f.no("FinishAndClaim of what had been ended", err)
	if next == nil || next.Key != f.key(other) {
		f.Errorf("claim = %+v, want one of %s", next, other.ID)
	}
}
