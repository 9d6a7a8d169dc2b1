package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
	"planbridge/store"
)

var linkTests = map[string]func(*fixture){
	"AreKeptWhole":          testLinkWhole,
	"AreNotFound":           testNotFound,
	"SaveIndexesRefs":       testSaveIndexes,
	"SaveRefusesOthersRefs": testSaveConflict,
	"SaveRefusesOtherLink":  testSaveOther,
	"ListPagesOnce":         testList,
	"HistoryIsBounded":      testHistory,
	"ProjectsAreApart":      testProjectsApart,
}

// fullLink fills every field of a link.
func (f *fixture) fullLink() *mapping.Link {
	l := f.newLink()
	now := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	l.State = mapping.Linked
	l.Issue.UpdatedAt, l.Issue.Digest = now, "d1"
	l.Card = mapping.CardID{ID: mapping.ObjectID("c" + mapping.NewID()), CID: 7, Bucket: "b", Version: 3}
	l.Base = map[mapping.Attribute]mapping.Base{
		mapping.Title:   {GitHub: "Ein Titel", Planning: "Ein Titel", Version: 4},
		mapping.Summary: {GitHub: "# x\r\n\x00\U0001F600", Planning: "# x\n", Version: -1},
	}
	l.Pending = []mapping.Pending{{ID: "p", Side: mapping.GitHub, Item: "issue:1", Attribute: mapping.Title, From: "a", To: "b", At: now}}
	l.Intent = &mapping.Intent{Side: mapping.Planning, Nonce: "n", At: now, Sent: true}
	l.Children = []*mapping.Pair{
		{Kind: mapping.Tracking, State: mapping.Linked, Card: mapping.CardID{ID: mapping.ObjectID("t" + mapping.NewID())}, Nonce: "n1"},
	}
	part := mapping.NewPart(mapping.GitHub, mapping.NewNonceIn(l.Project), now)
	part.Issue.ID, part.Card.ID = 900000+int64(f.links), mapping.ObjectID("t"+mapping.NewID())
	l.SubLinks = []*mapping.Pair{part}
	l.Gone = map[mapping.Side]int{mapping.Planning: 1}
	l.Created = now
	return l
}

func testLinkWhole(f *fixture) {
	want := f.fullLink()
	f.observe(creating(want))
	got, err := f.Link(f.ctx, f.key(want))
	f.no("Link", err)
	if d := cmp.Diff(want, got); d != "" {
		f.Errorf("link changed (-stored +read):\n%s", d)
	}
	c := f.claim(want)
	if d := cmp.Diff(want, c.Link); d != "" {
		f.Errorf("the claim's link differs (-stored +claimed):\n%s", d)
	}
	want.State, want.Base[mapping.Title] = mapping.Left, mapping.Base{GitHub: "neu"}
	f.no("Save", f.Save(f.ctx, c, want))
	got, err = f.Link(f.ctx, f.key(want))
	f.no("Link", err)
	if d := cmp.Diff(want, got); d != "" {
		f.Errorf("saved link changed (-stored +read):\n%s", d)
	}
}

func testNotFound(f *fixture) {
	for _, made := range []bool{false, true} { // in an empty project, and beside another link
		if made {
			f.made()
		}
		key := store.Key{Project: f.project, Link: "none"}
		_, err := f.Link(f.ctx, key)
		f.wantErr("Link", err, store.ErrNotFound)
		_, err = f.Find(f.ctx, f.project, "issue:0")
		f.wantErr("Find", err, store.ErrNotFound)
		_, err = f.History(f.ctx, key, 10)
		f.wantErr("History", err, store.ErrNotFound)
		_, err = f.ClaimKey(f.ctx, key, ttl)
		f.wantErr("ClaimKey", err, store.ErrNotFound)
		f.wantErr("Enqueue", f.Enqueue(f.ctx, key, 0, false), store.ErrNotFound)
		_, err = f.Conflict(f.ctx, f.project, "none")
		f.wantErr("Conflict", err, store.ErrNotFound)
		_, err = f.Doc(f.ctx, f.project, "none")
		f.wantErr("Doc", err, store.ErrNotFound)
	}
}

// found demands that ref leads to want, or to nothing where want is nil.
func (f *fixture) found(ref mapping.Ref, want *mapping.Link) {
	f.Helper()
	id, err := f.Find(f.ctx, f.project, ref)
	if want == nil {
		f.wantErr("Find "+string(ref), err, store.ErrNotFound)
		return
	}
	if err != nil || id != want.ID {
		f.Errorf("Find(%s) = %s, %v, want %s", ref, id, err, want.ID)
	}
}

