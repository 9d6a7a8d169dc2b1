package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// sessionTests each have a store of their own: a session belongs to no project.
var sessionTests = map[string]func(*sessions){
	"EndsItsLeases":             testSessionFalls,
	"LastsWhileItIsHeardOf":     testSessionLasts,
	"IsNamedToOneAtATime":       testSessionNamedOnce,
	"DoesNotComeBack":           testSessionStaysFallen,
	"OthersKeepTheirOwnTime":    testSessionOthers,
	"EndsClaimsOnly":            testSessionEnded,
	"EndsManyLeases":            testSessionMany,
	"ChangesCome":               testSessionChanged,
	"EndsLeasesOfWhatIsClaimed": testSessionAgain,
	"EndsNamedLeases":           testSessionNamed,
}

// lasts is how long a session of these tests lasts.
const lasts = 4 * time.Minute

// sessions is a fixture with another process on the same store.
type sessions struct {
	*fixture
	other store.Store
}

func runSessions(t *testing.T, open Open) {
	t.Run("Alone", func(t *testing.T) {
		if o := open(t, 0); o.Second == nil {
			testSessionAlone(newFixture(t, o))
		}
	})
	for name, test := range sessionTests {
		t.Run(name, func(t *testing.T) {
			o := open(t, 0)
			if o.Second == nil {
				t.Skip("one process has the store")
			}
			f := newFixture(t, o)
			test(&sessions{f, o.Second(t)})
		})
	}
}

// beats sends a heartbeat of a session and demands which sessions fell.
func (f *sessions) beats(s store.Store, id store.Session, want ...store.Session) {
	f.Helper()
	fallen, err := s.Heartbeat(f.ctx, id, lasts)
	slices.Sort(fallen)
	if err != nil || !slices.Equal(fallen, want) {
		f.Fatalf("Heartbeat of %s = %q, %v, want %q", id, fallen, err, want)
	}
}

func (f *sessions) ends(want int, over ...store.Session) {
	f.Helper()
	if keys, err := f.other.EndSessions(f.ctx, over); err != nil || keys != want {
		f.Fatalf("EndSessions of %q = %d, %v, want %d", over, keys, err, want)
	}
}

// held returns a key that session a has claimed.
func (f *sessions) held() (*mapping.Link, *store.Claim) {
	f.Helper()
	l := f.newLink()
	f.observe(creating(l))
	c := f.claim(l)
	if c.Session != "a" {
		f.Errorf("claim of session %q, want a", c.Session)
	}
	return l, c
}

// testSessionAlone: where one process alone has the store, no session falls, and the leases keep
// their own time.
func testSessionAlone(f *fixture) {
	_, err := f.Heartbeat(f.ctx, "a", lasts)
	f.no("Heartbeat", err)
	l := f.newLink()
	f.observe(creating(l))
	c := f.claim(l)
	f.Opened.Advance(lasts)
	if fallen, err := f.Heartbeat(f.ctx, "b", lasts); err != nil || len(fallen) > 0 {
		f.Errorf("Heartbeat = %q, %v", fallen, err)
	}
	if n, err := f.EndSessions(f.ctx, []store.Session{"a"}); err != nil || n != 0 {
		f.Errorf("EndSessions = %d, %v", n, err)
	}
	f.no("Check", f.Check(f.ctx, c))
}

// testSessionFalls: another process ends the leases of a silent one long before their time. Later
// requests of the silent process are refused.
func testSessionFalls(f *sessions) {
	f.beats(f.Store, "a")
	l, old := f.held()
	f.beats(f.other, "b")
	f.Opened.Advance(lasts - time.Minute)
	f.beats(f.other, "b")
	f.no("Check while the session lasts", f.Check(f.ctx, old))
	f.Opened.Advance(time.Minute)
	f.beats(f.other, "b", "a")
	f.nothingDue()
	f.ends(1, "a")
	f.wantErr("Check", f.Check(f.ctx, old), store.ErrLeaseLost)
	f.wantErr("Save", f.Save(f.ctx, old, l), store.ErrLeaseLost)
	f.wantErr("Finish", f.Finish(f.ctx, old, l, nil, store.Outcome{}), store.ErrLeaseLost)
	c, _, err := f.other.Claim(f.ctx, f.project, ttl)
	f.no("Claim", err)
	if c == nil || c.Key != f.key(l) || c.Token <= old.Token || c.Abandoned != 1 || !c.AfterAbandoned || c.Session != "b" {
		f.Fatalf("Claim = %+v, want the key of the dead process", c)
	}
	f.no("Finish", f.other.Finish(f.ctx, c, nil, nil, store.Outcome{}))
	f.nothingDue()
	f.beats(f.other, "b")
}

