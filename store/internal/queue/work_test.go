package queue

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/store"
)

// TestRulesLeaveTheirWork: a rule returns another Work and leaves its own unchanged, so that a
// snapshot of a store costs no copy.
func TestRulesLeaveTheirWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w Work
		now := int64(1000)
		t.Repeat(map[string]func(*rapid.T){
			"observe": func(t *rapid.T) {
				o := store.Observation{
					Item: mapping.IssueRef(rapid.Int64Range(1, 4).Draw(t, "item")), At: rapid.Int64Range(1, 3).Draw(t, "at"),
					Data: []byte("data"), Digest: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "digest"),
					Event: []byte("event"), Own: rapid.Bool().Draw(t, "own"), Bulk: rapid.Bool().Draw(t, "bulk"),
				}
				w = unchanged(t, w, func(w Work) Work {
					w, _ = w.Observe(&o, now, false)
					return w
				})
			},
			"lease": func(t *rapid.T) {
				w = unchanged(t, w, func(w Work) Work {
					w, _ = w.Lease(now, time.Minute, "")
					return w
				})
			},
			"finish": func(t *rapid.T) {
				out := store.Outcome{Kind: rapid.SampledFrom([]store.OutcomeKind{store.Done, store.Retry, store.Park, store.Erase}).Draw(t, "kind")}
				gen := rapid.Int64Range(0, w.Gen).Draw(t, "generation")
				w = unchanged(t, w, func(w Work) Work { return w.Finish(out, gen, now) })
			},
			"": func(t *rapid.T) {
				now++
				if !slices.IsSortedFunc(w.Inbox, func(a, b Slot) int { return slices.Compare([]byte(a.Item), []byte(b.Item)) }) {
					t.Fatalf("the inbox is not ordered: %+v", w.Inbox)
				}
			},
		})
	})
}

func unchanged(t *rapid.T, w Work, rule func(Work) Work) Work {
	before := text(t, w)
	next := rule(w)
	if after := text(t, w); after != before {
		t.Fatalf("a rule changed what it was given\nfrom %s\nto   %s", before, after)
	}
	return next
}

func text(t *rapid.T, w Work) string {
	data, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// sorted is the lists of some works.
type sorted []Entry

func (s sorted) Ascend(list List, from string) iter.Seq[string] {
	var keys []string
	for _, e := range s {
		if e.List == list && e.Key >= from {
			keys = append(keys, e.Key)
		}
	}
	slices.Sort(keys)
	return slices.Values(keys)
}

func (s sorted) Descend(list List, before string) iter.Seq[string] {
	keys := slices.Collect(s.Ascend(list, ""))
	keys = slices.DeleteFunc(keys, func(key string) bool { return key >= before })
	slices.Reverse(keys)
	return slices.Values(keys)
}

func TestNext(t *testing.T) {
	at := func(due int64, bulk bool, id mapping.LinkID) Entry {
		return Work{Place: Queued, Due: due, Bulk: bulk}.Entry(id)
	}
	for name, tt := range map[string]struct {
		keys sorted
		but  mapping.LinkID
		want mapping.LinkID
		wait time.Duration
	}{
		"none":                        {nil, "", "", 0},
		"the one due longest":         {sorted{at(5, false, "a"), at(3, false, "b")}, "", "b", 0},
		"live ones first":             {sorted{at(5, false, "a"), at(3, true, "b")}, "", "a", 0},
		"due just now":                {sorted{at(10, true, "a")}, "", "a", 0},
		"not the one that is named":   {sorted{at(5, false, "a"), at(7, false, "b")}, "a", "b", 0},
		"only the one that is named":  {sorted{at(5, false, "a")}, "a", "", 0},
		"the soonest, and how long":   {sorted{at(15, false, "a"), at(13, true, "b")}, "", "", 3},
		"the next after the named":    {sorted{at(5, false, "a"), at(15, false, "b")}, "a", "", 5},
		"a bulk one before a late":    {sorted{at(15, false, "a"), at(9, true, "b")}, "", "b", 0},
		"by id where times are equal": {sorted{at(5, false, "b"), at(5, false, "a")}, "", "a", 0},
	} {
		if id, wait := Next(tt.keys, 10, tt.but); id != tt.want || wait != tt.wait {
			t.Errorf("%s: Next = %q, %v, want %q, %v", name, id, wait, tt.want, tt.wait)
		}
	}
}

// index maps "card:N" to "N".
type index map[mapping.LinkID]bool

func (x index) Exists(id mapping.LinkID) bool { return x[id] }
func (x index) Owner(ref mapping.Ref) mapping.LinkID {
	if id := mapping.LinkID(ref[len("card:"):]); x[id] {
		return id
	}
	return ""
}

func TestResolve(t *testing.T) {
	known := index{"a": true, "b": true}
	creates := func(id mapping.LinkID, card mapping.ObjectID) *mapping.Link {
		return &mapping.Link{ID: id, Pair: mapping.Pair{Card: mapping.CardID{ID: card}}}
	}
	for i, tt := range []struct {
		o    store.Observation
		want mapping.LinkID
	}{
		{store.Observation{Refs: []mapping.Ref{"card:x", "card:b", "card:a"}, Link: "a"}, "b"},
		{store.Observation{Refs: []mapping.Ref{"card:x"}, Link: "a", Create: creates("n", "b")}, "a"},
		{store.Observation{Refs: []mapping.Ref{"card:x"}, Link: "x", Create: creates("n", "b")}, "b"},
		{store.Observation{Create: creates("a", "x")}, "a"},
		{store.Observation{Create: creates("n", "x")}, ""},
		{store.Observation{Refs: []mapping.Ref{"card:x"}, Link: "x"}, ""},
	} {
		if got := Resolve(known, &tt.o); got != tt.want {
			t.Errorf("observation %d leads to %q, want %q", i, got, tt.want)
		}
	}
}

func TestDepth(t *testing.T) {
	keys := sorted{}
	for i, w := range []Work{
		{Place: Queued, Due: 3},
		{Place: Queued, Due: 30},
		{Place: Queued, Due: 2, Bulk: true},
		{Place: Queued, Due: 20, Bulk: true},
		{Place: Waiting, Service: "github"},
		{Place: Parked, Due: 1},
		{},
	} {
		if e := w.Entry(mapping.LinkID(fmt.Sprint(i))); e.List != NoList {
			keys = append(keys, e)
		}
	}
	d := Depth(keys, 10)
	if d.Live != 2 || d.Bulk != 2 || d.Due != 1 || d.Waiting["github"] != 1 || d.Failures != 1 || d.Oldest.UnixNano() != 2 {
		t.Errorf("Depth = %+v", d)
	}
	if ids := WaitingFor(keys, "github"); len(ids) != 1 || ids[0] != "4" {
		t.Errorf("WaitingFor = %v", ids)
	}
}
