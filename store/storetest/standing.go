package storetest

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/store"
)

var standingTests = map[string]func(*fixture){
	"SaysWhyAndUntilWhen":    testStanding,
	"AChangeEndsTheReason":   testStandingChanged,
	"DelayedHasAReason":      testStandingDelayed,
	"ListsWhatIsNotDue":      testStandings,
	"LongReasonsAreCut":      testLongReason,
	"WokenNeedsNoReasonOnce": testStandingWoken,
	"WaitsSinceThen":         testStandingSince,
}

func (f *fixture) standing(l *mapping.Link) store.Standing {
	f.Helper()
	at, err := f.Standing(f.ctx, f.key(l))
	f.no("Standing", err)
	if at.Key != f.key(l) || at.Where != "acme/web#"+strings.TrimLeft(string(l.ID)[:8], "0") || at.Route != l.Route {
		f.Errorf("Standing names %+v, want %s", at, l.ID)
	}
	return at
}

// wantStanding demands a key's state and reason, and in how many minutes its time is.
func (f *fixture) wantStanding(l *mapping.Link, state store.KeyState, in int, reason string) {
	f.Helper()
	// Times are those of the store's clock, by which a lease that begins now begins now.
	probe := f.made()
	c, err := f.ClaimKey(f.ctx, f.key(probe), time.Minute)
	f.no("ClaimKey", err)
	now := f.standing(probe).At.Add(-time.Minute)
	f.finish(c, store.Outcome{})
	at := f.standing(l)
	if at.State != state || at.Reason != reason || state != store.KeyResting && minutes(at.At.Sub(now)) != in {
		f.Errorf("Standing = %+v (in %s), want %s in %d minutes: %q", at, at.At.Sub(now), state, in, reason)
	}
}

func testStanding(f *fixture) {
	_, err := f.Standing(f.ctx, store.Key{Project: f.project, Link: "none"})
	f.wantErr("Standing", err, store.ErrNotFound)
	l := f.newLink()
	f.observe(creating(l))
	f.wantStanding(l, store.KeyDue, 0, "")
	c := f.claim(l)
	f.wantStanding(l, store.KeyWorked, 10, "")
	for _, kind := range []store.OutcomeKind{store.Retry, store.Again, store.Done} {
		f.finish(c, store.Outcome{Kind: kind, After: 5 * time.Minute, Reason: "it is late"})
		f.wantStanding(l, store.KeyLater, 5, "it is late")
		f.Opened.Advance(5 * time.Minute)
		f.wantStanding(l, store.KeyDue, 0, "")
		c = f.claim(l)
	}
	f.finish(c, store.Outcome{Kind: store.Wait, Service: "github", Reason: "it is away"})
	f.Opened.Advance(3 * time.Minute)
	f.wantStanding(l, store.KeyWaiting, -3, "it is away")
	if at := f.standing(l); at.Service != "github" {
		f.Errorf("it waits for %q", at.Service)
	}
	f.wake("github", 0, 1)
	c = f.claim(l)
	f.finish(c, store.Outcome{Kind: store.Park, Reason: "it is no use"})
	f.Opened.Advance(3 * time.Minute)
	f.wantStanding(l, store.KeyParked, -3, "it is no use")
	f.no("Enqueue", f.Enqueue(f.ctx, f.key(l), 0, false))
	f.finish(f.claim(l), store.Outcome{})
	f.wantStanding(l, store.KeyResting, 0, "")
}

// testStandingSince: the beginning of a key's wait is known also without a reason.
func testStandingSince(f *fixture) {
	l := f.newLink()
	f.observe(creating(l))
	f.finish(f.claim(l), store.Outcome{Kind: store.Wait, Service: "github"})
	f.Opened.Advance(3 * time.Minute)
	f.wantStanding(l, store.KeyWaiting, -3, "it waits for github")
}

const noted = "it was seen or taken up a moment ago: what belongs to it may follow, or others go first"

func testStandingChanged(f *fixture) {
	l, c := f.worked()
	f.finish(c, store.Outcome{Kind: store.Again, After: 8 * time.Minute, Reason: "it is late"})
	f.no("Enqueue", f.Enqueue(f.ctx, f.key(l), 9*time.Minute, false))
	f.wantStanding(l, store.KeyLater, 8, "it is late")
	f.no("Enqueue", f.Enqueue(f.ctx, f.key(l), 3*time.Minute, false))
	f.wantStanding(l, store.KeyLater, 3, noted)
	f.observe(creating(l))
	f.wantStanding(l, store.KeyDue, 0, "")

	c = f.claim(l)
	o := creating(l)
	o.Delay = 2 * time.Minute
	f.observe(o)
	f.finish(c, store.Outcome{Kind: store.Retry, After: 8 * time.Minute, Reason: "it is late"})
	f.wantStanding(l, store.KeyLater, 2, noted)
	f.Opened.Advance(2 * time.Minute)
	c = f.claim(l)
	f.observe(o)
	f.finish(c, store.Outcome{Kind: store.Retry, After: time.Minute, Reason: "it is late"})
	f.wantStanding(l, store.KeyLater, 1, "it is late")
}

