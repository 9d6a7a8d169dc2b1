package storetest

import (
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

var observeTests = map[string]func(*fixture){
	"MakesALinkOnce":        testObserveCreates,
	"DropsTheUnknown":       testObserveDrops,
	"FollowsRefsThenMarker": testObserveResolves,
	"KeepsTheNewest":        testObserveNewest,
	"SeesTheAmbiguous":      testObserveAmbiguous,
	"BoundsEvents":          testObserveEvents,
	"OwnEventsTakeNoPlace":  testObserveOwn,
	"KnowsDeliveries":       testObserveDelivery,
	"ForgetsOldDeliveries":  testDeliveryAge,
	"KeepsARenewedDelivery": testDeliveryRenewed,
	"DelaysTheFirstAttempt": testObserveDelay,
	"PutsBulkBehind":        testObserveBulk,
	"RefusesNonsense":       testObserveNonsense,
	"IsOrdered":             testObserveOrder,
}

func testObserveCreates(f *fixture) {
	l := f.newLink()
	first := creating(l)
	other := *l
	other.ID = "another"
	second := creating(&other)
	second.Refs = nil // found by what it would create
	seen := f.observe(first, second, first)
	for i, s := range seen {
		if s.Key != f.key(l) || s.Created != (i == 0) || s.Stored || s.Duplicate {
			f.Errorf("result %d = %+v", i, s)
		}
	}
	f.claim(l)
	f.nothingDue()
}

func testObserveDrops(f *fixture) {
	o := store.Observation{Delivery: "d", Refs: []mapping.Ref{"card:x"}, Link: "gone", Item: "card:x", Data: []byte("x")}
	if s := f.observe(o)[0]; s != (store.Observed{}) {
		f.Errorf("an observation of nothing known = %+v", s)
	}
	l := f.newLink()
	l.Card.ID = "x"
	f.observe(creating(l))
	if s := f.observe(o)[0]; s.Duplicate || !s.Stored {
		f.Errorf("a delivery that was dropped counts as stored: %+v", s)
	}
}

func testObserveResolves(f *fixture) {
	a, b, fresh := f.made(), f.made(), f.newLink()
	refA, refB := mapping.IssueRef(a.Issue.ID), mapping.IssueRef(b.Issue.ID)
	for name, tt := range map[string]struct {
		o    store.Observation
		want *mapping.Link
	}{
		"first known ref":          {store.Observation{Refs: []mapping.Ref{"issue:0", refB, refA}}, b},
		"refs before the marker":   {store.Observation{Refs: []mapping.Ref{refA}, Link: b.ID}, a},
		"the marker's link":        {store.Observation{Refs: []mapping.Ref{"card:0"}, Link: b.ID}, b},
		"the marker before create": {store.Observation{Link: a.ID, Create: fresh}, a},
	} {
		if s := f.observe(tt.o)[0]; s.Key != f.key(tt.want) || s.Created {
			f.Errorf("%s: %+v, want %s", name, s, tt.want.ID)
		}
	}
	gone := creating(fresh)
	gone.Link = "never was"
	if s := f.observe(gone)[0]; !s.Created || s.Key != f.key(fresh) {
		f.Errorf("a marker of no link: %+v", s)
	}
}

// slot claims l, returns its issue's slot, and puts it back.
func (f *fixture) slot(l *mapping.Link) (store.Snapshot, bool) {
	f.Helper()
	c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
	f.no("ClaimKey", err)
	f.finish(c, store.Outcome{Kind: store.Again})
	s, ok := c.Inbox[mapping.IssueRef(l.Issue.ID)]
	return s, ok
}

func testObserveNewest(f *fixture) {
	l := f.made()
	if _, ok := f.slot(l); ok {
		f.Fatal("a new link has a snapshot")
	}
	for _, tt := range []struct {
		at     int64
		digest string
		stored bool
		want   string
	}{
		{-5, "minus", true, "minus"},
		{10, "ten", true, "ten"},
		{9, "nine", false, "ten"},
		{-6, "less", false, "ten"},
		{10, "ten", true, "ten"},
		{11, "eleven", true, "eleven"},
		{1 << 62, "huge", true, "huge"},
		{1<<62 - 1, "less huge", false, "huge"},
		{1<<62 + 1, "more huge", true, "more huge"},
	} {
		got := f.observe(showing(l, tt.at, tt.digest))[0]
		s, _ := f.slot(l)
		if got.Stored != tt.stored || s.Digest != tt.want || string(s.Data) != "data of "+tt.want || s.Ambiguous {
			f.Errorf("after %d %s: stored %v, slot %+v, want %s", tt.at, tt.digest, got.Stored, s, tt.want)
		}
		if tt.stored && s.At != tt.at {
			f.Errorf("slot's At = %d, want %d", s.At, tt.at)
		}
	}
}

func testObserveAmbiguous(f *fixture) {
	l := f.made()
	f.observe(showing(l, 3, "a b|c\x00"), showing(l, 3, "b"))
	s, _ := f.slot(l)
	if s.Digest != "b" || !s.Ambiguous {
		f.Errorf("two snapshots of one At = %+v", s)
	}
	f.observe(showing(l, 3, "b"))
	if s, _ = f.slot(l); !s.Ambiguous {
		f.Error("the same snapshot again made it unambiguous")
	}
	seen := s.Seen
	f.Opened.Advance(time.Minute)
	f.observe(showing(l, 4, "c"))
	if s, _ = f.slot(l); s.Ambiguous || s.Digest != "c" {
		f.Errorf("a newer snapshot = %+v", s)
	}
	if !s.Seen.Equal(seen) {
		f.Errorf("Seen moved from %v to %v before anything was finished", seen, s.Seen)
	}
}

func testObserveEvents(f *fixture) {
	l := f.made()
	for i := range 100 {
		f.observe(store.Observation{Link: l.ID, Event: fmt.Appendf(nil, "e%d\x00,;", i)})
	}
	c := f.claim(l)
	n := len(c.Events)
	if n < 16 || n > 64 {
		f.Fatalf("%d events are kept of 100", n)
	}
	for i, e := range c.Events {
		if want := fmt.Sprintf("e%d\x00,;", 100-n+i); string(e) != want {
			f.Errorf("event %d = %q, want %q: the newest, oldest first", i, e, want)
		}
	}
}

// testObserveOwn: the events of our own account displace only each other.
func testObserveOwn(f *fixture) {
	l := f.made()
	f.observe(store.Observation{Link: l.ID, Event: []byte("first")})
	for i := range 100 {
		f.observe(store.Observation{Link: l.ID, Event: fmt.Appendf(nil, "own %d", i), Own: true})
	}
	f.observe(store.Observation{Link: l.ID, Event: []byte("last")})
	c := f.claim(l)
	n := len(c.Events)
	if n < 2+16 || n > 2+64 || string(c.Events[0]) != "first" || string(c.Events[1]) != "last" || string(c.Events[n-1]) != "own 99" {
		f.Fatalf("%d events: %.60q", n, c.Events)
	}
	f.observe(store.Observation{Link: l.ID, Event: []byte("own late"), Own: true})
	f.finish(c, store.Outcome{})
	if c = f.claim(l); len(c.Events) != 1 || string(c.Events[0]) != "own late" {
		f.Errorf("events that came while the key was worked: %q", c.Events)
	}
	f.finish(c, store.Outcome{})
	f.observe(store.Observation{Link: l.ID})
	if c = f.claim(l); len(c.Events) != 0 {
		f.Errorf("events that were dealt with: %q", c.Events)
	}
}

func testObserveDelivery(f *fixture) {
	l := f.made()
	o := showing(l, 5, "five")
	o.Delivery, o.Event = "hook/guid", []byte("e")
	if s := f.observe(o)[0]; s.Duplicate || !s.Stored {
		f.Errorf("first delivery = %+v", s)
	}
	f.finish(f.claim(l), store.Outcome{})
	f.nothingDue()

	if s := f.observe(o)[0]; !s.Duplicate || s.Stored || s.Key != f.key(l) {
		f.Errorf("doubled delivery = %+v", s)
	}
	c := f.claim(l) // due, but nothing stored anew
	if len(c.Inbox) != 0 || len(c.Events) != 0 {
		f.Errorf("a doubled delivery stored %v, %v", c.Inbox, c.Events)
	}
	f.observe(o)
	f.finish(c, store.Outcome{})
	f.claim(l) // also after a duplicate while the key was worked

	// One delivery may show several items.
	sub := o
	sub.Item = "issue:99"
	if s := f.observe(sub)[0]; s.Duplicate || !s.Stored {
		f.Errorf("the same delivery of another item = %+v", s)
	}
	// A duplicate delivery makes no link.
	other := f.newLink()
	o.Refs, o.Create = nil, other
	if s := f.observe(o)[0]; s.Created || s.Key != (store.Key{}) {
		f.Errorf("a doubled delivery made a link: %+v", s)
	}
}

func testDeliveryAge(f *fixture) {
	l := f.made()
	o := store.Observation{Link: l.ID, Delivery: "old"}
	f.observe(o)
	f.Opened.Advance(4*24*time.Hour - time.Hour)
	if s := f.observe(o)[0]; !s.Duplicate {
		f.Error("a delivery was forgotten before four days")
	}
	f.Opened.Advance(2 * time.Hour)
	if s := f.observe(o)[0]; s.Duplicate {
		f.Error("a delivery is remembered after four days")
	}
	if s := f.observe(o)[0]; !s.Duplicate {
		f.Error("a delivery that came again after four days is not remembered anew")
	}
}

// testDeliveryRenewed: a delivery that came again after it was forgotten is remembered as long as a
// new one. The old ones are removed meanwhile.
func testDeliveryRenewed(f *fixture) {
	l := f.made()
	deliver := func(n int) bool {
		f.Helper()
		return f.observe(store.Observation{Link: l.ID, Delivery: fmt.Sprint("renewed", n)})[0].Duplicate
	}
	for n := range 8 {
		deliver(n)
		f.Opened.Advance(time.Minute)
	}
	f.Opened.Advance(5 * 24 * time.Hour)
	if deliver(7) {
		f.Error("a delivery is remembered after five days")
	}
	for n := range 4 { // clears away the rest
		deliver(100 + n)
	}
	if !deliver(7) {
		f.Error("a delivery of a moment ago was forgotten")
	}
}

func testObserveDelay(f *fixture) {
	l := f.newLink()
	o := creating(l)
	o.Delay = 10 * time.Minute
	f.observe(o)
	if m := f.nothingDue(); m != 10 {
		f.Errorf("next key due in %d minutes, want 10", m)
	}
	o.Delay = 30 * time.Minute
	f.observe(o)
	if m := f.nothingDue(); m != 10 {
		f.Errorf("a longer delay moved the key to %d minutes", m)
	}
	f.Opened.Advance(10 * time.Minute)
	f.finish(f.claim(l), store.Outcome{})
	f.observe(o)
	o.Delay = 0
	f.observe(o)
	f.claim(l)
}

func testObserveBulk(f *fixture) {
	bulk, both, live := f.newLink(), f.newLink(), f.newLink()
	for _, l := range []*mapping.Link{bulk, both} {
		o := creating(l)
		o.Bulk = true
		f.observe(o)
	}
	f.Opened.Advance(time.Minute)
	f.observe(creating(live))
	f.Opened.Advance(time.Minute)
	f.observe(creating(both)) // a live change lifts a bulk key
	o := creating(live)
	o.Bulk = true
	f.observe(o) // and bulk work does not push a live key back
	if d := f.depth(); d.Live != 2 || d.Bulk != 1 {
		f.Errorf("Depth = %+v", d)
	}
	f.claim(both) // due longest among the live ones
	f.claim(live)
	f.claim(bulk)
	f.nothingDue()
}

func testObserveNonsense(f *fixture) {
	foreign := f.newLink()
	foreign.Project = "elsewhere"
	for name, o := range map[string]store.Observation{
		"link of another project": creating(foreign),
		"link without id":         {Create: &mapping.Link{Project: f.project}},
		"data for no item":        {Data: []byte("x")},
	} {
		if _, err := f.Observe(f.ctx, f.project, []store.Observation{o}); err == nil {
			f.Errorf("%s: taken", name)
		}
	}
	if seen, err := f.Observe(f.ctx, f.project, nil); err != nil || len(seen) != 0 {
		f.Errorf("Observe of nothing = %v, %v", seen, err)
	}
}

func testObserveOrder(f *fixture) {
	var obs []store.Observation
	var links []*mapping.Link
	for range 300 {
		l := f.newLink()
		links = append(links, l)
		o := showing(l, 1, "one")
		o.Create = l
		obs = append(obs, o)
	}
	for i, s := range f.observe(obs...) {
		if s.Key != f.key(links[i]) || !s.Created || !s.Stored {
			f.Fatalf("result %d = %+v", i, s)
		}
	}
	if d := f.depth(); d.Live != 300 {
		f.Errorf("Depth = %+v", d)
	}
}

// testFull runs on a store whose queue takes three keys.
func testFull(f *fixture) {
	first := f.newLink()
	f.observe(creating(first))
	parked := f.newLink()
	o := creating(parked)
	o.Delay = time.Minute
	f.observe(o, creating(f.newLink()))

	over := f.newLink()
	o = showing(over, 1, "one")
	o.Create, o.Delivery = over, "guid"
	seen, err := f.Observe(f.ctx, f.project, []store.Observation{o, showing(first, 2, "two")})
	f.no("Observe", err)
	f.wantErr("a key over the bound", seen[0].Err, store.ErrFull)
	if seen[1].Err != nil || !seen[1].Stored {
		f.Errorf("a key that is queued already: %+v", seen[1])
	}
	f.found(mapping.IssueRef(over.Issue.ID), nil)

	c := f.claim(first)
	f.observe(showing(first, 3, "three")) // so is one that is leased
	f.finish(c, store.Outcome{Kind: store.Wait, Service: "github"})
	seen, err = f.Observe(f.ctx, f.project, []store.Observation{o})
	f.no("Observe", err)
	f.wantErr("while a key waits for a service", seen[0].Err, store.ErrFull)

	c, err = f.ClaimKey(f.ctx, f.key(parked), ttl)
	f.no("ClaimKey", err)
	f.finish(c, store.Outcome{Kind: store.Park})
	if s := f.observe(o)[0]; !s.Created || s.Duplicate {
		f.Errorf("once there is room: %+v", s)
	}
	f.wantErr("Enqueue of a parked key", f.Enqueue(f.ctx, f.key(parked), 0, false), store.ErrFull)
	f.no("Enqueue of a queued key", f.Enqueue(f.ctx, f.key(over), 0, false))
}
