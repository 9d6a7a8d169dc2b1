package storetest

import (
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

var finishTests = map[string]func(*fixture){
	"DoneConsumes":             testDone,
	"DoneKeepsWhatCameLater":   testDoneChanged,
	"DoneForgetsAttempts":      testDoneAttempts,
	"TwiceIsHarmless":          testFinishTwice,
	"RetrySpendsAnAttempt":     testRetry,
	"AgainSpendsNone":          testAgain,
	"AChangeShortensARetry":    testRetryChanged,
	"ParkGivesUp":              testPark,
	"HoldOutlastsChanges":      testHold,
	"ParkedIsTakenUpByAChange": testParkChanged,
	"ParkedByNothingElse":      testParkNothingNew,
	"EraseForgetsHistory":      testErase,
	"RemoveDeletes":            testRemove,
	"RemoveGivesWayToAChange":  testRemoveChanged,
	"StoresLinkAndHistory":     testFinishStores,
	"BulkStaysBulk":            testBulkStays,
	"DoneMayBeLookedAtAgain":   testDoneAfter,
	"GoesOnWithTheNextKey":     testFinishAndClaim,
	"GoesOnOnlyWhereItEnded":   testFinishAndClaimLost,
}

// worked returns a new link with a snapshot and an event, and its claim.
func (f *fixture) worked() (*mapping.Link, *store.Claim) {
	f.Helper()
	l := f.newLink()
	o := showing(l, 1, "one")
	o.Create, o.Event = l, []byte("event")
	f.observe(o)
	return l, f.claim(l)
}

// wantInbox demands what a claim carries.
func (f *fixture) wantInbox(c *store.Claim, digest string, events int) {
	f.Helper()
	got := ""
	for _, s := range c.Inbox {
		got += s.Digest
	}
	if got != digest || len(c.Events) != events {
		f.Errorf("claim of %s carries snapshots %q and %d events, want %q and %d", c.Key, got, len(c.Events), digest, events)
	}
}

func testDone(f *fixture) {
	l, c := f.worked()
	f.wantInbox(c, "one", 1)
	f.finish(c, store.Outcome{})
	if m := f.nothingDue(); m != 0 {
		f.Errorf("a key that is done is due in %d minutes", m)
	}
	f.wantErr("Check", f.Check(f.ctx, c), store.ErrLeaseLost)
	f.wantErr("Save", f.Save(f.ctx, c, l), store.ErrLeaseLost)
	c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
	f.no("ClaimKey", err)
	f.wantInbox(c, "", 0)
}

func testDoneChanged(f *fixture) {
	l, c := f.worked()
	other := store.Observation{Link: l.ID, Item: "card:c", At: 1, Digest: "card", Data: []byte("x"), Event: []byte("late")}
	f.observe(other)
	f.finish(c, store.Outcome{})
	c = f.claim(l) // at once
	f.wantInbox(c, "card", 1)
	if string(c.Events[0]) != "late" {
		f.Errorf("event = %q", c.Events[0])
	}

	// The same item in a newer look, in an equal look, and in one that flips
	// to another digest and back.
	f.finish(c, store.Outcome{})
	f.observe(showing(l, 5, "five"))
	c = f.claim(l)
	f.observe(showing(l, 6, "six"))
	f.finish(c, store.Outcome{})
	c = f.claim(l)
	f.wantInbox(c, "six", 0)
	f.observe(showing(l, 6, "six"))
	f.finish(c, store.Outcome{})
	c = f.claim(l)
	f.wantInbox(c, "", 0)
	f.finish(c, store.Outcome{})
	f.observe(showing(l, 7, "a"))
	c = f.claim(l)
	f.observe(showing(l, 7, "b"), showing(l, 7, "a"))
	f.finish(c, store.Outcome{})
	c = f.claim(l)
	f.wantInbox(c, "a", 0)
	if !c.Inbox[mapping.IssueRef(l.Issue.ID)].Ambiguous {
		f.Error("a look that flipped under a claim is not ambiguous")
	}
	f.finish(c, store.Outcome{})
	f.nothingDue()
}

func testDoneAttempts(f *fixture) {
	l, c := f.worked()
	f.finish(c, store.Outcome{Kind: store.Retry})
	c = f.claim(l)
	if c.Attempts != 1 {
		f.Errorf("Attempts = %d, want 1", c.Attempts)
	}
	f.finish(c, store.Outcome{})
	f.observe(creating(l))
	if c = f.claim(l); c.Attempts != 0 {
		f.Errorf("Attempts after a success = %d", c.Attempts)
	}
}

func testFinishTwice(f *fixture) {
	l, c := f.worked()
	retry := store.Outcome{Kind: store.Retry, After: time.Minute}
	f.finish(c, retry)
	f.finish(c, retry) // its answer was lost
	f.Opened.Advance(time.Minute)
	c = f.claim(l)
	if c.Attempts != 1 {
		f.Errorf("Attempts = %d after one retry that was sent twice", c.Attempts)
	}
	f.finish(c, store.Outcome{Kind: store.Remove})
	f.finish(c, store.Outcome{Kind: store.Remove})
}

func testRetry(f *fixture) {
	l, c := f.worked()
	for n := range 3 {
		if c.Attempts != n {
			f.Errorf("Attempts = %d, want %d", c.Attempts, n)
		}
		f.wantInbox(c, "one", 1)
		f.finish(c, store.Outcome{Kind: store.Retry, After: 3 * time.Minute})
		if m := f.nothingDue(); m != 3 {
			f.Errorf("due in %d minutes, want 3", m)
		}
		f.Opened.Advance(3 * time.Minute)
		c = f.claim(l)
	}
}

func testAgain(f *fixture) {
	l, c := f.worked()
	f.finish(c, store.Outcome{Kind: store.Retry})
	f.finish(f.claim(l), store.Outcome{Kind: store.Again, After: 3 * time.Minute})
	if m := f.nothingDue(); m != 3 {
		f.Errorf("due in %d minutes, want 3", m)
	}
	f.Opened.Advance(3 * time.Minute)
	c = f.claim(l)
	f.wantInbox(c, "one", 1)
	if c.Attempts != 1 {
		f.Errorf("Attempts = %d, want 1", c.Attempts)
	}
}

// A delay-less change makes its key due now; that it came just before the
// Retry or Again was stored makes no difference.
func testRetryChanged(f *fixture) {
	for _, kind := range []store.OutcomeKind{store.Retry, store.Again} {
		l, c := f.worked()
		f.observe(showing(l, 2, "two"))
		f.finish(c, store.Outcome{Kind: kind, After: time.Hour})
		c = f.claim(l)
		f.wantInbox(c, "two", 1)
		f.finish(c, store.Outcome{Kind: kind, After: time.Hour})
		f.nothingDue()
		f.observe(showing(l, 3, "three"))
		f.finish(f.claim(l), store.Outcome{})
	}
}

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

// testParkNothingNew: a look that shows what is known already takes no key up, whether
// it comes while that is given up or after.
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

func testRemove(f *fixture) {
	l := f.newLink()
	l.Card.ID = mapping.ObjectID(mapping.NewID())
	o := showing(l, 1, "one")
	o.Create, o.Event = l, []byte("event")
	f.observe(o)
	c := f.claim(l)
	f.no("Finish", f.Finish(f.ctx, c, l, []mapping.Entry{{What: "remove"}}, store.Outcome{Kind: store.Remove}))
	for _, ref := range l.Refs() {
		f.found(ref, nil)
	}
	_, err := f.Link(f.ctx, f.key(l))
	f.wantErr("Link", err, store.ErrNotFound)
	links, _, err := f.List(f.ctx, f.project, "", 10)
	if err != nil || len(links) != 0 {
		f.Errorf("List = %v, %v", links, err)
	}
	if d := f.depth(); d.Live != 0 {
		f.Errorf("Depth = %+v", d)
	}
	f.wantErr("Check", f.Check(f.ctx, c), store.ErrLeaseLost)
	f.wantErr("Save", f.Save(f.ctx, c, l), store.ErrLeaseLost)
	f.wantErr("Finish as Done", f.Finish(f.ctx, c, l, nil, store.Outcome{}), store.ErrLeaseLost)

	// The issue may come back, as a new link.
	again := *l
	again.ID = mapping.LinkID(mapping.NewID())
	f.observe(creating(&again))
	f.wantInbox(f.claim(&again), "", 0)
}

// testErase: nothing that was known of the key is left but its link and what the
// erasing itself says.
func testErase(f *fixture) {
	for _, said := range [][]mapping.Entry{{{What: "erased"}}, nil} {
		l, c := f.worked()
		f.no("Finish", f.Finish(f.ctx, c, l, []mapping.Entry{{What: "write", Why: "words"}}, store.Outcome{Kind: store.Park, Reason: "words"}))
		c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
		f.no("ClaimKey", err)
		f.no("erase", l.Erase())
		f.no("Finish", f.Finish(f.ctx, c, l, said, store.Outcome{Kind: store.Erase}))
		history, err := f.History(f.ctx, f.key(l), 10)
		f.no("History", err)
		if len(history) != len(said) {
			f.Errorf("history after erasing: %+v, want %+v", history, said)
		}
		failures, err := f.Failures(f.ctx, f.project, 10)
		f.no("Failures", err)
		c, claimErr := f.ClaimKey(f.ctx, f.key(l), ttl)
		f.no("ClaimKey", claimErr)
		f.wantInbox(c, "", 0)
		if got := c.Link.State; got != mapping.Erased || len(failures) != 0 {
			f.Errorf("state %q and %d failures, want erased and none", got, len(failures))
		}
		f.no("Scrub", f.Scrub(f.ctx))
		if _, err := f.Link(f.ctx, f.key(l)); err != nil {
			f.Errorf("the link after scrubbing: %v", err)
		}
	}
}

func testRemoveChanged(f *fixture) {
	l, c := f.worked()
	f.observe(showing(l, 2, "two"))
	f.finish(c, store.Outcome{Kind: store.Remove})
	f.found(mapping.IssueRef(l.Issue.ID), l)
	c = f.claim(l)
	f.wantInbox(c, "two", 1)
	f.finish(c, store.Outcome{Kind: store.Remove})
	f.found(mapping.IssueRef(l.Issue.ID), nil)
}

func testFinishStores(f *fixture) {
	l, c := f.worked()
	l.State, l.Card.ID = mapping.Linked, "cardF"
	entries := []mapping.Entry{{What: "create", Why: "first"}, {What: "write", Why: "second"}}
	f.no("Finish", f.Finish(f.ctx, c, l, entries, store.Outcome{Kind: store.Again}))
	got, err := f.Link(f.ctx, f.key(l))
	if err != nil || got.State != mapping.Linked {
		f.Errorf("Link = %+v, %v", got, err)
	}
	f.found("card:cardF", l)
	h, err := f.History(f.ctx, f.key(l), 10)
	if err != nil || len(h) != 2 || h[0].Why != "second" {
		f.Errorf("History = %+v, %v", h, err)
	}
	f.finish(f.claim(l), store.Outcome{}) // link nil: unchanged
	if got, err = f.Link(f.ctx, f.key(l)); err != nil || got.State != mapping.Linked {
		f.Errorf("Link = %+v, %v", got, err)
	}
}

func testBulkStays(f *fixture) {
	l := f.newLink()
	o := creating(l)
	o.Bulk = true
	f.observe(o)
	f.finish(f.claim(l), store.Outcome{Kind: store.Retry})
	if d := f.depth(); d.Bulk != 1 || d.Live != 0 || d.Due != 1 {
		f.Errorf("Depth after a retry = %+v", d)
	}
	c := f.claim(l)
	if d := f.depth(); d.Bulk != 1 || d.Due != 0 {
		f.Errorf("Depth while it is worked = %+v", d)
	}
	f.observe(creating(l)) // a live change under the claim
	f.finish(c, store.Outcome{})
	if d := f.depth(); d.Bulk != 0 || d.Live != 1 {
		f.Errorf("Depth after a live change = %+v", d)
	}
	f.finish(f.claim(l), store.Outcome{})
	f.observe(o)
	if d := f.depth(); d.Bulk != 1 || d.Live != 0 {
		f.Errorf("Depth of a new bulk change = %+v", d)
	}
}

func testDoneAfter(f *fixture) {
	l, c := f.worked()
	f.finish(c, store.Outcome{After: 5 * time.Minute})
	if m := f.nothingDue(); m != 5 {
		f.Errorf("due in %d minutes, want 5", m)
	}
	f.Opened.Advance(5 * time.Minute)
	c = f.claim(l)
	f.wantInbox(c, "", 0)
	f.observe(showing(l, 2, "two")) // a change comes before it
	f.finish(c, store.Outcome{After: 5 * time.Minute})
	f.wantInbox(f.claim(l), "two", 0)
}

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

// Where a claim could not be ended, nothing is leased; where it had been ended
// already, because the answer to that was lost, the next key is.
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
