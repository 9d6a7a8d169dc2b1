package storetest

import (
	"strings"
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

// wantInbox demands the content of a claim.
func (f *fixture) wantInbox(c *store.Claim, digest string, events int) {
	f.Helper()
	var got strings.Builder
	for _, s := range c.Inbox {
		got.WriteString(s.Digest)
	}
	if got.String() != digest || len(c.Events) != events {
		f.Errorf("claim of %s carries snapshots %q and %d events, want %q and %d", c.Key, got.String(), len(c.Events), digest, events)
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

	// The same item in a newer snapshot, in an equal one, and in one with another digest and back.
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

// testRetryChanged: a change without a delay makes its key due now, even just before the Retry or
// Again is stored.
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

// testErase: only the key's link and the entry of the erasure are left.
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
