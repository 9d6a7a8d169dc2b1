package preflight_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/logtest"
	"planbridge/bridge/preflight"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// source is the configuration in force; a reload makes it another version.
type source struct {
	w       *world
	version int
}

func (s *source) Configuration() (*preflight.Plan, preflight.Services, any) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return s.w.plan, s.w, s.version
}

// found is what a Prover found last.
type found []status.Fault

func (f *found) Proven(faults []status.Fault) { *f = faults }

// TestProver: each fault is one line when it is found and one when it is repaired. A service
// that is away proves nothing.
func TestProver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, log := newWorld(t), &logtest.Text{}
		in := &source{w: w}
		logger := slog.New(slog.NewTextHandler(log, nil))
		var stand found
		prover := preflight.NewProver(preflight.ProverOptions{
			Source: in, Every: time.Minute, Clock: clock.Runtime{}, Guard: guard.New(logger), Logger: logger,
			Monitor: &stand,
		})
		ctx, stop := context.WithCancel(t.Context())
		go prover.Run(ctx)
		set := func(change func()) {
			w.mu.Lock()
			defer w.mu.Unlock()
			change()
		}
		broken, works := func() int { return log.Lines("does not work") }, func() int { return log.Lines("works again") }
		expect := func(what string, faults, repairs int) {
			t.Helper()
			time.Sleep(3 * time.Minute)
			synctest.Wait()
			if broken() != faults || works() != repairs || len(stand) != faults-repairs {
				t.Errorf("%s: %d lines of faults and %d of repairs, want %d and %d; there stand %q:\n%s", what, broken(), works(), faults, repairs, stand, log)
			}
		}
		expect("of a sound configuration", 0, 0)
		repository(func(r *preflight.Repository) { r.HasIssues = false })(w)
		expect("nothing was doubtful", 0, 0)
		set(func() { in.version++ })
		expect("after a reload", 1, 0)
		set(func() { w.away = mapping.ErrUnavailable })
		expect("while GitHub is away", 1, 0)
		set(func() { w.away = nil })
		expect("while it stays so", 1, 0)
		repository(func(r *preflight.Repository) { r.HasIssues = true })(w)
		expect("after it was repaired", 1, 1)
		repository(func(r *preflight.Repository) { r.HasIssues = false })(w)
		set(func() { in.version++ })
		expect("after another reload", 2, 1)
		repository(func(r *preflight.Repository) { r.HasIssues = true })(w)
		set(func() { in.version++ })
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if works() != 1 || log.Lines("a fault of the configuration before is gone") != 1 || len(stand) != 0 {
			t.Errorf("of another configuration nothing works again:\n%s", log)
		}
		stop()
		synctest.Wait()
	})
}

// documents keep which operators were told of what.
type documents map[string]string

func (d documents) Doc(_ context.Context, _ mapping.ObjectID, name string) ([]byte, error) {
	if text, ok := d[name]; ok {
		return []byte(text), nil
	}
	return nil, store.ErrNotFound
}

func (d documents) PutDoc(_ context.Context, _ mapping.ObjectID, name string, data []byte) error {
	d[name] = string(data)
	return nil
}

// seen is who can read repositories.
type seen struct {
	public map[string]bool
	err    error
}

func (s seen) Private(_ context.Context, repo string) (bool, error) { return !s.public[repo], s.err }

func (s seen) PublicOf(_ context.Context, owner string) (names []string, err error) {
	for name := range mapping.Sorted(s.public) {
		if strings.HasPrefix(name, owner+"/") {
			names = append(names, name)
		}
	}
	return names, s.err
}

// TestQuarantineNotice: an operator is warned once of a route whose public repositories have a
// quarantine that the configuration does not speak of.
func TestQuarantineNotice(t *testing.T) {
	w := newWorld(t)
	w.route(
		mapping.Route{Name: "web", Repositories: []string{"acme/web"}}, mapping.Route{Name: "said", Repositories: []string{"acme/said"}},
		mapping.Route{Name: "all", Repositories: []string{"octo/*"}}, mapping.Route{Name: "inner", Repositories: []string{"acme/inner"}},
	)
	for _, route := range []string{"web", "all", "inner"} {
		w.plan.QuarantineUnsaid[route] = true
	}
	kept, log := documents{}, &logtest.Text{}
	give := func(v preflight.Visibility) error {
		return preflight.QuarantineNotice{Source: &source{w: w}, Store: kept, Visibility: v, Logger: slog.New(slog.NewTextHandler(log, nil))}.Give(t.Context())
	}
	away := errors.New("away")
	if err := give(seen{err: away}); !errors.Is(err, away) || len(kept) != 0 {
		t.Errorf("while GitHub is away: %v, told %v", err, kept)
	}
	public := seen{public: map[string]bool{"acme/web": true, "acme/said": true, "octo/open": true}}
	for range 2 {
		if err := give(public); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) != 2 || kept[preflight.DocQuarantine("web")] == "" || kept[preflight.DocQuarantine("all")] == "" {
		t.Errorf("told of %v", kept)
	}
	if n := log.Lines("anybody can open issues"); n != 2 {
		t.Errorf("warned %d times", n)
	}
}
