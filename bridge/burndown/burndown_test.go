package burndown_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"planbridge/bridge/burndown"
	"planbridge/bridge/logtest"
	"planbridge/mapping"
	"planbridge/store/memstore"
)

const project = mapping.ObjectID("p1")

// world is a project whose sprints all have the same chart.
type world struct {
	t        *testing.T
	now      time.Time
	left     float64 // hours, on the chart
	err      error   // of each reading of a chart
	asked    int     // how many charts were read
	log      logtest.Text
	store    *memstore.Store
	recorder *burndown.Recorder
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: time.Date(2031, 3, 3, 9, 0, 0, 0, time.UTC), left: 8}
	w.store = memstore.New(memstore.Options{Clock: w}).Open(nil)
	w.recorder = burndown.NewRecorder(burndown.Options{
		Project: project, Charts: w, Store: w.store, Clock: w, Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
	return w
}

func (w *world) Now() time.Time { return w.now }

func (w *world) Burndown(context.Context, mapping.ObjectID) (mapping.Burndown, error) {
	w.asked++
	return mapping.Burndown{Original: 9, Remaining: []float64{w.left}}, w.err
}

// kept is what is kept, as "title hours", with a star on those of active sprints.
func (w *world) kept() (out []string) {
	w.t.Helper()
	charts, err := burndown.Read(w.t.Context(), w.store, project)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range charts {
		star := ""
		if c.Active {
			star = "*"
		}
		out = append(out, fmt.Sprintf("%s %g%s", c.Title, c.Remaining[0], star))
	}
	return out
}

func (w *world) record(after time.Duration, active ...burndown.Sprint) {
	w.now = w.now.Add(after)
	w.recorder.Record(w.t.Context(), active)
}

func (w *world) expect(what string, asked int, kept ...string) {
	w.t.Helper()
	if got := w.kept(); w.asked != asked || fmt.Sprint(got) != fmt.Sprint(kept) {
		w.t.Errorf("%s: %d charts were read, want %d; kept %q, want %q", what, w.asked, asked, got, kept)
	}
}

var one, two = burndown.Sprint{ID: "s1", Title: "One"}, burndown.Sprint{ID: "s2", Title: "Two"}

// TestRecordReadsNowAndThen: every five minutes, and when the active sprints changed.
func TestRecordReadsNowAndThen(t *testing.T) {
	w := newWorld(t)
	w.record(0, one)
	w.left = 5
	w.record(burndown.Every-1, one)
	w.expect("within five minutes", 1, "One 8*")
	w.record(1, one)
	w.expect("after five minutes", 2, "One 5*")
	renamed := one
	renamed.Title = "Uno"
	w.record(1, renamed)
	w.expect("after it was renamed", 3, "Uno 5*")
	renamed.End = w.now.Add(time.Hour)
	w.record(1, renamed)
	w.expect("after it was made longer", 4, "Uno 5*")
	w.left = 9
	w.record(1, two)
	w.expect("after the next sprint has begun", 5, "Two 9*", "Uno 5")
	w.record(1)
	w.expect("after all have ended", 5, "Two 9", "Uno 5")
	w.record(burndown.Every)
	w.expect("while none is active", 5, "Two 9", "Uno 5")
	w.record(1, one)
	w.expect("after one is active again", 6, "One 9*", "Two 9")
}

// TestRecordKeepsTheLastCharts: a failed reading leaves the kept charts, and it is logged once
// until a reading succeeds.
func TestRecordKeepsTheLastCharts(t *testing.T) {
	w := newWorld(t)
	w.record(0, one)
	w.err = mapping.ErrNotFound
	for range 3 {
		w.record(burndown.Every, one)
	}
	w.expect("while none can be read", 4, "One 8*")
	if n := w.log.Lines("burndowns could not be read"); n != 1 {
		t.Errorf("it was logged %d times:\n%s", n, w.log.String())
	}
	w.err, w.left = nil, 4
	w.record(burndown.Every, one)
	w.err = mapping.ErrNotFound
	w.record(burndown.Every, one)
	w.expect("after one more was read", 6, "One 4*")
	if n := w.log.Lines("burndowns could not be read"); n != 2 {
		t.Errorf("it was logged %d times:\n%s", n, w.log.String())
	}
}

// TestEndedSprintsAreBounded: the charts that were read longest ago are given up.
func TestEndedSprintsAreBounded(t *testing.T) {
	w := newWorld(t)
	for n := range burndown.Kept + 5 {
		w.record(time.Minute, burndown.Sprint{ID: mapping.ObjectID(fmt.Sprint(n)), Title: fmt.Sprint(n)})
	}
	kept := w.kept()
	if len(kept) != burndown.Kept+1 || kept[0] != "24 8*" || kept[1] != "23 8" || kept[burndown.Kept] != "4 8" {
		t.Errorf("%d are kept: %q", len(kept), kept)
	}
}

// TestReadTellsDamage: a document that is no list of charts is an error, none is no chart.
func TestReadTellsDamage(t *testing.T) {
	w := newWorld(t)
	if got, err := burndown.Read(t.Context(), w.store, project); got != nil || err != nil {
		t.Errorf("of a new store: %v, %v", got, err)
	}
	if err := w.store.PutDoc(t.Context(), project, "burndown", []byte("{")); err != nil {
		t.Fatal(err)
	}
	if _, err := burndown.Read(t.Context(), w.store, project); err == nil {
		t.Error("damage was read")
	}
	w.store.Crash()
	if _, err := burndown.Read(t.Context(), w.store, project); !errors.Is(err, memstore.ErrCrashed) {
		t.Errorf("of a store that is away: %v", err)
	}
	w.record(0, one)
	if n := w.log.Lines("burndowns could not be read"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}
