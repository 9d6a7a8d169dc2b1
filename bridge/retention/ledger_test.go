package retention

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
	"planbridge/store"
)

const year = 8760 * time.Hour

func state(s string) func(*mapping.Conflict) { return func(c *mapping.Conflict) { c.State = s } }

// TestLedgerExpires: settled entries go after the retention, in any number of pages; entries that
// wait for an answer, or changed since, stay.
func TestLedgerExpires(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		lately := time.Now().Add(-time.Hour).UTC()
		stay := []mapping.Conflict{
			w.conflict(time.Hour),
			w.conflict(year - time.Minute),
			w.conflict(2*year, state(mapping.ConflictOpen)),
			w.conflict(2*year, state(mapping.ConflictAnswered)),
			w.conflict(2*year, func(c *mapping.Conflict) { c.Settled = lately }),
			w.conflict(2*year, func(c *mapping.Conflict) { c.State, c.Settled = mapping.ConflictUndone, lately }),
			w.conflict(2*year, func(c *mapping.Conflict) { c.Again = lately }),
		}
		for i := range 2*ledgerPage + 50 {
			w.conflict(year + time.Duration(i+1)*time.Hour)
			if i%3 == 0 {
				w.conflict(year+time.Duration(i+1)*time.Hour, state(mapping.ConflictUndone))
			}
		}
		w.conflict(2*year, state(mapping.ConflictErased))
		w.rules.Ledger = 0
		all := w.ids()
		if w.pass(); !slices.Equal(w.ids(), all) {
			t.Errorf("with a retention of 0 %d conflicts went", len(all)-len(w.ids()))
		}
		w.rules.Ledger = year
		w.pass()
		got, want := w.ids(), []string{}
		for _, c := range stay {
			want = append(want, c.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("conflicts %q stay, want %q", got, want)
		}
		if !strings.Contains(w.log.String(), "conflicts expired") {
			t.Errorf("the log does not say that conflicts expired:\n%s", w.log.String())
		}
	})
}

// TestLedgerKeepsWhatIsUndone: a conflict stays while its link, or a part of it, is to
// write its loser back.
func TestLedgerKeepsWhatIsUndone(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		undo := func() map[mapping.Attribute]string {
			return map[mapping.Attribute]string{mapping.Summary: w.conflict(2 * year).ID}
		}
		l := &mapping.Link{ID: "l", Project: project, Route: "web", Pair: mapping.Pair{State: mapping.Linked, Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12}, Disputes: mapping.Disputes{Undo: undo()}}}
		l.SubLinks = []*mapping.Pair{{Kind: mapping.SubIssue, Issue: mapping.IssueID{ID: 8}, Disputes: mapping.Disputes{Undo: undo()}}}
		l.Children = []*mapping.Pair{{Kind: mapping.Checklist, Card: mapping.CardID{ID: "t"}, Disputes: mapping.Disputes{Undo: undo()}}}
		_, err := w.Observe(w.ctx, project, []store.Observation{{Create: l}})
		w.no(err)
		w.conflict(2 * year)
		w.pass()
		if got := w.ids(); len(got) != 3 {
			t.Errorf("conflicts %q stay, want the three that are to be undone", got)
		}
	})
}

// archived reads the archive.
func archived(t *testing.T, path string) (cs []mapping.Conflict) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(data, []byte("\n")) {
		t.Errorf("the archive ends in %q", data[max(0, len(data)-20):])
	}
	for line := range bytes.Lines(data) {
		var c mapping.Conflict
		if err := json.Unmarshal(line, &c); err != nil {
			continue // the test says what else stands there
		}
		cs = append(cs, c)
	}
	return cs
}

// dropping is a store that looks at what is removed, and may fail.
type dropping struct {
	store.Store
	look func(cs []mapping.Conflict) error
}

func (d *dropping) DropConflicts(ctx context.Context, project mapping.ObjectID, cs []mapping.Conflict) (int, error) {
	if err := d.look(cs); err != nil {
		return 0, err
	}
	return d.Store.DropConflicts(ctx, project, cs)
}

