package storetest

import (
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

var waitTests = map[string]func(*fixture){
	"UntilWoken":     testWait,
	"WakesAtARate":   testWakeRate,
	"WakesLiveFirst": testWakeOrder,
	"WakesLate":      testWakeLate,
	"ByService":      testWakeService,
	"Changes":        testWaitChanged,
}

// waits makes a key that waits for a service.
func (f *fixture) waits(service string, bulk bool) *mapping.Link {
	f.Helper()
	l := f.newLink()
	o := showing(l, 1, "one")
	o.Create, o.Bulk = l, bulk
	f.observe(o)
	f.finish(f.claim(l), store.Outcome{Kind: store.Wait, Service: service, Reason: "down"})
	return l
}

func (f *fixture) wake(service string, perSecond float64, want int) {
	f.Helper()
	if n, err := f.Wake(f.ctx, f.project, service, perSecond); err != nil || n != want {
		f.Errorf("Wake(%s) = %d, %v, want %d", service, n, err, want)
	}
}

func testWait(f *fixture) {
	f.wake("github", 1, 0)
	l := f.waits("github", false)
	f.Opened.Advance(time.Hour)
	if m := f.nothingDue(); m != 0 {
		f.Errorf("a waiting key is due in %d minutes", m)
	}
	if d := f.depth(); d.Waiting["github"] != 1 || d.Live != 0 || !d.Oldest.IsZero() {
		f.Errorf("Depth = %+v", d)
	}
	f.wake("github", 0, 1)
	c := f.claim(l)
	f.wantInbox(c, "one", 0)
	if c.Attempts != 0 {
		f.Errorf("waiting spent %d attempts", c.Attempts)
	}
	f.wake("github", 0, 0)
	f.finish(c, store.Outcome{})
	f.nothingDue()
}

func testWakeRate(f *fixture) {
	const keys = 31
	for range keys {
		f.waits("github", false)
	}
	f.Opened.Advance(time.Minute)
	f.wake("github", 1./60, keys) // one a minute
	for i := range keys {
		c, _, err := f.Claim(f.ctx, f.project, 10*ttl)
		f.no("Claim", err)
		if c == nil {
			f.Fatalf("key %d is not due in its minute", i)
		}
		c, next, err := f.Claim(f.ctx, f.project, ttl)
		if err != nil || c != nil {
			f.Fatalf("two keys due in minute %d", i)
		}
		if i < keys-1 && minutes(next) != 1 {
			f.Errorf("the next after key %d is due in %v", i, next)
		}
		f.Opened.Advance(time.Minute)
	}
}

func testWakeOrder(f *fixture) {
	f.waits("github", true)
	live := f.waits("github", false)
	lifted := f.waits("github", true)
	f.observe(creating(lifted)) // a live change while it waits
	f.Opened.Advance(time.Minute)
	f.wake("github", 1./60, 3)
	for range 2 {
		c, _, err := f.Claim(f.ctx, f.project, ttl)
		f.no("Claim", err)
		if c == nil || c.Key != f.key(live) && c.Key != f.key(lifted) {
			f.Fatalf("Claim = %+v, want a live key first", c)
		}
		f.Opened.Advance(time.Minute)
	}
	if d := f.depth(); d.Live != 0 || d.Bulk != 3 {
		f.Errorf("Depth = %+v", d)
	}
	// New changes go before woken keys.
	if c, _, err := f.Claim(f.ctx, f.project, ttl); err != nil || c == nil {
		f.Fatalf("Claim = %+v, %v", c, err)
	}
	first, second := f.waits("planning:web", false), f.waits("planning:web", false)
	f.Opened.Advance(time.Minute)
	f.wake("planning:web", 0, 2)
	f.observe(creating(second))
	for _, want := range []*mapping.Link{second, first} {
		c, _, err := f.Claim(f.ctx, f.project, ttl)
		f.no("Claim", err)
		if c == nil || c.Key != f.key(want) {
			f.Fatalf("Claim = %+v, want %s", c, f.key(want))
		}
	}
}

// testWakeLate: a live key that began to wait just before goes before keys that waited long. A key
// of an import does not, and a key that was parked meanwhile stays parked.
func testWakeLate(f *fixture) {
	long := f.waits("github", false)
	f.Opened.Advance(time.Minute)
	bulk := f.waits("github", true)
	late := f.waits("github", false)
	parked := f.waits("github", false)
	c, err := f.ClaimKey(f.ctx, f.key(parked), ttl)
	f.no("ClaimKey", err)
	f.finish(c, store.Outcome{Kind: store.Park, Reason: "refused"})
	f.wake("github", 0, 3)
	if d := f.depth(); d.Live != 1 || d.Bulk != 2 {
		f.Errorf("Depth = %+v, want one live key and two others", d)
	}
	c, _, err = f.Claim(f.ctx, f.project, ttl)
	f.no("Claim", err)
	if c == nil || c.Key != f.key(late) {
		f.Fatalf("Claim = %+v, want %s", c, f.key(late))
	}
	for range 2 {
		c, _, err := f.Claim(f.ctx, f.project, ttl)
		f.no("Claim", err)
		if c == nil || c.Key != f.key(long) && c.Key != f.key(bulk) {
			f.Errorf("Claim = %+v, want what waited long, and the import's", c)
		}
	}
	f.nothingDue()
}

func testWakeService(f *fixture) {
	g := f.waits("github", false)
	p := f.waits("planning:web", false)
	f.waits("planning:web2", false)
	if d := f.depth(); d.Waiting["github"] != 1 || d.Waiting["planning:web"] != 1 || d.Waiting["planning:web2"] != 1 {
		f.Errorf("Depth = %+v", d)
	}
	f.wake("planning:web", 0, 1)
	f.claim(p)
	f.nothingDue()
	f.wake("planning", 0, 0)
	f.wake("github", 0, 1)
	f.claim(g)
	f.nothingDue()
}

func testWaitChanged(f *fixture) {
	l := f.waits("github", false)
	f.observe(showing(l, 2, "two")) // does not make it due
	f.nothingDue()
	f.wake("github", 0, 1)
	c := f.claim(l)
	f.wantInbox(c, "two", 0)

	f.observe(showing(l, 3, "three")) // neither does a change under the claim
	f.finish(c, store.Outcome{Kind: store.Wait, Service: "github"})
	f.nothingDue()
	f.wake("github", 0, 1)
	c = f.claim(l)
	f.wantInbox(c, "three", 0)
	f.finish(c, store.Outcome{})
	f.nothingDue()
}