func testSaveIndexes(f *fixture) {
	l := f.newLink()
	f.observe(creating(l))
	old := mapping.IssueRef(l.Issue.ID)
	f.found(old, l)

	c := f.claim(l)
	l.Card.ID = "cardA"
	l.Children = []*mapping.Pair{{Kind: mapping.Tracking, Card: mapping.CardID{ID: "taskA"}}}
	f.no("Save", f.Save(f.ctx, c, l))
	for _, ref := range l.Refs() {
		f.found(ref, l)
	}

	// A transfer gives the issue another id, and an unlinked task is free.
	l.Issue.ID, l.Children = 777, nil
	f.no("Finish", f.Finish(f.ctx, c, l, nil, store.Outcome{}))
	f.found("issue:777", l)
	f.found("card:cardA", l)
	f.found(old, nil)
	f.found("task:taskA", nil)
}

func testSaveConflict(f *fixture) {
	a, b := f.made(), f.made()
	c, err := f.ClaimKey(f.ctx, f.key(b), ttl)
	f.no("ClaimKey", err)
	thief := *b
	thief.Card.ID, thief.Issue.ID, thief.Why = "cardX", a.Issue.ID, "changed"
	f.wantErr("Save", f.Save(f.ctx, c, &thief), store.ErrConflict)
	f.wantErr("Finish", f.Finish(f.ctx, c, &thief, []mapping.Entry{{What: "write"}}, store.Outcome{}), store.ErrConflict)

	got, err := f.Link(f.ctx, f.key(b))
	f.no("Link", err)
	if got.Why != "" {
		f.Error("a refused Save stored the link")
	}
	if h, err := f.History(f.ctx, f.key(b), 10); err != nil || len(h) != 0 {
		f.Errorf("a refused Finish left history %v, %v", h, err)
	}
	f.found("card:cardX", nil)
	f.found(mapping.IssueRef(a.Issue.ID), a)
	f.found(mapping.IssueRef(b.Issue.ID), b)
	f.no("the claim after a conflict", f.Check(f.ctx, c))
}

func testSaveOther(f *fixture) {
	a, b := f.newLink(), f.made()
	f.observe(creating(a))
	c := f.claim(a)
	if f.Save(f.ctx, c, b) == nil || f.Finish(f.ctx, c, b, nil, store.Outcome{}) == nil {
		f.Error("a claim stored another link than its own")
	}
}

func testList(f *fixture) {
	want := map[mapping.LinkID]bool{}
	for range 23 {
		want[f.made().ID] = true
	}
	for _, limit := range []int{1, 7, 23, 100} {
		seen, cursor, pages := map[mapping.LinkID]bool{}, "", 0
		for {
			links, next, err := f.List(f.ctx, f.project, cursor, limit)
			f.no("List", err)
			if len(links) > limit {
				f.Fatalf("List with limit %d gave %d", limit, len(links))
			}
			for _, l := range links {
				if seen[l.ID] || !want[l.ID] {
					f.Fatalf("limit %d: List shows %s twice or wrongly", limit, l.ID)
				}
				seen[l.ID] = true
			}
			if pages++; pages == 1 && limit == 7 {
				f.made() // a link that comes meanwhile may or may not be listed
				want[seenNew(f, want)] = true
			}
			if next == "" {
				break
			}
			cursor = next
		}
		for id := range want {
			if !seen[id] && !(limit == 7 && len(seen) == len(want)-1) {
				f.Errorf("limit %d: List misses %s", limit, id)
			}
		}
	}
}

// seenNew finds the one link that is not in known yet.
func seenNew(f *fixture, known map[mapping.LinkID]bool) mapping.LinkID {
	links, _, err := f.List(f.ctx, f.project, "", 1000)
	f.no("List", err)
	i := slices.IndexFunc(links, func(l *mapping.Link) bool { return !known[l.ID] })
	return links[i].ID
}

func testHistory(f *fixture) {
	l := f.made()
	if h, err := f.History(f.ctx, f.key(l), 10); err != nil || len(h) != 0 {
		f.Errorf("History of a new link = %v, %v", h, err)
	}
	n := 0
	for batch := range 14 {
		c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
		f.no("ClaimKey", err)
		var entries []mapping.Entry
		for range batch {
			n++
			entries = append(entries, mapping.Entry{At: time.Unix(int64(n), 0).UTC(), What: "write", Why: fmt.Sprint(n), Attribute: mapping.Title})
		}
		f.no("Finish", f.Finish(f.ctx, c, nil, entries, store.Outcome{}))
	}
	all, err := f.History(f.ctx, f.key(l), 1000)
	f.no("History", err)
	if len(all) != mapping.MaxHistory {
		f.Errorf("history holds %d entries of %d, want %d", len(all), n, mapping.MaxHistory)
	}
	for i, e := range all {
		if e.Why != fmt.Sprint(n-i) {
			f.Fatalf("History[%d] = %q, want %d: newest first", i, e.Why, n-i)
		}
	}
	if three, err := f.History(f.ctx, f.key(l), 3); err != nil || !cmp.Equal(three, all[:3]) {
		f.Errorf("History of 3 = %v, %v", three, err)
	}
}

