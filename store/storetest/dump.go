package storetest

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"planbridge/mapping"
	"planbridge/store"
)

// testDump holds Dump and Load to their contract. Each part has stores of its own.
func testDump(t *testing.T, open Open) {
	for name, test := range map[string]func(f, into *fixture){
		"All": testDumpAll, "Work": testDumpWork, "Order": testDumpOrder, "Pages": testDumpPages,
		"NotEmpty": testLoadNotEmpty, "Replace": testLoadReplace, "Fails": testLoadFails, "OneItem": testLoadOneItem, "Reasons": testDumpReasons,
	} {
		t.Run(name, func(t *testing.T) {
			f, into := newFixture(t, open(t, 0)), newFixture(t, open(t, 0))
			into.project = f.project
			test(f, into)
		})
	}
}

// dump returns all entries that a store dumps.
func (f *fixture) dump() (all []store.Entry) {
	f.Helper()
	f.no("Dump", f.Dump(f.ctx, func(e store.Entry) error {
		all = append(all, e)
		return nil
	}))
	return all
}

func entries(all []store.Entry) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// filled gives a store a link in every place, and one of each other entry.
func (f *fixture) filled() map[store.Place]*mapping.Link {
	f.Helper()
	places := map[store.Place]*mapping.Link{store.Idle: f.made()}
	for place, out := range map[store.Place]store.Outcome{
		store.Waiting: {Kind: store.Wait, Service: "github", Reason: "it is away"},
		store.Parked:  {Kind: store.Park, Reason: "given up"},
		store.Held:    {Kind: store.Hold, Reason: "it never ends"},
	} {
		l := f.made()
		f.observe(showing(l, 7, "shown"))
		f.finish(f.claim(l), store.Outcome{Kind: store.Retry})
		f.finish(f.claim(l), out)
		places[place] = l
	}
	l := f.made()
	c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
	f.no("ClaimKey", err)
	l.Route = "changed"
	history := []mapping.Entry{{At: time.Unix(1_800_000_000, 0).UTC(), What: "one", Why: "first"}, {At: time.Unix(1_800_000_001, 0).UTC(), What: "two"}}
	f.no("Finish", f.Finish(f.ctx, c, l, history, store.Outcome{}))
	obs := showing(l, 5, "before")
	obs.Event = []byte("event 1")
	other := showing(l, 5, "after")
	other.Event, other.Own, other.Bulk, other.Delivery = []byte("our event"), true, true, "hook/guid"
	third := showing(l, 4, "late")
	third.Event = []byte("event \x00\xff2")
	f.observe(obs, other, third)
	places[store.Queued] = l
	f.no("PutDoc", f.PutDoc(f.ctx, f.project, "doc", []byte("text\x00\xff")))
	f.no("PutDoc", f.PutDoc(f.ctx, "", "watermark", []byte("now")))
	f.no("PutMarks", f.PutMarks(f.ctx, f.project, "cards", map[string]string{"a": "1", "": "\x1f"}))
	f.no("PutMarks", f.PutMarks(f.ctx, f.project, "tasks", map[string]string{"a": "2"}))
	f.no("PutConflict", f.PutConflict(f.ctx, f.conflict(1)))
	f.no("PutConflict", f.PutConflict(f.ctx, f.conflict(2)))
	return places
}

// soon allows times of a store's clock to differ by the running time of a test.
var soon = cmpopts.EquateApproxTime(30 * time.Second)