// TestLedgerArchive: each removed entry is whole in the archive before, also where the process ends
// between the two, or ended within a line.
func TestLedgerArchive(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		path := filepath.Join(t.TempDir(), "ledger.jsonl")
		w.rules.Archive = path
		w.no(os.WriteFile(path, []byte(`{"id":"half a li`), 0o600))
		var all []mapping.Conflict
		for range ledgerPage + 1 {
			all = append(all, w.conflict(2*year))
		}
		w.conflict(time.Hour)
		crash := errors.New("the process ended")
		removed := 0
		d := &dropping{Store: w.Store, look: func(cs []mapping.Conflict) error {
			kept := archived(t, path)
			for _, c := range cs {
				if !slices.ContainsFunc(kept, func(a mapping.Conflict) bool { return cmp.Equal(a, c) }) {
					t.Errorf("%s is removed and not archived", c.ID)
				}
			}
			if removed += len(cs); removed > ledgerPage {
				return crash
			}
			return nil
		}}
		w.forgetLast()
		if err := w.keeper(d).Pass(w.ctx, func(string) {}); !errors.Is(err, crash) {
			t.Fatalf("Pass = %v, want %v", err, crash)
		}
		if got := len(w.ids()); got != 2 {
			t.Fatalf("%d conflicts stay, want the one that was not removed and the young one", got)
		}
		w.pass()
		if got := len(w.ids()); got != 1 {
			t.Errorf("%d conflicts stay, want the young one", got)
		}
		kept := archived(t, path)
		for _, c := range all {
			if !slices.ContainsFunc(kept, func(a mapping.Conflict) bool { return cmp.Equal(a, c) }) {
				t.Errorf("the archive lacks %s", c.ID)
			}
		}
		if len(kept) != len(all)+1 {
			t.Errorf("the archive has %d conflicts, want %d and one of them twice", len(kept), len(all))
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the archive's mode is %v, %v", info.Mode(), err)
		}
	})
}

// TestLedgerArchiveFails: where the archive cannot be written nothing is removed, and
// the failures say so until it can.
func TestLedgerArchiveFails(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		dir := filepath.Join(t.TempDir(), "not", "there")
		w.rules.Archive = filepath.Join(dir, "ledger.jsonl")
		c := w.conflict(2 * year)
		for range 2 {
			if err := w.again(); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Pass = %v, want %v", err, os.ErrNotExist)
			}
			if got := w.ids(); !slices.Equal(got, []string{c.ID}) {
				t.Fatalf("conflicts %q stay, want %s", got, c.ID)
			}
			if fs := w.guard.Failures(); len(fs) != 1 || fs[0].Item != w.rules.Archive || !strings.Contains(fs[0].Reason, "no such file") {
				t.Errorf("failures %+v", fs)
			}
			if due, err := w.keeper(w.Store).Due(w.ctx); err != nil || !due {
				t.Errorf("Due = %v, %v: a pass that failed is to be tried again soon", due, err)
			}
		}
		if n := strings.Count(w.log.String(), "ledger archive"); n == 0 {
			t.Errorf("the log does not say it:\n%s", w.log.String())
		}
		w.no(os.MkdirAll(dir, 0o700))
		w.pass()
		if got := w.ids(); len(got) != 0 {
			t.Errorf("conflicts %q stay", got)
		}
		if fs := w.guard.Failures(); len(fs) != 0 {
			t.Errorf("failures %+v", fs)
		}
	})
}

// TestLedgerChangesMeanwhile: a conflict that is asked anew after it was read stays.
func TestLedgerChangesMeanwhile(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.conflict(2 * year)
		d := &dropping{Store: w.Store, look: func([]mapping.Conflict) error {
			c.State = mapping.ConflictOpen
			return w.PutConflict(w.ctx, c)
		}}
		w.forgetLast()
		w.no(w.keeper(d).Pass(w.ctx, func(string) {}))
		if got := w.ids(); !slices.Equal(got, []string{c.ID}) {
			t.Errorf("conflicts %q stay, want %s", got, c.ID)
		}
	})
}

// TestOnePassAtATime: one replica does a pass, and none before the next one is due.
func TestOnePassAtATime(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.conflict(2 * year)
		for range 2 {
			if due, err := w.keeper(w.Store).Due(w.ctx); err != nil || due {
				t.Errorf("Due at the first start = %v, %v", due, err)
			}
		}
		other := mapping.NewID()
		if held, err := w.Acquire(w.ctx, leaseName, other, time.Minute); err != nil || !held {
			t.Fatal(held, err)
		}
		w.pass()
		if got := w.ids(); !slices.Equal(got, []string{c.ID}) {
			t.Errorf("a replica without the lease leaves %q", got)
		}
		w.no(w.Release(w.ctx, leaseName, other))
		d := &dropping{Store: w.Store, look: func([]mapping.Conflict) error {
			if held, err := w.Acquire(w.ctx, leaseName, other, time.Minute); err != nil || held {
				t.Errorf("another replica gets the lease within a pass: %v, %v", held, err)
			}
			return nil
		}}
		w.forgetLast()
		w.no(w.keeper(d).Pass(w.ctx, func(string) {}))
		if got := w.ids(); len(got) != 0 {
			t.Errorf("conflicts %q stay", got)
		}
		w.conflict(2 * year)
		due, err := w.keeper(w.Store).Due(w.ctx)
		w.no(err)
		w.no(w.keeper(w.Store).Pass(w.ctx, func(string) {}))
		if due || len(w.ids()) != 1 {
			t.Errorf("after a pass the next is due at once: %v, %q", due, w.ids())
		}
		w.no(w.PutDoc(w.ctx, "", docLast, []byte(time.Now().Add(-Every).UTC().Format(time.RFC3339))))
		if due, err := w.keeper(w.Store).Due(w.ctx); err != nil || !due {
			t.Errorf("Due a day later = %v, %v", due, err)
		}
	})
}
