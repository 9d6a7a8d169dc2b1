package retention

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/logtest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const project = mapping.ObjectID("54744060c955ca8169c61ee6")

// onBoth runs a test on each of the stores, in fake time that the store's clock follows.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("bolt", func(t *testing.T) {
		path := filepath.Join(memory(t), "planbridge.db")
		synctest.Test(t, func(t *testing.T) {
			s, err := boltstore.Open(path, boltstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			test(t, newWorld(t, s))
		})
	})
	t.Run("redis", func(t *testing.T) {
		url := redistest.Start(t).URL
		synctest.Test(t, func(t *testing.T) {
			s, err := redisstore.Open(t.Context(), redisstore.Options{URL: url, Clock: clock.Runtime{}})
			if err != nil {
				t.Fatal(err)
			}
			test(t, newWorld(t, s))
		})
	})
}

// memory is a directory that costs no disk, where the system has one: years are lived here.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "planbridge")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// world is a store and who sees to what it keeps.
type world struct {
	store.Store
	t     *testing.T
	ctx   context.Context
	rules Rules
	// needed are the documents that something needs, and carried what the last pass
	// knew of links.
	needed  map[string]bool
	carried Names
	retired []mapping.ObjectID // projects whose milestones were seen to
	cards   cards
	log     logtest.Text
	guard   *guard.Guard
	made    int
}

func newWorld(t *testing.T, s store.Store) *world {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{Store: s, t: t, ctx: t.Context(), rules: Rules{Ledger: 8760 * time.Hour}, needed: map[string]bool{}}
	w.guard = guard.New(w.logger())
	return w
}

func (w *world) logger() *slog.Logger { return slog.New(slog.NewTextHandler(&w.log, nil)) }

// keeper is another process's, which works on s.
func (w *world) keeper(s Store) *Keeper {
	return New(Options{
		Store: s, Owner: mapping.NewID(), Clock: clock.Runtime{}, Needs: worldNeeds{w}, Logger: w.logger(), Guard: w.guard,
	})
}

// worldNeeds tells what of a world is needed.
type worldNeeds struct{ w *world }

func (n worldNeeds) Rules() Rules { return n.w.rules }

func (n worldNeeds) Families(ctx context.Context, carried Names) []Family {
	return n.w.families(ctx, carried)
}

func (n worldNeeds) Items(ctx context.Context, project mapping.ObjectID, carried Names) ([]Items, error) {
	return n.w.items(ctx, project, carried)
}

func (n worldNeeds) RetireMilestones(_ context.Context, project mapping.ObjectID) error {
	n.w.retired = append(n.w.retired, project)
	return nil
}

// families are documents of repositories, and of routes in the project's space.
func (w *world) families(_ context.Context, carried Names) []Family {
	w.carried = carried
	of := func(project mapping.ObjectID, prefix string) Family {
		return Family{project, prefix, func(_ context.Context, name string) (bool, error) { return w.needed[prefix+name], nil }}
	}
	return []Family{of("", "repository:"), of("", "since:"), of(project, "route:")}
}

// pass does a pass, whenever the last one was.
func (w *world) pass() {
	w.t.Helper()
	w.no(w.again())
}

func (w *world) again() error {
	w.forgetLast()
	return w.keeper(w.Store).Pass(w.ctx, func(string) {})
}

// forgetLast lets the next pass be due.
func (w *world) forgetLast() {
	w.t.Helper()
	w.no(w.PutDoc(w.ctx, "", docLast, nil))
}

func (w *world) no(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// conflict stores a settled conflict of so long ago, as it is changed.
func (w *world) conflict(age time.Duration, change ...func(*mapping.Conflict)) mapping.Conflict {
	w.t.Helper()
	w.made++
	c := mapping.Conflict{
		ID: fmt.Sprintf("c%04d", w.made), Link: "l", Project: project, Route: "web", Where: "acme/web#12", Attribute: mapping.Summary,
		GitHub: "GitHub's text\nof two lines", Planning: "planning's", Winner: mapping.Planning, Rule: "policy merge", State: mapping.ConflictSettled,
		At: time.Now().Add(-age).UTC().Truncate(time.Millisecond),
	}
	for _, f := range change {
		f(&c)
	}
	w.no(w.PutConflict(w.ctx, c))
	return c
}

// ids lists the ledger's entries, newest first.
func (w *world) ids() (ids []string) {
	w.t.Helper()
	all, _, err := w.Conflicts(w.ctx, project, "", 10_000)
	w.no(err)
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}