func testDumpAll(f, into *fixture) {
	f.filled()
	all := f.dump()
	epoch, err := into.Epoch(f.ctx)
	f.no("Epoch", err)
	f.no("Load", into.Load(f.ctx, entries(all), false))
	if diff := cmp.Diff(all, into.dump(), cmpopts.EquateEmpty(), soon); diff != "" {
		f.Errorf("what was loaded is not what was dumped:\n%s", diff)
	}
	if now, err := into.Epoch(f.ctx); err != nil || now == epoch {
		f.Errorf("Epoch after Load = %q, %v; it was %q before", now, err, epoch)
	}
	if got, err := into.Doc(f.ctx, "", "watermark"); err != nil || string(got) != "now" {
		f.Errorf("Doc = %q, %v", got, err)
	}
	if got, err := into.Marks(f.ctx, f.project, "cards"); err != nil || !cmp.Equal(got, []store.Mark{{Text: "\x1f"}, {ID: "a", Text: "1"}}) {
		f.Errorf("Marks = %v, %v", got, err)
	}
	cs, _, err := into.Conflicts(f.ctx, f.project, "", 10)
	if err != nil || len(cs) != 2 || !cmp.Equal(cs[1], f.conflict(1), cmpopts.IgnoreFields(mapping.Conflict{}, "ID")) {
		f.Errorf("Conflicts = %+v, %v", cs, err)
	}
}

// testDumpWork: loaded keys go on where they were, with places, attempts, inboxes and events,
// indexes, deliveries and history. Claims do not.
func testDumpWork(f, into *fixture) {
	places := f.filled()
	leased := f.made()
	f.no("Enqueue", f.Enqueue(f.ctx, f.key(leased), 0, false))
	old := f.claim(places[store.Queued])
	claim := f.claim(leased)
	f.no("Load", into.Load(f.ctx, entries(f.dump()), false))

	d := into.depth()
	if d.Live != 2 || d.Bulk != 0 || d.Waiting["github"] != 1 || d.Failures != 2 || d.Oldest.IsZero() {
		f.Errorf("Depth = %+v", d)
	}
	for i, failure := range into.failures() {
		if want := map[string]int{"given up": 2, "it never ends": 2}[failure.Reason]; failure.Attempts != want {
			f.Errorf("failure %d = %+v", i, failure)
		}
	}
	f.wantErr("Finish of a claim from before", into.Finish(f.ctx, claim, nil, nil, store.Outcome{}), store.ErrLeaseLost)
	again, _, err := into.Claim(f.ctx, f.project, ttl)
	f.no("Claim", err)
	if again == nil || again.Key != old.Key {
		again, _, err = into.Claim(f.ctx, f.project, ttl)
		f.no("Claim", err)
	}
	if again == nil || again.Key != old.Key || again.Token <= old.Token || again.Abandoned != 0 {
		f.Fatalf("Claim = %+v, want %+v again", again, old)
	}
	if diff := cmp.Diff([]any{old.Inbox, old.Events, old.Link}, []any{again.Inbox, again.Events, again.Link}, soon); diff != "" {
		f.Errorf("the claim brings something else:\n%s", diff)
	}
	into.finish(again, store.Outcome{})
	into.observe(showing(places[store.Held], 9, "news"), showing(places[store.Waiting], 9, "news"))
	if d := into.depth(); d.Failures != 2 || d.Waiting["github"] != 1 {
		f.Errorf("after a change, Depth = %+v", d)
	}
	into.observe(showing(places[store.Parked], 9, "news"))
	if c := into.claimOther(leased); c.Key != f.key(places[store.Parked]) || c.Attempts != 0 {
		f.Errorf("Claim = %+v, want the parked key", c)
	}
	twice := showing(places[store.Queued], 5, "after")
	twice.Delivery = "hook/guid"
	if seen := into.observe(twice); !seen[0].Duplicate {
		f.Errorf("a delivery from before is %+v", seen[0])
	}
	if history, err := into.History(f.ctx, old.Key, 10); err != nil || len(history) != 2 || history[0].What != "two" {
		f.Errorf("History = %+v, %v", history, err)
	}
}

// claimOther claims until it gets a key other than the link's.
func (f *fixture) claimOther(but *mapping.Link) *store.Claim {
	f.Helper()
	for range 2 {
		c, _, err := f.Claim(f.ctx, f.project, ttl)
		f.no("Claim", err)
		if c != nil && c.Key != f.key(but) {
			return c
		}
	}
	f.Fatalf("no other key is due")
	return nil
}