// testSessionNamed: a named lease of a process is free as soon as its session is over, long before
// its time. The session may have fallen or been ended. It stays while the session lasts.
func testSessionNamed(f *sessions) {
	acquires := func(s store.Store, name, owner string, want bool) {
		f.Helper()
		if held, err := s.Acquire(f.ctx, name, owner, 10*lasts); err != nil || held != want {
			f.Errorf("Acquire of %s for %s = %v, %v, want %v", name, owner, held, err, want)
		}
	}
	acquires(f.Store, "before", "one", true)
	f.beats(f.Store, "a")
	acquires(f.Store, "polls", "one", true)
	acquires(f.Store, "lists", "one", true)
	acquires(f.other, "polls", "two", false)
	f.Opened.Advance(lasts - time.Minute)
	f.beats(f.other, "b")
	acquires(f.other, "polls", "two", false)
	f.Opened.Advance(time.Minute)
	acquires(f.other, "polls", "two", true)
	acquires(f.Store, "polls", "one", false)
	f.beats(f.other, "b", "a")
	acquires(f.other, "lists", "two", true)
	acquires(f.other, "before", "two", false)

	f.beats(f.Store, "a2")
	acquires(f.Store, "verifies", "one", true)
	acquires(f.other, "verifies", "two", false)
	f.ends(0, "a", "a2")
	acquires(f.other, "verifies", "two", true)
	f.no("Release", f.other.Release(f.ctx, "verifies", "two"))
	f.beats(f.Store, "a3")
	acquires(f.Store, "verifies", "one", true)
}

func testSessionLasts(f *sessions) {
	f.beats(f.Store, "a")
	_, c := f.held()
	for range 2 {
		f.Opened.Advance(lasts - time.Minute)
		f.beats(f.other, "b")
		f.beats(f.Store, "a")
	}
	f.beats(f.other, "b")
	f.no("Check", f.Check(f.ctx, c))
}

// testSessionNamedOnce: a session that fell is named again where nobody ended it.
func testSessionNamedOnce(f *sessions) {
	f.beats(f.Store, "a")
	f.beats(f.Store, "c")
	f.Opened.Advance(lasts)
	f.beats(f.other, "b", "a", "c")
	f.beats(f.other, "b")
	f.beats(f.Store, "d")
	f.ends(0, "c")
	f.Opened.Advance(lasts - time.Minute)
	f.beats(f.other, "b")
	f.beats(f.Store, "d")
	f.Opened.Advance(time.Minute)
	f.beats(f.Store, "d", "a")
	f.ends(0, "a")
	f.beats(f.other, "b")
	f.Opened.Advance(lasts - time.Minute)
	f.beats(f.other, "b")
	f.Opened.Advance(lasts)
	f.beats(f.other, "b2", "b", "d")
}

func testSessionStaysFallen(f *sessions) {
	f.beats(f.Store, "a")
	l, _ := f.held()
	f.Opened.Advance(lasts)
	refused := func(when string) {
		f.Helper()
		_, err := f.Store.Heartbeat(f.ctx, "a", lasts)
		f.wantErr("Heartbeat "+when, err, store.ErrLeaseLost)
	}
	refused("after the fall")
	f.beats(f.other, "b", "a")
	refused("once another process knows")
	f.ends(1, "a")
	f.beats(f.Store, "a2")
	if c := f.claim(l); c.Session != "a2" {
		f.Errorf("claim of session %q, want a2", c.Session)
	}
	f.ends(0, "a")
}

// testSessionOthers: leases of another process, or of one without a session, stay.
func testSessionOthers(f *sessions) {
	var without, beside []*store.Claim
	claim := func(s store.Store, to *[]*store.Claim) {
		f.Helper()
		f.observe(creating(f.newLink()))
		c, _, err := s.Claim(f.ctx, f.project, ttl)
		if err != nil || c == nil {
			f.Fatalf("Claim = %+v, %v", c, err)
		}
		*to = append(*to, c)
	}
	claim(f.Store, &without)
	f.beats(f.Store, "a")
	f.held()
	f.beats(f.other, "b")
	claim(f.other, &beside)
	f.Opened.Advance(lasts - time.Minute)
	f.beats(f.other, "b")
	f.Opened.Advance(time.Minute)
	f.beats(f.other, "b", "a")
	f.ends(1, "a", "")
	if without[0].Session != "" {
		f.Errorf("claim of session %q before the first heartbeat", without[0].Session)
	}
	f.no("Check of a claim without a session", f.Check(f.ctx, without[0]))
	f.no("Check of another one's claim", f.other.Check(f.ctx, beside[0]))
}