func testProjectsApart(f *fixture) {
	a := f.made()
	other := newFixture(f.T, f.Opened)
	b := other.newLink() // the same issue id as a's
	other.observe(creating(b))
	f.found(mapping.IssueRef(a.Issue.ID), a)
	other.found(mapping.IssueRef(b.Issue.ID), b)
	f.nothingDue()
	other.claim(b)
}

// testRestart ends everything hard and demands that every acknowledged write is still there.
func testRestart(f *fixture) {
	idle, live, parked, leased := f.made(), f.newLink(), f.newLink(), f.newLink()
	epoch, err := f.Epoch(f.ctx)
	f.no("Epoch", err)
	f.observe(creating(parked))
	f.finish(f.claim(parked), store.Outcome{Kind: store.Park, Reason: "no"})
	f.observe(creating(leased))
	claim := f.claim(leased)
	acquired, err := f.Acquire(f.ctx, "poll", "a", ttl)
	if f.no("Acquire", err); !acquired {
		f.Error("a free lease was not given")
	}
	delivered := showing(live, 5, "five")
	delivered.Create, delivered.Delivery, delivered.Event = live, "guid", []byte("event")
	f.observe(delivered)
	f.no("PutDoc", f.PutDoc(f.ctx, "", "doc", []byte("text")))

	f.Store = f.Opened.Restart(f.T)
	f.no("Ping", f.Ping(f.ctx))
	if again, err := f.Epoch(f.ctx); err != nil || again != epoch {
		f.Errorf("Epoch after a restart = %q, %v, want %q", again, err, epoch)
	}
	f.found(mapping.IssueRef(idle.Issue.ID), idle)
	if doc, err := f.Doc(f.ctx, "", "doc"); err != nil || string(doc) != "text" {
		f.Errorf("Doc = %q, %v", doc, err)
	}
	if fs := f.failures(); len(fs) != 1 || fs[0].Key != f.key(parked) {
		f.Errorf("Failures = %v", fs)
	}
	other, err := f.Acquire(f.ctx, "poll", "b", ttl)
	if f.no("Acquire", err); other != f.Opened.Alone {
		f.Errorf("Acquire for another owner after a restart = %v, want %v", other, f.Opened.Alone)
	}
	if f.Opened.Alone {
		claim = f.leasedByTheDead(claim, leased)
	} else {
		f.no("a lease outlives a restart of the server", f.Check(f.ctx, claim))
	}
	f.finish(claim, store.Outcome{})
	if seen := f.observe(delivered); !seen[0].Duplicate {
		f.Error("the delivery was forgotten")
	}
	c := f.claim(live)
	if string(c.Inbox[delivered.Item].Data) != "data of five" || len(c.Events) != 1 {
		f.Errorf("claim after a restart = %+v", c)
	}
	f.nothingDue()
}

// leasedByTheDead demands that a key claimed by a dead process is free, and returns another claim
// of it.
func (f *fixture) leasedByTheDead(dead *store.Claim, l *mapping.Link) *store.Claim {
	f.Helper()
	f.wantErr("Check of a dead process's claim", f.Check(f.ctx, dead), store.ErrLeaseLost)
	f.wantErr("Save under it", f.Save(f.ctx, dead, l), store.ErrLeaseLost)
	f.wantErr("Finish of it", f.Finish(f.ctx, dead, l, nil, store.Outcome{}), store.ErrLeaseLost)
	c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
	f.no("ClaimKey", err)
	if c.Token <= dead.Token || c.Abandoned != dead.Abandoned+1 || !c.AfterAbandoned {
		f.Errorf("claim after %+v = %+v", dead, c)
	}
	return c
}

func testEpoch(f *fixture) {
	epoch, err := f.Epoch(f.ctx)
	f.no("Epoch", err)
	if epoch == "" {
		f.Error("the epoch is empty")
	}
	again, err := f.Epoch(f.ctx)
	if err != nil || again != epoch {
		f.Errorf("second Epoch = %q, %v, want %q", again, err, epoch)
	}
	adopted, err := f.Adopt(f.ctx)
	if err != nil || adopted != epoch {
		f.Errorf("Adopt of an unharmed store = %q, %v, want %q", adopted, err, epoch)
	}
	f.no("Ping", f.Ping(f.ctx))
	f.T.Run("Closed", func(t *testing.T) {
		f.no("Close", f.Close())
		f.no("second Close", f.Close())
		if f.Ping(f.ctx) == nil || f.PutDoc(f.ctx, "", "x", nil) == nil {
			t.Error("a closed store still answers")
		}
	})
}
