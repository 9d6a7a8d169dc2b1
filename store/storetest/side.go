package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
)

var sideTests = map[string]func(*fixture){
	"Ledger":       testLedger,
	"LedgerPages":  testLedgerPages,
	"Leases":       testLeases,
	"BudgetMinute": testBudgetMinute,
	"BudgetHour":   testBudgetHour,
	"BudgetBurst":  testBudgetBurst,
	"Docs":         testDocs,
	"Marks":        testMarks,
	"NoProject":    testNoProject,
}

func (f *fixture) conflict(n int) mapping.Conflict {
	return mapping.Conflict{
		ID: fmt.Sprintf("%04d%s", n, mapping.NewID()), Link: "l", Project: f.project, Route: "web", Where: "acme/web#12",
		Attribute: mapping.Summary, Base: &mapping.Base{GitHub: "base", Version: 2},
		GitHub: strings.Repeat("GitHub's text. ", 200), Planning: "planning's", State: mapping.ConflictOpen,
		At: time.Unix(1_800_000_000+int64(n/2), 0).UTC(), // two of each second
	}
}

func testLedger(f *fixture) {
	c := f.conflict(1)
	f.no("PutConflict", f.PutConflict(f.ctx, c))
	got, err := f.Conflict(f.ctx, f.project, c.ID)
	if err != nil || !cmp.Equal(got, c) {
		f.Errorf("Conflict = %+v, %v", got, err)
	}
	c.State, c.Winner, c.Comments = mapping.ConflictSettled, mapping.GitHub, []int64{5}
	c.At = c.At.Add(time.Hour) // replaces even where its place in the order moves
	f.no("PutConflict", f.PutConflict(f.ctx, c))
	all, next, err := f.Conflicts(f.ctx, f.project, "", 10)
	if err != nil || next != "" || !cmp.Equal(all, []mapping.Conflict{c}) {
		f.Errorf("Conflicts = %+v, %q, %v", all, next, err)
	}
}

func testLedgerPages(f *fixture) {
	const n = 25
	for i := range n {
		f.no("PutConflict", f.PutConflict(f.ctx, f.conflict(i)))
	}
	for _, limit := range []int{1, 10, n, 100} {
		var seen []mapping.Conflict
		for cursor, first := "", true; first || cursor != ""; first = false {
			cs, next, err := f.Conflicts(f.ctx, f.project, cursor, limit)
			f.no("Conflicts", err)
			if seen, cursor = append(seen, cs...), next; len(cs) > limit || len(seen) > n {
				f.Fatalf("Conflicts with limit %d gave a page of %d, %d in all", limit, len(cs), len(seen))
			}
		}
		ids := map[string]bool{}
		for i, c := range seen {
			ids[c.ID] = true
			if i > 0 && c.At.After(seen[i-1].At) {
				f.Errorf("limit %d: Conflicts[%d] is newer than the one before", limit, i)
			}
		}
		if len(seen) != n || len(ids) != n {
			f.Errorf("limit %d: Conflicts shows %d, %d distinct, want %d", limit, len(seen), len(ids), n)
		}
	}
}

func testLeases(f *fixture) {
	name := "poll/" + string(f.project)
	acquire := func(owner string, want bool) {
		f.Helper()
		if got, err := f.Acquire(f.ctx, name, owner, ttl); err != nil || got != want {
			f.Errorf("Acquire for %s = %v, %v, want %v", owner, got, err, want)
		}
	}
	acquire("a", true)
	acquire("b", false)
	f.Opened.Advance(ttl - time.Minute)
	acquire("a", true) // extends
	f.Opened.Advance(ttl - time.Minute)
	acquire("b", false)
	f.no("Release", f.Release(f.ctx, name, "b")) // not b's
	acquire("b", false)
	f.no("Release", f.Release(f.ctx, name, "a"))
	acquire("b", true)
	f.Opened.Advance(ttl)
	acquire("a", true)
	f.no("Release of what was lost", f.Release(f.ctx, name, "b"))
	acquire("b", false)
}

