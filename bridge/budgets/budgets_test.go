package budgets

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/clock"
	"planbridge/bridge/github"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// shelf is a store that answers as it is told and notes what it was asked.
type shelf struct {
	grant store.Grant
	taken map[string][2]int        // in the last minute and hour, by budget
	held  map[string]time.Duration // by name
	err   error

	asked store.Budget
	ask   store.Ask
}

func (s *shelf) Take(_ context.Context, b store.Budget, ask store.Ask) (store.Grant, error) {
	s.asked, s.ask = b, ask
	return s.grant, s.err
}

func (s *shelf) Taken(_ context.Context, name string) (minute, hour int, err error) {
	return s.taken[name][0], s.taken[name][1], s.err
}

func (s *shelf) Hold(_ context.Context, name string, d time.Duration) error {
	s.held[name] = d
	return s.err
}

func (s *shelf) Held(_ context.Context, names ...string) ([]time.Duration, error) {
	out := make([]time.Duration, len(names))
	for i, name := range names {
		out[i] = s.held[name]
	}
	return out, s.err
}

type limits Limits

func (l limits) WriteLimits() Limits { return Limits(l) }

func budgets(s *shelf, l limits) *Budgets {
	return New(Options{Store: s, Settings: l, Clock: clock.Runtime{}})
}

// TestBudgetOfAClass: writes that make issues and comments have a budget of the minute and of the
// hour, all others one of the minute. Both rest while GitHub asks any replica to.
func TestBudgetOfAClass(t *testing.T) {
	b := budgets(&shelf{}, limits{ContentPerMinute: 70, ContentPerHour: 450, EditsPerMinute: 60})
	holds := []string{"github:all", "github:core"}
	for class, want := range map[github.WriteClass]store.Budget{
		github.ClassContent: {Name: "github", PerMinute: 70, PerHour: 450, Burst: 20, Holds: holds},
		github.ClassEdit:    {Name: "github:edits", PerMinute: 60, Burst: 20, Holds: holds},
	} {
		if diff := cmp.Diff(want, b.Budget(class)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", class, diff)
		}
	}
}

// TestTakeWrite has a row for each answer of the store. A write goes, waits for its share, waits as
// GitHub told another replica to, or fails with the store.
func TestTakeWrite(t *testing.T) {
	away := errors.New("the store is away")
	for name, tt := range map[string]struct {
		shelf    shelf
		wait     time.Duration
		resource string // of the limit that it meets; "": none
		err      error
	}{
		"it goes":                   {shelf{grant: store.Grant{Items: 1}}, 0, "", nil},
		"it waits for its share":    {shelf{grant: store.Grant{Wait: time.Second}}, time.Second, "", nil},
		"everything is held":        {shelf{grant: store.Grant{Wait: time.Minute, Held: true}, held: map[string]time.Duration{"github:all": time.Minute}}, time.Minute, "all", nil},
		"writes are held":           {shelf{grant: store.Grant{Wait: time.Minute, Held: true}, held: map[string]time.Duration{"github:core": time.Minute}}, time.Minute, "core", nil},
		"writes are held longer":    {shelf{grant: store.Grant{Wait: time.Minute, Held: true}, held: map[string]time.Duration{"github:all": time.Second, "github:core": time.Minute}}, time.Minute, "core", nil},
		"everything is held longer": {shelf{grant: store.Grant{Wait: time.Minute, Held: true}, held: map[string]time.Duration{"github:all": time.Minute, "github:core": time.Second}}, time.Minute, "all", nil},
		"the store is away":         {shelf{grant: store.Grant{Held: true}, err: away}, 0, "", away},
	} {
		wait, err := budgets(&tt.shelf, limits{}).TakeWrite(t.Context(), github.ClassEdit)
		if limit, limited := errors.AsType[*mapping.RateLimited](err); limited {
			if limit.Resource != tt.resource || limit.After != tt.wait || limit.API != "github" || limit.Why == "" {
				t.Errorf("%s: %+v", name, limit)
			}
		} else if tt.resource != "" || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v", name, err)
		}
		if wait != tt.wait || tt.shelf.asked.Name != "github:edits" {
			t.Errorf("%s: it waits %v for %s", name, wait, tt.shelf.asked.Name)
		}
	}
}

