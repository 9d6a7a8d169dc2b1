package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
	"planbridge/store"
)

var sideTests = map[string]func(*fixture){
	"Ledger":      testLedger,
	"LedgerPages": testLedgerPages,
	"LedgerDrop":  testLedgerDrop,
	"Leases":      testLeases,
	"Docs":        testDocs,
	"DropDoc":     testDropDoc,
	"Marks":       testMarks,
	"DropMarks":   testDropMarks,
	"Projects":    testProjects,
	"NoProject":   testNoProject,
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
	c.State, c.Winner, c.AnsweredBy, c.UndoneBy, c.Comments = mapping.ConflictSettled, mapping.GitHub, "alice", "bob", []int64{5}
	c.At = c.At.Add(time.Hour) // replaces the entry even where its position in the order moves
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
	if texts := store.MarkTexts(got); err != nil || len(got) != len(want) || !cmp.Equal(texts, want) {
		f.Errorf("%d marks, %v\n%s", len(got), err, cmp.Diff(want, texts))
	}
	if !slices.IsSortedFunc(got, func(a, b store.Mark) int { return strings.Compare(a.ID, b.ID) }) {
		f.Errorf("the marks are not in the order of their ids: %v", got[:10])
	}
}

// testNoProject: data of no project is in the space of project "".
func testNoProject(f *fixture) {
	f.no("PutDoc", f.PutDoc(f.ctx, "", "watermark", []byte("x")))
	if got, err := f.Doc(f.ctx, "", "watermark"); err != nil || string(got) != "x" {
		f.Errorf("Doc = %q, %v", got, err)
	}
	f.no("PutMarks", f.PutMarks(f.ctx, "", "repos", map[string]string{"a": "b"}))
	if got, err := f.Marks(f.ctx, "", "repos"); err != nil || !cmp.Equal(got, []store.Mark{{ID: "a", Text: "b"}}) {
		f.Errorf("Marks = %v, %v", got, err)
	}
}
