package storetest

import (
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

var claimTests = map[string]func(*fixture){
	"TakesTheLongestDue":   testClaimOrder,
	"IsExclusive":          testClaimExclusive,
	"EndsWithItsLease":     testLeaseExpiry,
	"CountsTheAbandoned":   testAbandoned,
	"AnEndIsNotAbandoning": testAbandonedNot,
	"ParkedOneGoesOnce":    testAbandonedParked,
	"CarriesWhatCame":      testLeaseExpiryChanged,
	"KnowsItsEnd":          testClaimUntil,
	"OfOneKey":             testClaimKey,
	"OfOneKeyKeepsItsPlan": testClaimKeyAbandoned,
	"SaysWhenTheNextIsDue": testClaimNext,
	"EnqueueMakesDue":      testEnqueue,
	"EnqueueUnderAClaim":   testEnqueueLeased,
}

func testClaimOrder(f *fixture) {
	var want []*mapping.Link
	for range 3 {
		l := f.newLink()
		f.observe(creating(l))
		want = append(want, l)
		f.Opened.Advance(time.Minute)
	}
	d := f.depth()
	var first *store.Claim
	for _, l := range want {
		c := f.claim(l)
		if first == nil {
			first = c
		}
	}
	if !d.Oldest.Equal(first.Due) {
		f.Errorf("Depth.Oldest = %v, the oldest key was due at %v", d.Oldest, first.Due)
	}
	if d := f.depth(); !d.Oldest.IsZero() || d.Live != 3 {
		f.Errorf("Depth with all keys leased = %+v", d)
	}
}

func testClaimExclusive(f *fixture) {
	l := f.newLink()
	f.observe(creating(l))
	c := f.claim(l)
	if c.Attempts != 0 || c.Token <= 0 {
		f.Errorf("first claim = %+v", c)
	}
	f.nothingDue()
	f.no("Check", f.Check(f.ctx, c))
	f.observe(creating(l)) // a change does not hand the key to another worker
	f.nothingDue()
	_, err := f.ClaimKey(f.ctx, f.key(l), ttl)
	f.wantErr("ClaimKey", err, store.ErrConflict)
}

func testLeaseExpiry(f *fixture) {
	l := f.newLink()
	o := showing(l, 1, "one")
	o.Create, o.Event = l, []byte("event")
	f.observe(o)
	old := f.claim(l)
	f.Opened.Advance(ttl - time.Minute)
	f.no("Check before the end", f.Check(f.ctx, old))
	f.Opened.Advance(time.Minute)

	lost := func(when string) {
		f.Helper()
		changed := *l
		changed.Why = "by a dead worker"
		f.wantErr("Check "+when, f.Check(f.ctx, old), store.ErrLeaseLost)
		f.wantErr("Save "+when, f.Save(f.ctx, old, &changed), store.ErrLeaseLost)
		f.wantErr("Finish "+when, f.Finish(f.ctx, old, &changed, []mapping.Entry{{What: "write"}}, store.Outcome{}), store.ErrLeaseLost)
		f.wantErr("Remove "+when, f.Finish(f.ctx, old, nil, nil, store.Outcome{Kind: store.Remove}), store.ErrLeaseLost)
	}
	lost("after the end")
	c := f.claim(l) // due again
	if c.Token <= old.Token {
		f.Errorf("token %d after %d", c.Token, old.Token)
	}
	if len(c.Inbox) != 1 || len(c.Events) != 1 || c.Attempts != 0 {
		f.Errorf("the second claim = %+v", c)
	}
	lost("after the take-over")
	f.no("Check of the new claim", f.Check(f.ctx, c))
	got, err := f.Link(f.ctx, f.key(l))
	f.no("Link", err)
	if got.Why != "" {
		f.Error("a lost claim stored its link")
	}
	f.finish(c, store.Outcome{})
	lost("after the other's end")
	f.nothingDue()
}

// testAbandoned: each claim without an end is counted in the next one, whatever ended the process.
// A success resets the count.
func testAbandoned(f *fixture) {
	l, c := f.worked()
	for n := range 3 {
		if c.Abandoned != n || c.AfterAbandoned != (n > 0) || c.Attempts != 0 {
			f.Errorf("claim after %d that nobody ended: Abandoned %d, AfterAbandoned %v, Attempts %d", n, c.Abandoned, c.AfterAbandoned, c.Attempts)
		}
		f.Opened.Advance(ttl)
		c = f.claim(l)
	}
	f.finish(c, store.Outcome{Kind: store.Again})
	if c = f.claim(l); c.Abandoned != 3 || c.AfterAbandoned {
		f.Errorf("claim after one that was ended: Abandoned %d, AfterAbandoned %v", c.Abandoned, c.AfterAbandoned)
	}
	f.finish(c, store.Outcome{})
	f.observe(creating(l))
	if c = f.claim(l); c.Abandoned != 0 {
		f.Errorf("Abandoned after a success = %d", c.Abandoned)
	}
}

func testAbandonedNot(f *fixture) {
	l, c := f.worked()
	for _, out := range []store.Outcome{
		{Kind: store.Again}, {Kind: store.Wait, Service: "github"}, {Kind: store.Retry}, {Kind: store.Done}, {Kind: store.Park}, {Kind: store.Remove},
	} {
		f.observe(creating(l)) // so that there is a next claim
		f.finish(c, out)
		f.no("Enqueue", f.Enqueue(f.ctx, f.key(l), 0, false))
		if c = f.claim(l); c.Abandoned != 0 || c.AfterAbandoned {
			f.Errorf("claim after outcome %d: Abandoned %d, AfterAbandoned %v", out.Kind, c.Abandoned, c.AfterAbandoned)
		}
	}
}

// testAbandonedParked: a key that is parked for abandoned claims is shown with those claims. It is
// shown with no others where the claim that parks it was no attempt. A key that is taken up again
// has one claim before it is parked anew.
func testAbandonedParked(f *fixture) {
	l, _ := f.worked()
	f.Opened.Advance(ttl)
	f.claim(l)
	f.Opened.Advance(ttl)
	f.finish(f.claim(l), store.Outcome{Kind: store.Park, Reason: "deadly", Unspent: true})
	if fs := f.failures(); len(fs) != 1 || fs[0].Attempts != 2 {
		f.Errorf("Failures = %+v, want 2 attempts", fs)
	}
	f.observe(creating(l))
	if c := f.claim(l); c.Abandoned != 1 || c.AfterAbandoned {
		f.Errorf("taken up again: Abandoned %d, AfterAbandoned %v, want 1, false", c.Abandoned, c.AfterAbandoned)
	}
	f.Opened.Advance(ttl)
	if c := f.claim(l); c.Abandoned != 2 || !c.AfterAbandoned {
		f.Errorf("abandoned again: Abandoned %d, AfterAbandoned %v, want 2, true", c.Abandoned, c.AfterAbandoned)
	}
}

// testLeaseExpiryChanged: a change under an expired lease is in the next claim, and the key is not
// due again after that.
func testLeaseExpiryChanged(f *fixture) {
	l, _ := f.worked()
	f.observe(showing(l, 2, "two"))
	f.Opened.Advance(ttl)
	c := f.claim(l)
	f.wantInbox(c, "two", 1)
	later := showing(l, 3, "three")
	later.Delay = 30 * time.Minute
	f.observe(later)
	f.finish(c, store.Outcome{})
	if m := f.nothingDue(); m != 30 {
		f.Errorf("due in %d minutes, want 30", m)
	}
}

func testClaimUntil(f *fixture) {
	l := f.newLink()
	f.observe(creating(l))
	before := time.Now()
	c := f.claim(l)
	if c.Until.Before(before.Add(ttl)) || c.Until.After(time.Now().Add(ttl)) {
		f.Errorf("Until is %v after the call, want %v", c.Until.Sub(before), ttl)
	}
}

func testClaimKey(f *fixture) {
	idle, due, waiting, parked := f.made(), f.newLink(), f.newLink(), f.newLink()
	f.observe(creating(waiting))
	f.finish(f.claim(waiting), store.Outcome{Kind: store.Wait, Service: "github"})
	f.observe(creating(parked))
	f.finish(f.claim(parked), store.Outcome{Kind: store.Park})
	f.observe(creating(due))
	for name, l := range map[string]*mapping.Link{"idle": idle, "due": due, "waiting": waiting, "parked": parked} {
		c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
		f.no("ClaimKey of a key that is "+name, err)
		if c.Link == nil || c.Link.ID != l.ID || c.Token <= 0 || c.Attempts != 0 {
			f.Errorf("ClaimKey of a key that is %s = %+v", name, c)
		}
		f.finish(c, store.Outcome{})
	}
	f.nothingDue()
	d := f.depth()
	if d.Live != 0 || len(d.Waiting) != 0 || d.Failures != 0 {
		f.Errorf("Depth after all were claimed and done = %+v", d)
	}
}

func testClaimKeyAbandoned(f *fixture) {
	l := f.made()
	_, err := f.ClaimKey(f.ctx, f.key(l), ttl)
	f.no("ClaimKey", err)
	f.nothingDue()
	f.Opened.Advance(ttl)
	f.claim(l) // so that the unfinished work of the dead command is checked
}

func testClaimNext(f *fixture) {
	if m := f.nothingDue(); m != 0 {
		f.Errorf("an empty queue says %d minutes", m)
	}
	bulk, live := f.newLink(), f.newLink()
	o := creating(bulk)
	o.Bulk, o.Delay = true, 5*time.Minute
	f.observe(o)
	o = creating(live)
	o.Delay = 7 * time.Minute
	f.observe(o)
	if m := f.nothingDue(); m != 5 {
		f.Errorf("next in %d minutes, want 5", m)
	}
	f.Opened.Advance(5 * time.Minute)
	f.claim(bulk)
	if m := f.nothingDue(); m != 2 {
		f.Errorf("next in %d minutes, want 2", m)
	}
}

func testEnqueue(f *fixture) {
	l, parked, waiting := f.made(), f.newLink(), f.newLink()
	f.no("Enqueue", f.Enqueue(f.ctx, f.key(l), 5*time.Minute, true))
	f.no("Enqueue", f.Enqueue(f.ctx, f.key(l), 9*time.Minute, true))
	if m := f.nothingDue(); m != 5 {
		f.Errorf("next in %d minutes, want 5", m)
	}
	if d := f.depth(); d.Bulk != 1 || d.Live != 0 {
		f.Errorf("Depth = %+v", d)
	}
	f.Opened.Advance(5 * time.Minute)
	f.finish(f.claim(l), store.Outcome{})

	f.observe(creating(parked))
	f.finish(f.claim(parked), store.Outcome{Kind: store.Retry})
	f.finish(f.claim(parked), store.Outcome{Kind: store.Park})
	f.no("Enqueue", f.Enqueue(f.ctx, f.key(parked), 0, false))
	if fs := f.failures(); len(fs) != 0 {
		f.Errorf("Failures after Enqueue = %v", fs)
	}
	if c := f.claim(parked); c.Attempts != 0 {
		f.Errorf("attempts of a parked key = %d, want them forgotten", c.Attempts)
	}

	f.observe(creating(waiting))
	f.finish(f.claim(waiting), store.Outcome{Kind: store.Wait, Service: "github"})
	f.no("Enqueue", f.Enqueue(f.ctx, f.key(waiting), 0, false))
	f.claim(waiting) // as the probe of a service that is down
	if d := f.depth(); len(d.Waiting) != 0 {
		f.Errorf("Depth = %+v", d)
	}
}

func testEnqueueLeased(f *fixture) {
	l := f.newLink()
	f.observe(creating(l))
	c := f.claim(l)
	f.no("Enqueue", f.Enqueue(f.ctx, f.key(l), 5*time.Minute, false))
	f.finish(c, store.Outcome{})
	if m := f.nothingDue(); m != 5 {
		f.Errorf("next in %d minutes, want 5", m)
	}
}

// testReplicas holds two handles on one store to one queue.
func testReplicas(f *fixture) {
	two := f.Opened.Second(f.T)
	a, err := f.Epoch(f.ctx)
	f.no("Epoch", err)
	b, err := two.Epoch(f.ctx)
	if err != nil || a != b {
		f.Errorf("Epochs = %q, %q, %v", a, b, err)
	}
	l := f.newLink()
	f.observe(creating(l))
	if seen, err := two.Observe(f.ctx, f.project, []store.Observation{creating(l)}); err != nil || seen[0].Created {
		f.Errorf("the other replica's Observe = %+v, %v", seen, err)
	}
	c := f.claim(l)
	if other, _, err := two.Claim(f.ctx, f.project, ttl); err != nil || other != nil {
		f.Errorf("the other replica's Claim = %v, %v", other, err)
	}
	f.no("the other replica's Check", two.Check(f.ctx, c))
	f.no("the other replica's Finish", two.Finish(f.ctx, c, nil, nil, store.Outcome{}))
	f.wantErr("Check", f.Check(f.ctx, c), store.ErrLeaseLost)

	if ok, err := f.Acquire(f.ctx, "poll", "a", ttl); err != nil || !ok {
		f.Errorf("Acquire = %v, %v", ok, err)
	}
	if ok, err := two.Acquire(f.ctx, "poll", "b", ttl); err != nil || ok {
		f.Errorf("the other replica's Acquire = %v, %v", ok, err)
	}
	f.Run("Race", func(t *testing.T) { testClaimRace(f, []store.Store{f.Store, two}) })
}

// testClaimRace has many workers drain one queue, and demands that no two work a key at a time.
func testClaimRace(f *fixture, stores []store.Store) {
	const keys, workers, changes = 60, 8, 3
	var obs []store.Observation
	links := map[mapping.LinkID]*mapping.Link{}
	for range keys {
		l := f.newLink()
		links[l.ID] = l
		obs = append(obs, creating(l))
	}
	f.observe(obs...)
	held := newHolders()
	errs := make(chan error, workers)
	for w := range workers {
		go func() { errs <- drain(f, stores[w%len(stores)], held, links, changes) }()
	}
	for range workers {
		if err := <-errs; err != nil {
			f.Error(err)
		}
	}
	for id := range links {
		if n := held.count(id); n <= changes {
			f.Errorf("%s was worked %d times for %d changes", id, n, changes+1)
		}
	}
}

// drain works keys until none is queued. During each of a key's first claims a change comes in,
// which must lead to another claim.
func drain(f *fixture, s store.Store, held *holders, links map[mapping.LinkID]*mapping.Link, changes int) error {
	for {
		c, next, err := s.Claim(f.ctx, f.project, ttl)
		if err != nil {
			return fmt.Errorf("claim: %w", err)
		}
		if c == nil {
			if next == 0 {
				return nil
			}
			continue
		}
		n, ok := held.take(c.Key.Link)
		if !ok {
			return fmt.Errorf("%s is worked twice at a time", c.Key)
		}
		if n <= changes {
			if _, err := s.Observe(f.ctx, f.project, []store.Observation{creating(links[c.Key.Link])}); err != nil {
				return fmt.Errorf("observe: %w", err)
			}
		}
		held.release(c.Key.Link)
		if err := s.Finish(f.ctx, c, nil, []mapping.Entry{{What: "work"}}, store.Outcome{}); err != nil {
			return fmt.Errorf("finish: %w", err)
		}
	}
}