// TestLeftOfEachBudget: people see what is left of each window that has a limit, and never less than
// nothing.
func TestLeftOfEachBudget(t *testing.T) {
	s := &shelf{taken: map[string][2]int{"github": {10, 400}, "github:edits": {61, 90}}}
	got, err := budgets(s, limits{ContentPerMinute: 70, ContentPerHour: 450, EditsPerMinute: 60}).Left(t.Context())
	want := []status.Budget{
		{Name: "content", Window: "minute", Left: 60, Of: 70}, {Name: "content", Window: "hour", Left: 50, Of: 450}, {Name: "edits", Window: "minute", Left: 0, Of: 60},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := budgets(&shelf{}, limits{EditsPerMinute: 60}).Left(t.Context()); err != nil || len(got) != 1 || got[0].Left != 60 {
		t.Errorf("without a limit of content: %+v, %v", got, err)
	}
	s.err = errors.New("the store is away")
	if _, err := budgets(s, limits{}).Left(t.Context()); !errors.Is(err, s.err) {
		t.Errorf("the store is away, and the error is %v", err)
	}
}

// TestTakePoints: points are taken from the store, unless the configuration's writes alone would
// take more than its points. Such a configuration is for a server without that limit.
func TestTakePoints(t *testing.T) {
	for name, tt := range map[string]struct {
		limits limits
		items  int
		wait   time.Duration
		asked  int
	}{
		"the usual limits":          {limits{ContentPerMinute: 70, EditsPerMinute: 60, PointsPerMinute: 850}, 7, time.Second, 32},
		"as much as GitHub allows":  {limits{ContentPerMinute: 100, EditsPerMinute: 70, PointsPerMinute: 850}, 7, time.Second, 32},
		"more than GitHub allows":   {limits{ContentPerMinute: 100, EditsPerMinute: 71, PointsPerMinute: 850}, 32, 0, 0},
		"a server that allows more": {limits{ContentPerMinute: 200, EditsPerMinute: 200, PointsPerMinute: 5000}, 7, time.Second, 32},
	} {
		s := &shelf{grant: store.Grant{Items: 7, Wait: time.Second}}
		items, wait, err := budgets(s, tt.limits).TakePoints(t.Context(), 32)
		if items != tt.items || wait != tt.wait || err != nil || s.ask.Items != tt.asked {
			t.Errorf("%s: %d points after %v, %v; %d were asked for", name, items, wait, err, s.ask.Items)
		}
		if want := (store.Budget{Name: "github:points", PerMinute: tt.limits.PointsPerMinute, Burst: 100}); tt.asked > 0 && cmp.Diff(want, s.asked) != "" {
			t.Errorf("%s: taken from %+v", name, s.asked)
		}
	}
}

// TestHolds: GitHub's answer to one replica holds for each resource by its name, for all of them.
func TestHolds(t *testing.T) {
	s := &shelf{held: map[string]time.Duration{}}
	h := Holds{s}
	if err := h.Close(t.Context(), github.ResourceSearch, time.Minute); err != nil || s.held["github:search"] != time.Minute {
		t.Errorf("held are %v, %v", s.held, err)
	}
	left, err := h.Left(t.Context())
	if want := map[string]time.Duration{"all": 0, "core": 0, "search": time.Minute, "graphql": 0}; cmp.Diff(want, left) != "" || err != nil {
		t.Errorf("left alone are %v, %v", left, err)
	}
	s.err = errors.New("the store is away")
	if _, err := h.Left(t.Context()); !errors.Is(err, s.err) {
		t.Errorf("the store is away, and the error is %v", err)
	}
}

// TestWhatIsDoneForNoKey: it is patient, and has reserved no write.
func TestWhatIsDoneForNoKey(t *testing.T) {
	b := budgets(&shelf{}, limits{})
	if got := b.Asker(t.Context()); !got.Patient || got.Reserved || got.Rank != int(store.RankShown) {
		t.Errorf("who asks is %+v", got)
	}
	if b.UseReserved(t.Context(), github.ClassEdit) {
		t.Error("it uses a write that nobody reserved")
	}
}

// TestWaitsBeginAtZero: a class that never waited has a series, too.
func TestWaitsBeginAtZero(t *testing.T) {
	r := prometheus.NewRegistry()
	NewWaits(r).WithLabelValues("edit").Inc()
	families, err := r.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "planbridge_github_write_waits_total" {
		t.Fatalf("registered are %v, %v", families, err)
	}
	waits := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		waits[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	if want := map[string]float64{"content": 0, "edit": 1}; !maps.Equal(waits, want) {
		t.Errorf("waits are %v, want %v", waits, want)
	}
}