// testDumpOrder: in all projects, the record that an item was seen is dumped before the item.
func testDumpOrder(f, _ *fixture) {
	f.filled()
	f.project = mapping.ObjectID(mapping.NewID())
	f.filled()
	order, last := []string{"document", "marks", "deliveries", "record", "conflict"}, 0
	for _, e := range f.dump() {
		now := slices.Index(order, kindOf(e))
		if now < last {
			f.Errorf("%s comes after %s", order[now], order[last])
		}
		last = max(last, now)
	}
}

func kindOf(e store.Entry) string {
	switch {
	case e.Document != nil:
		return "document"
	case e.Marks != nil:
		return "marks"
	case e.Record != nil:
		return "record"
	case e.Conflict != nil:
		return "conflict"
	case e.Spoilt != "":
		return "spoilt"
	}
	return "deliveries"
}

// testDumpPages: more than one page is dumped whole, each link once, while others use the store.
func testDumpPages(f, into *fixture) {
	want := map[mapping.LinkID]bool{}
	var obs []store.Observation
	for range 450 {
		l := f.newLink()
		want[l.ID] = true
		obs = append(obs, creating(l))
	}
	f.observe(obs...)
	marks := map[string]string{}
	for i := range 2500 {
		marks[fmt.Sprint(i)] = "seen"
	}
	f.no("PutMarks", f.PutMarks(f.ctx, f.project, "cards", marks))
	for i := range 450 {
		f.no("PutConflict", f.PutConflict(f.ctx, f.conflict(i)))
	}
	var all []store.Entry
	f.no("Dump", f.Dump(f.ctx, func(e store.Entry) error {
		all = append(all, e)
		if e.Record != nil && len(all)%50 == 0 {
			f.observe(showing(e.Record.Link, 3, "meanwhile"))
		}
		return nil
	}))
	seen := map[string]int{}
	for _, e := range all {
		if e.Record != nil && want[e.Record.Link.ID] {
			delete(want, e.Record.Link.ID)
			seen["record"]++
		}
		if e.Marks != nil {
			seen["marks"] += len(e.Marks.Marks)
		}
		if e.Conflict != nil {
			seen["conflict"]++
		}
	}
	if seen["record"] != 450 || seen["marks"] < 2500 || seen["conflict"] != 450 {
		f.Errorf("the dump shows %v", seen)
	}
	f.no("Load", into.Load(f.ctx, entries(all), false))
	if got, err := into.Marks(f.ctx, f.project, "cards"); err != nil || !cmp.Equal(store.MarkTexts(got), marks) {
		f.Errorf("%d marks, %v", len(got), err)
	}
	if d := into.depth(); d.Live != 450 {
		f.Errorf("Depth = %+v", d)
	}
}

func testLoadNotEmpty(f, into *fixture) {
	f.filled()
	for name, fill := range map[string]func(){
		"a link":     func() { into.made() },
		"a document": func() { f.no("PutDoc", into.PutDoc(f.ctx, "", "doc", []byte("x"))) },
		"the ledger": func() { f.no("PutConflict", into.PutConflict(f.ctx, into.conflict(1))) },
	} {
		f.no("Load of nothing", into.Load(f.ctx, entries(nil), true))
		fill()
		before := into.dump()
		f.wantErr("Load over "+name, into.Load(f.ctx, entries(f.dump()), false), store.ErrNotEmpty)
		if diff := cmp.Diff(before, into.dump(), cmpopts.EquateEmpty(), soon); diff != "" {
			f.Errorf("a refused Load changed something:\n%s", diff)
		}
	}
}

