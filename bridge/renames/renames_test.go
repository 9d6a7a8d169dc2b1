package renames_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/identity"
	"planbridge/bridge/logtest"
	"planbridge/bridge/renames"
	"planbridge/bridge/settings"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// replica is one process of several on a store.
type replica struct {
	*renames.Follower
	t     *testing.T
	set   *settings.Current
	store *memstore.Store
	log   logtest.Text
	links []string // the links' calls
}

func (r *replica) Renamed(from, to string) { r.links = append(r.links, from+" → "+to) }

func (r *replica) Locate(_ context.Context, name string, _ int64, _ time.Time) (string, error) {
	return name, nil
}

// routes is which repositories the routes name, in the order of the file.
func (r *replica) routes() (names []string) {
	for _, route := range r.set.Routes().All() {
		names = append(names, route.Repositories...)
	}
	return names
}

func (r *replica) expect(what string, routes ...string) {
	r.t.Helper()
	if got := r.routes(); fmt.Sprint(got) != fmt.Sprint(routes) {
		r.t.Errorf("%s the routes name %q, want %q", what, got, routes)
	}
}

func memory() *memstore.Memory {
	return memstore.New(memstore.Options{Clock: clock.Runtime{}})
}

func newReplica(t *testing.T, m *memstore.Memory, repositories ...string) *replica {
	r := &replica{t: t, store: m.Open(nil)}
	c := &config.Config{}
	for _, repository := range repositories {
		c.Routes = append(c.Routes, config.Route{Name: repository, Repository: repository})
	}
	r.set = settings.NewCurrent(settings.New(c, false, time.Now()))
	r.Follower = r.follower(r.store)
	return r
}

func (r *replica) follower(s renames.Store) *renames.Follower {
	return renames.New(renames.Options{Store: s, Settings: r.set, Repositories: r, Links: r, Timeout: clock.Timeout(time.Minute), Clock: clock.Runtime{}, Logger: slog.New(slog.NewTextHandler(&r.log, nil))})
}

func (r *replica) do(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestFollow: an exact route follows its repository, and takes the progress of its listing along.
// The links of a repository that no route names adopt the new name by themselves.
func TestFollow(t *testing.T) {
	r := newReplica(t, memory(), "acme/web", "acme/api", "octo/*")
	r.do(r.store.PutDoc(t.Context(), "", store.DocRepositoryAdopted("acme/web"), []byte("epoch")))
	r.do(r.Follow(t.Context(), "Acme/Web", "acme/site"))
	r.expect("after a rename", "acme/site", "acme/api", "octo/*")
	if doc, err := r.store.Doc(t.Context(), "", store.DocRepositoryAdopted("acme/site")); err != nil || string(doc) != "epoch" {
		t.Errorf("how far it was looked through is %q, %v", doc, err)
	}
	if n := r.log.Lines("a repository was renamed"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
	r.do(r.Follow(t.Context(), "octo/old", "octo/new"))
	if fmt.Sprint(r.links) != "[octo/old → octo/new]" {
		t.Errorf("the links were told %q", r.links)
	}
	for _, none := range [][2]string{{"acme/api", "ACME/API"}, {"", "acme/x"}, {"acme/api", ""}} {
		r.do(r.Follow(t.Context(), none[0], none[1]))
	}
	r.expect("after renames that are none", "acme/site", "acme/api", "octo/*")
	if len(r.links) != 1 {
		t.Errorf("the links were told %q", r.links)
	}
}

// TestLearn: another replica goes by the new names, as does the next process.
func TestLearn(t *testing.T) {
	m := memory()
	first, second := newReplica(t, m, "acme/web", "acme/api"), newReplica(t, m, "acme/web", "acme/api")
	second.do(second.Learn(t.Context()))
	second.expect("before anything was renamed", "acme/web", "acme/api")
	first.do(first.Follow(t.Context(), "acme/web", "acme/site"))
	for range 2 {
		second.do(second.Learn(t.Context()))
		second.expect("after it learned of it", "acme/site", "acme/api")
	}
	if n := second.log.Lines("as it was called before"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

// TestLearnForgets: a name that the configuration has no more is forgotten, for all.
func TestLearnForgets(t *testing.T) {
	m := memory()
	first := newReplica(t, m, "acme/web", "acme/api")
	first.do(first.Follow(t.Context(), "acme/web", "acme/site"))
	first.do(first.Follow(t.Context(), "acme/api", "acme/rest"))
	changed := newReplica(t, m, "acme/site", "acme/api")
	changed.do(changed.Learn(t.Context()))
	changed.expect("with one name changed", "acme/site", "acme/rest")
	if names, err := identity.Renames(t.Context(), changed.store); err != nil || fmt.Sprint(names) != "map[acme/api:acme/rest]" {
		t.Errorf("the store keeps %v, %v", names, err)
	}
}

// TestFollowNeedsTheStore: a rename that the store could not keep is not followed, so that the next
// event is.
func TestFollowNeedsTheStore(t *testing.T) {
	r := newReplica(t, memory(), "acme/web")
	r.store.Crash()
	if err := r.Follow(t.Context(), "acme/web", "acme/site"); !errors.Is(err, memstore.ErrCrashed) {
		t.Errorf("followed with %v", err)
	}
	r.expect("while the store is away", "acme/web")
	if err := r.Learn(t.Context()); !errors.Is(err, memstore.ErrCrashed) {
		t.Errorf("learned with %v", err)
	}
}

// silent is a store that answers no list before the context ends.
type silent struct{ renames.Store }

func (silent) Docs(ctx context.Context, _ mapping.ObjectID, _ string) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestIdentifyWaitsNoLongerThanItMay: while a reload waits for a silent store, others that want
// to identify routes end with their own contexts.
func TestIdentifyWaitsNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t, memory(), "acme/web")
		f := r.follower(silent{r.store})
		long, end := context.WithTimeout(t.Context(), time.Hour)
		defer end()
		reloaded := make(chan error)
		go func() { reloaded <- f.IdentifyNow(long) }()
		synctest.Wait()
		short, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		began := time.Now()
		if err := f.IdentifyNow(short); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Second {
			t.Errorf("it ended after %s with %v", time.Since(began), err)
		}
		if err := <-reloaded; !errors.Is(err, context.DeadlineExceeded) || time.Since(began) < time.Hour {
			t.Errorf("the reload ended after %s with %v", time.Since(began), err)
		}
		r.expect("after neither had an answer", "acme/web")
	})
}