// testSessionEnded: keys that were finished under the session stay where their outcomes put them.
func testSessionEnded(f *sessions) {
	f.beats(f.Store, "a")
	for _, out := range []store.Outcome{
		{Kind: store.Done},
		{Kind: store.Again, After: time.Hour},
		{Kind: store.Retry, After: time.Hour},
		{Kind: store.Wait, Service: "github"},
		{Kind: store.Park},
		{Kind: store.Remove},
	} {
		_, c := f.held()
		f.finish(c, out)
	}
	var c *store.Claim
	_, c = f.held()
	bulk := f.newLink()
	o := creating(bulk)
	o.Bulk = true
	f.observe(o)
	next, err := f.FinishAndClaim(f.ctx, c, nil, nil, store.Outcome{}, ttl)
	f.no("FinishAndClaim", err)
	if next == nil || next.Key != f.key(bulk) || next.Session != "a" {
		f.Fatalf("FinishAndClaim = %+v", next)
	}
	named, err := f.ClaimKey(f.ctx, f.key(f.made()), ttl)
	f.no("ClaimKey", err)
	f.Opened.Advance(lasts)
	f.beats(f.other, "b", "a")
	f.ends(2, "a")
	f.wantErr("Check of what was claimed last", f.Check(f.ctx, next), store.ErrLeaseLost)
	f.wantErr("Check of what was claimed by name", f.Check(f.ctx, named), store.ErrLeaseLost)
	if d := f.depth(); d.Live != 3 || d.Bulk != 1 || d.Waiting["github"] != 1 || d.Failures != 1 {
		f.Errorf("Depth = %+v", d)
	}
	for range 2 {
		if c, _, err := f.other.Claim(f.ctx, f.project, ttl); err != nil || c == nil {
			f.Errorf("Claim = %+v, %v", c, err)
		}
	}
	if m := f.nothingDue(); m == 0 {
		f.Error("nothing stands for later")
	}
}

// testSessionMany: leases beyond one step are found among many keys that are due now and later.
func testSessionMany(f *sessions) {
	const many = 450
	f.beats(f.Store, "a")
	var obs []store.Observation
	for i := range 2 * many {
		o := creating(f.newLink())
		if o.Bulk = i%3 == 0; i%2 == 1 {
			o.Delay = time.Hour
		}
		obs = append(obs, o)
	}
	for some := range slices.Chunk(obs, 100) {
		f.observe(some...)
	}
	for i := range many {
		if c, _, err := f.Claim(f.ctx, f.project, ttl); err != nil || c == nil {
			f.Fatalf("Claim %d = %+v, %v", i, c, err)
		}
	}
	f.Opened.Advance(lasts)
	f.beats(f.other, "b", "a")
	f.ends(many, "a")
	seen := map[mapping.LinkID]bool{}
	for range many {
		c, _, err := f.other.Claim(f.ctx, f.project, ttl)
		if err != nil || c == nil || !c.AfterAbandoned {
			f.Fatalf("Claim after %d = %+v, %v", len(seen), c, err)
		}
		seen[c.Key.Link] = true
	}
	if f.nothingDue(); len(seen) != many {
		f.Errorf("%d keys, want %d", len(seen), many)
	}
}

// testSessionChanged: a change under the lease is in the next claim.
func testSessionChanged(f *sessions) {
	f.beats(f.Store, "a")
	l, _ := f.held()
	f.observe(showing(l, 2, "two"))
	f.Opened.Advance(lasts)
	f.beats(f.other, "b", "a")
	f.ends(1, "a")
	c := f.claim(l)
	f.wantInbox(c, "two", 0)
	f.finish(c, store.Outcome{})
	f.nothingDue()
}

// testSessionAgain: a key that another process claimed since stays with it.
func testSessionAgain(f *sessions) {
	f.beats(f.Store, "a")
	l, _ := f.held()
	f.Opened.Advance(ttl)
	f.beats(f.other, "b", "a")
	c, _, err := f.other.Claim(f.ctx, f.project, ttl)
	if err != nil || c == nil || c.Key != f.key(l) {
		f.Fatalf("Claim = %+v, %v", c, err)
	}
	f.ends(0, "a")
	f.no("Check", f.other.Check(f.ctx, c))
	for i := range 3 {
		f.ends(0, store.Session(fmt.Sprint("unknown", i)))
	}
}