// testLoadReplace: all earlier content of the store is gone, and every earlier handle gets an
// error.
func testLoadReplace(f, into *fixture) {
	var second store.Store
	if into.Opened.Second != nil {
		second = into.Opened.Second(f.T)
	}
	gone := into.filled()
	if second != nil {
		if _, err := second.Epoch(f.ctx); err != nil {
			f.Fatalf("Epoch: %v", err)
		}
	}
	l := f.newLink()
	f.observe(creating(l))
	all := f.dump()
	f.no("Load", into.Load(f.ctx, entries(all), true))
	if diff := cmp.Diff(all, into.dump(), cmpopts.EquateEmpty(), soon); diff != "" {
		f.Errorf("after Load over another store:\n%s", diff)
	}
	for place, old := range gone {
		for _, ref := range old.Refs() {
			if id, err := into.Find(f.ctx, f.project, ref); err == nil && id != l.ID {
				f.Errorf("the item of the %s link is still indexed", place)
			}
		}
	}
	if second == nil {
		return
	}
	_, err := second.Link(f.ctx, f.key(l))
	f.wantErr("another handle", err, store.ErrEpoch)
	_, err = second.Adopt(f.ctx)
	f.no("Adopt", err)
	if _, err := second.Link(f.ctx, f.key(l)); err != nil {
		f.Errorf("Link by the other handle: %v", err)
	}
}

var errTorn = errors.New("the entries end here")

// testLoadFails: a failed load leaves the earlier content, or a store that refuses everything until
// another load has ended.
func testLoadFails(f, into *fixture) {
	f.filled()
	all := f.dump()
	half := func(yield func(store.Entry, error) bool) {
		for i, e := range all {
			if i > 2*len(all)/3 {
				yield(store.Entry{}, errTorn)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
	kept := into.made()
	before := into.dump()
	f.wantErr("Load of what is torn", into.Load(f.ctx, half, true), errTorn)
	_, err := into.Epoch(f.ctx)
	if err == nil {
		if diff := cmp.Diff(before, into.dump(), cmpopts.EquateEmpty(), soon); diff != "" {
			f.Errorf("after a load that failed:\n%s", diff)
		}
	} else {
		f.wantErr("Epoch", err, store.ErrUnfinished)
		_, err := into.Link(f.ctx, f.key(kept))
		f.wantErr("Link", err, store.ErrUnfinished)
		_, err = into.Adopt(f.ctx)
		f.wantErr("Adopt", err, store.ErrUnfinished)
		f.wantErr("Ping", into.Ping(f.ctx), store.ErrUnfinished)
	}
	f.no("Load once more", into.Load(f.ctx, entries(all), err == nil))
	if diff := cmp.Diff(all, into.dump(), cmpopts.EquateEmpty(), soon); diff != "" {
		f.Errorf("after the load that came to its end:\n%s", diff)
	}
}

// testLoadOneItem: a dump of a store in use may show an item with two links, its former one and its
// new one. The new one has it, and keeps it when the former ends.
func testLoadOneItem(f, into *fixture) {
	was, is := f.newLink(), f.newLink()
	is.Card = mapping.CardID{ID: "card"}
	was.Card = mapping.CardID{ID: "card"}
	ref := mapping.CardRef("card")
	all := []store.Entry{
		{Project: f.project, Record: &store.Record{Link: was, Place: store.Queued, Due: time.Unix(1, 0)}},
		{Project: f.project, Record: &store.Record{Link: is}},
		{Project: f.project, Spoilt: "something"},
	}
	f.no("Load", into.Load(f.ctx, entries(all), false))
	found := func(when string) {
		f.Helper()
		if id, err := into.Find(f.ctx, f.project, ref); err != nil || id != is.ID {
			f.Errorf("%s, Find = %s, %v, want %s", when, id, err, is.ID)
		}
	}
	found("after Load")
	f.no("Repair", into.Repair(f.ctx, f.project))
	found("after Repair")
	c := into.claim(was)
	f.wantErr("Save of the one that has it no more", into.Save(f.ctx, c, was), store.ErrConflict)
	into.finish(c, store.Outcome{Kind: store.Remove})
	found("after the other is removed")
	if _, err := into.Link(f.ctx, f.key(was)); err == nil || !strings.Contains(err.Error(), string(was.ID)) {
		f.Errorf("Link of what was removed: %v", err)
	}
}
