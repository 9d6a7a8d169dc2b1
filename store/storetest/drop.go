package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
	"planbridge/store"
)

// pages reads all results of a paging method, limit at a time.
func (f *fixture) pages(limit int, page func(cursor string, limit int) ([]mapping.Conflict, string, error)) (ids []string) {
	f.Helper()
	for cursor, begun := "", false; cursor != "" || !begun; begun = true {
		cs, next, err := page(cursor, limit)
		f.no("page of the ledger", err)
		if len(cs) > limit {
			f.Fatalf("a page of %d has %d entries", limit, len(cs))
		}
		for _, c := range cs {
			ids = append(ids, c.ID)
		}
		cursor = next
	}
	return ids
}

// testLedgerDrop: entries older than a time are listed by themselves, and an entry is dropped
// unless it changed after it was read.
func testLedgerDrop(f *fixture) {
	const n = 9
	var all []mapping.Conflict
	for i := range n {
		c := f.conflict(2 * i)
		c.State = mapping.ConflictSettled
		f.no("PutConflict", f.PutConflict(f.ctx, c))
		all = append(all, c)
	}
	before := all[5].At // an entry is not before itself
	for _, limit := range []int{1, 2, 5, 100} {
		got := f.pages(limit, func(cursor string, limit int) ([]mapping.Conflict, string, error) {
			return f.ConflictsBefore(f.ctx, f.project, before, cursor, limit)
		})
		if want := []string{all[4].ID, all[3].ID, all[2].ID, all[1].ID, all[0].ID}; !slices.Equal(got, want) {
			f.Errorf("limit %d: ConflictsBefore = %q, want %q", limit, got, want)
		}
	}
	changed := all[1]
	changed.State = mapping.ConflictOpen
	f.no("PutConflict", f.PutConflict(f.ctx, changed))
	old, _, err := f.ConflictsBefore(f.ctx, f.project, before, "", 100)
	f.no("ConflictsBefore", err)
	asRead := slices.Clone(old)
	asRead[slices.IndexFunc(asRead, func(c mapping.Conflict) bool { return c.ID == changed.ID })] = all[1]
	asRead = append(asRead, f.conflict(n)) // an entry that does not exist
	for _, want := range []int{4, 0} {
		if got, err := f.DropConflicts(f.ctx, f.project, asRead); err != nil || got != want {
			f.Errorf("DropConflicts = %d, %v, want %d", got, err, want)
		}
	}
	got := f.pages(3, func(cursor string, limit int) ([]mapping.Conflict, string, error) {
		return f.Conflicts(f.ctx, f.project, cursor, limit)
	})
	if want := []string{all[8].ID, all[7].ID, all[6].ID, all[5].ID, changed.ID}; !slices.Equal(got, want) {
		f.Errorf("Conflicts = %q, want %q", got, want)
	}
	if kept, err := f.Conflict(f.ctx, f.project, changed.ID); err != nil || !cmp.Equal(kept, changed) {
		f.Errorf("Conflict of a changed entry = %+v, %v", kept, err)
	}
	if _, err := f.Conflict(f.ctx, f.project, all[0].ID); !errors.Is(err, store.ErrNotFound) {
		f.Errorf("Conflict of a dropped entry: %v, want %v", err, store.ErrNotFound)
	}
	if got, err := f.DropConflicts(f.ctx, f.project, nil); err != nil || got != 0 {
		f.Errorf("DropConflicts of none = %d, %v", got, err)
	}
	f.no("PutConflict", f.PutConflict(f.ctx, all[0])) // an entry may come back
	if kept, err := f.Conflict(f.ctx, f.project, all[0].ID); err != nil || !cmp.Equal(kept, all[0]) {
		f.Errorf("Conflict of an entry that is back = %+v, %v", kept, err)
	}
	if _, _, err := f.ConflictsBefore(f.ctx, "another", time.Now(), "", 10); err != nil {
		f.Errorf("ConflictsBefore of an empty project: %v", err)
	}
}

// testDropDoc: documents are listed by the prefix of their names, and one is dropped unless it was
// written after it was read.
func testDropDoc(f *fixture) {
	for _, name := range []string{"b:2", "a:1", "b:[x]*", "b", "c:3", "b:1"} {
		f.no("PutDoc", f.PutDoc(f.ctx, f.project, name, []byte("of "+name)))
	}
	list := func(prefix string, want ...string) {
		f.Helper()
		if got, err := f.Docs(f.ctx, f.project, prefix); err != nil || !slices.Equal(got, want) {
			f.Errorf("Docs %q = %q, %v, want %q", prefix, got, err, want)
		}
	}
	list("b:", "b:1", "b:2", "b:[x]*")
	list("", "a:1", "b", "b:1", "b:2", "b:[x]*", "c:3")
	list("d:")
	drop := func(name, data string, want bool) {
		f.Helper()
		if got, err := f.DropDoc(f.ctx, f.project, name, []byte(data)); err != nil || got != want {
			f.Errorf("DropDoc %s = %v, %v, want %v", name, got, err, want)
		}
	}
	drop("b:1", "of b:1 before", false)
	drop("b:1", "of b:1", true)
	drop("b:1", "of b:1", false)
	drop("b:3", "", false)
	list("b:", "b:2", "b:[x]*")
	if _, err := f.Doc(f.ctx, f.project, "b:1"); !errors.Is(err, store.ErrNotFound) {
		f.Errorf("Doc that was dropped: %v, want %v", err, store.ErrNotFound)
	}
	f.no("PutDoc", f.PutDoc(f.ctx, f.project, "empty", nil))
	drop("empty", "", true)
}

func testDropMarks(f *fixture) {
	const n = 9000 // more than a script takes at once
	marks, ids := map[string]string{}, []string{"not there"}
	for i := range n {
		id := fmt.Sprint("card", i)
		marks[id] = "text"
		if i > 0 {
			ids = append(ids, id)
		}
	}
	f.no("PutMarks", f.PutMarks(f.ctx, f.project, "cards", marks))
	f.no("PutMarks", f.PutMarks(f.ctx, f.project, "cards2", map[string]string{"card1": "other"}))
	f.no("DropMarks", f.DropMarks(f.ctx, f.project, "cards", ids))
	f.no("DropMarks", f.DropMarks(f.ctx, f.project, "cards", ids))
	f.no("DropMarks", f.DropMarks(f.ctx, f.project, "cards", nil))
	for set, want := range map[string]map[string]string{"cards": {"card0": "text"}, "cards2": {"card1": "other"}} {
		if got, err := f.Marks(f.ctx, f.project, set); err != nil || !cmp.Equal(store.MarkTexts(got), want) {
			f.Errorf("Marks of %s = %v, %v, want %v", set, got, err, want)
		}
	}
}

// testProjects: a project is known from its first use on; the space of no project is not one.
func testProjects(f *fixture) {
	f.no("PutDoc", f.PutDoc(f.ctx, f.project, "name", nil))
	f.no("PutDoc", f.PutDoc(f.ctx, "", "name", nil))
	got, err := f.Projects(f.ctx)
	if err != nil || !slices.Contains(got, f.project) || slices.Contains(got, "") || slices.Contains(got, "another project") {
		f.Errorf("Projects = %q, %v, want %s among them", got, err, f.project)
	}
}