// budget takes writes until none is given, at most most, and returns how many
// and how long to wait then.
func (f *fixture) budget(most, perMinute, perHour, burst int) (n int, wait time.Duration) {
	f.Helper()
	for n < most {
		wait, err := f.Budget(f.ctx, string(f.project), perMinute, perHour, burst)
		f.no("Budget", err)
		if wait != 0 {
			return n, wait
		}
		n++
	}
	return n, 0
}

func testBudgetMinute(f *fixture) {
	n, wait := f.budget(100, 10, 1000, 100)
	if n != 10 || wait <= 30*time.Second || wait > time.Minute {
		f.Errorf("the first minute gave %d and a wait of %v", n, wait)
	}
	f.Opened.Advance(wait)
	if n, _ := f.budget(100, 10, 1000, 100); n == 0 {
		f.Error("nothing to be had after the wait that was asked for")
	}
}

func testBudgetHour(f *fixture) {
	total := 0
	for range 12 {
		n, _ := f.budget(100, 10, 45, 100)
		total += n
		f.Opened.Advance(90 * time.Second)
	}
	if total != 45 {
		f.Errorf("%d writes within an hour, want 45", total)
	}
	_, wait := f.budget(1, 10, 45, 100)
	if m := minutes(wait); m < 40 || m > 43 {
		f.Errorf("wait of %v, want until an hour after the first", wait)
	}
	f.Opened.Advance(wait)
	if n, _ := f.budget(1, 10, 45, 100); n != 1 {
		f.Error("nothing to be had after the wait that was asked for")
	}
}

func testBudgetBurst(f *fixture) {
	n, wait := f.budget(100, 2, 1000, 1)
	if n != 1 || wait > 30*time.Second || wait < 20*time.Second {
		f.Errorf("a burst of 1 gave %d and a wait of %v", n, wait)
	}
	f.Opened.Advance(time.Hour)
	if n, _ = f.budget(100, 20, 1000, 5); n != 5 {
		f.Errorf("a burst of 5 gave %d after a rest", n)
	}
	f.Opened.Advance(6 * time.Second)
	if n, _ = f.budget(100, 20, 1000, 5); n < 2 || n > 4 {
		f.Errorf("six seconds at 20 a minute gave %d", n)
	}
}

func testDocs(f *fixture) {
	for _, text := range []string{"first", "", "second\x00\xff"} {
		f.no("PutDoc", f.PutDoc(f.ctx, f.project, "name", []byte(text)))
		if got, err := f.Doc(f.ctx, f.project, "name"); err != nil || string(got) != text {
			f.Errorf("Doc = %q, %v, want %q", got, err, text)
		}
	}
}

func testMarks(f *fixture) {
	want := map[string]string{}
	if got, err := f.Marks(f.ctx, f.project, "cards"); err != nil || len(got) != 0 {
		f.Errorf("Marks of nothing = %v, %v", got, err)
	}
	for i := range 2500 {
		want[fmt.Sprintf("card%d", i)] = fmt.Sprint(i)
	}
	f.no("PutMarks", f.PutMarks(f.ctx, f.project, "cards", want))
	f.no("PutMarks", f.PutMarks(f.ctx, f.project, "cards", map[string]string{"card1": "new", "": "empty"}))
	f.no("PutMarks", f.PutMarks(f.ctx, f.project, "cards2", map[string]string{"x": "y"}))
	f.no("PutMarks", f.PutMarks(f.ctx, f.project, "cards", nil))
	want["card1"], want[""] = "new", "empty"
	got, err := f.Marks(f.ctx, f.project, "cards")
	if err != nil || !cmp.Equal(got, want) {
		f.Errorf("Marks: %v\n%s", err, cmp.Diff(want, got))
	}
}

// What belongs to no project lives in the space of project "".
func testNoProject(f *fixture) {
	f.no("PutDoc", f.PutDoc(f.ctx, "", "watermark", []byte("x")))
	if got, err := f.Doc(f.ctx, "", "watermark"); err != nil || string(got) != "x" {
		f.Errorf("Doc = %q, %v", got, err)
	}
	f.no("PutMarks", f.PutMarks(f.ctx, "", "repos", map[string]string{"a": "b"}))
	if got, err := f.Marks(f.ctx, "", "repos"); err != nil || got["a"] != "b" {
		f.Errorf("Marks = %v, %v", got, err)
	}
}