func testStandingDelayed(f *fixture) {
	l := f.newLink()
	o := creating(l)
	o.Delay = 2 * time.Minute
	f.observe(o)
	f.wantStanding(l, store.KeyLater, 2, noted)
}

func testStandingWoken(f *fixture) {
	f.waits("github", false)
	l := f.waits("github", true)
	f.wake("github", 1./60, 2) // one a minute
	f.wantStanding(l, store.KeyLater, 1, noted)
}

func testStandings(f *fixture) {
	var want []mapping.LinkID
	g, p := f.waits("github", false), f.waits("planning:web", true)
	want = append(want, g.ID, p.ID)
	l, c := f.worked()
	f.finish(c, store.Outcome{Kind: store.Again, After: 5 * time.Minute, Reason: "it is late"})
	bulk := f.newLink()
	o := creating(bulk)
	o.Bulk = true
	f.observe(o)
	f.finish(f.claim(bulk), store.Outcome{Kind: store.Done, After: 4 * time.Minute, Reason: "it is bulky"})
	worked, _ := f.worked()                       // for 10 minutes
	want = append(want, worked.ID, l.ID, bulk.ID) // latest first, so that the earliest waits longest
	f.made()
	due := f.newLink()
	f.observe(creating(due))
	all, err := f.Queued(f.ctx, f.project, 100)
	if last := len(all) - 1; err != nil || last != len(want) || all[last].Key.Link != due.ID || all[last].State != store.KeyDue {
		f.Errorf("Queued = %+v, %v, want %v and the key %s that is due", all, err, want, due.ID)
	}
	for _, limit := range []int{0, 1, 3, 5, 100} {
		all, err := f.Standings(f.ctx, f.project, limit)
		f.no("Standings", err)
		if len(all) != min(limit, len(want)) {
			f.Fatalf("Standings of %d = %+v", limit, all)
		}
		for i, at := range all {
			if at.Key.Link != want[i] || at.State != store.KeyWorked && at.Reason == "" || at.Where == "" || at.Route != "web" {
				f.Errorf("standing %d of %d = %+v, want that of %s", i, limit, at, want[i])
			}
		}
	}
}

func testLongReason(f *fixture) {
	l, c := f.worked()
	f.finish(c, store.Outcome{Kind: store.Again, After: time.Minute, Reason: strings.Repeat("no ", 1000)})
	if n := len(f.standing(l).Reason); n < 900 || n > 1100 {
		f.Errorf("a long reason has %d bytes", n)
	}
}

// testDumpReasons: a dump carries the reason for a key's wait into another store.
func testDumpReasons(f, into *fixture) {
	waits := f.waits("github", false)
	later, c := f.worked()
	f.finish(c, store.Outcome{Kind: store.Again, After: 50 * time.Minute, Reason: "it is late"})
	f.no("Load", into.Load(f.ctx, entries(f.dump()), false))
	into.links = f.links
	into.wantStanding(waits, store.KeyWaiting, 0, "down")
	into.wantStanding(later, store.KeyLater, 50, "it is late")
}

// checkStandings compares the states of the keys.
func (m *machine) checkStandings(rt *rapid.T) {
	listed := map[mapping.LinkID]store.Standing{}
	all, err := m.o.Store.Standings(m.t.Context(), m.project, 100)
	if err != nil {
		rt.Fatal(err)
	}
	for _, at := range all {
		listed[at.Key.Link] = at
	}
	for _, k := range m.keys {
		state, why := m.stands(k)
		at, err := m.o.Store.Standing(m.t.Context(), m.key(k.id))
		if err != nil || at.State != state || at.Reason != why && !k.tied || state == store.KeyLater && at.Reason == "" ||
			at.Service != k.waits || at.Attempts != k.attempts+k.abandoned {
			rt.Fatalf("Standing = %+v, %v, want %s, %q of %+v", at, err, state, why, k)
		}
		want := state == store.KeyLater || state == store.KeyWaiting || state == store.KeyWorked
		if in, ok := listed[k.id]; ok != want || ok && in.State != state {
			rt.Fatalf("Standings show %+v, want %+v", in, k)
		}
	}
}

func (m *machine) stands(k *modelKey) (store.KeyState, string) {
	switch {
	case m.leased(k):
		return store.KeyWorked, ""
	case k.waits != "":
		return store.KeyWaiting, k.reason
	case k.parked:
		return store.KeyParked, k.reason
	case k.due == never:
		return store.KeyResting, ""
	case k.due <= m.now:
		return store.KeyDue, ""
	case k.reason == "":
		return store.KeyLater, noted
	}
	return store.KeyLater, k.reason
}
