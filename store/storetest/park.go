package storetest

import (
	"time"

	"planbridge/store"
)

func testPark(f *fixture) {
	l, c := f.worked()
	f.finish(c, store.Outcome{Kind: store.Retry})
	f.finish(f.claim(l), store.Outcome{Kind: store.Park, Reason: "planning: rejected: no"})
	f.Opened.Advance(time.Minute)
	second, c := f.worked()
	f.finish(c, store.Outcome{Kind: store.Park, Reason: "second"})
	f.nothingDue()
	fs := f.failures()
	if len(fs) != 2 || fs[0].Key != f.key(l) || fs[1].Key != f.key(second) {
		f.Fatalf("Failures = %+v, want oldest first", fs)
	}
	// Two attempts: one retried, and the one that gave up.
	if fs[0].Route != l.Route || fs[0].Where != "acme/web#1" || fs[0].Reason != "planning: rejected: no" || fs[0].Attempts != 2 {
		f.Errorf("failure = %+v", fs[0])
	}
	if age := fs[1].At.Sub(fs[0].At); minutes(age) != 1 {
		f.Errorf("the failures are %v apart, want a minute", age)
	}
	if fs, err := f.Failures(f.ctx, f.project, 1); err != nil || len(fs) != 1 {
		f.Errorf("Failures of 1 = %v, %v", fs, err)
	}
	if d := f.depth(); d.Failures != 2 || d.Live != 0 {
		f.Errorf("Depth = %+v", d)
	}
}

func testParkChanged(f *fixture) {
	l, c := f.worked()
	f.finish(c, store.Outcome{Kind: store.Retry})
	f.finish(f.claim(l), store.Outcome{Kind: store.Park})
	f.observe(showing(l, 2, "two"))
	if fs := f.failures(); len(fs) != 0 {
		f.Errorf("Failures after a change = %v", fs)
	}
	c = f.claim(l)
	f.wantInbox(c, "two", 1)
	if c.Attempts != 0 {
		f.Errorf("Attempts = %d, want them forgotten", c.Attempts)
	}

	f.observe(showing(l, 3, "three")) // the change came while it was given up
	f.finish(c, store.Outcome{Kind: store.Park})
	if fs := f.failures(); len(fs) != 0 {
		f.Errorf("Failures = %v, want the change to keep the key in the queue", fs)
	}
	if c = f.claim(l); c.Attempts != 0 {
		f.Errorf("Attempts = %d, want them forgotten", c.Attempts)
	}
}

// testParkNothingNew: an observation without news takes no key up, whether it comes while the key
// is given up or afterwards.
func testParkNothingNew(f *fixture) {
	l, c := f.worked()
	f.observe(showing(l, 2, "two"))
	f.finish(c, store.Outcome{Kind: store.Again})
	c = f.claim(l)
	again := showing(l, 2, "two")
	again.Delivery = "guid"
	look := func(o store.Observation, stored bool) {
		f.Helper()
		if seen := f.observe(o); seen[0].Stored != stored || seen[0].Duplicate || seen[0].Key != f.key(l) {
			f.Errorf("Observe of %s = %+v, want Stored %v", o.Digest, seen[0], stored)
		}
	}
	look(again, true)
	f.finish(c, store.Outcome{Kind: store.Park})
	look(showing(l, 2, "two"), true)
	look(showing(l, 1, "one"), false)
	f.nothingDue()
	if fs := f.failures(); len(fs) != 1 {
		f.Errorf("Failures = %v", fs)
	}
	if seen := f.observe(again); !seen[0].Duplicate {
		f.Error("the delivery was forgotten")
	}
	f.finish(f.claim(l), store.Outcome{Kind: store.Park})

	event := showing(l, 2, "two")
	event.Event = []byte("event")
	for _, o := range []store.Observation{showing(l, 2, "another"), event, {Refs: event.Refs}} {
		f.observe(o)
		f.finish(f.claim(l), store.Outcome{Kind: store.Park})
	}
}

// testHold: only Enqueue takes up a key that is held, whenever a change comes.
func testHold(f *fixture) {
	l, c := f.worked()
	f.observe(showing(l, 2, "two")) // while it is worked
	f.finish(c, store.Outcome{Kind: store.Hold, Reason: "a loop"})
	f.nothingDue()
	f.observe(showing(l, 3, "three"))
	f.nothingDue()
	if fs := f.failures(); len(fs) != 1 || fs[0].Key != f.key(l) || fs[0].Reason != "a loop" || fs[0].Attempts != 1 {
		f.Errorf("Failures of a held key after changes = %+v", fs)
	}
	if d := f.depth(); d.Failures != 1 || d.Live != 0 {
		f.Errorf("Depth = %+v", d)
	}
	if err := f.Enqueue(f.ctx, f.key(l), 0, false); err != nil {
		f.Fatal(err)
	}
	c = f.claim(l)
	f.wantInbox(c, "three", 1)
	if fs := f.failures(); len(fs) != 0 || c.Attempts != 0 {
		f.Errorf("after Enqueue: failures %v, %d attempts", fs, c.Attempts)
	}
	f.finish(c, store.Outcome{Kind: store.Park, Reason: "parked"}) // held no more
	f.observe(showing(l, 4, "four"))
	f.finish(f.claim(l), store.Outcome{})
}
