package bridge_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/clock"
	"planbridge/bridge/githubtest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// nearlyFull is a store that refuses what it would have to grow for, and takes everything else.
type nearlyFull struct {
	store.Store
	full  *atomic.Bool
	pings *atomic.Int64
}

func (s nearlyFull) refusal() error {
	if s.full.Load() {
		return fmt.Errorf("%w: no space left on device", store.ErrNoRoom)
	}
	return nil
}

func (s nearlyFull) Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	if err := s.refusal(); err != nil {
		return nil, err
	}
	return s.Store.Observe(ctx, project, obs)
}

func (s nearlyFull) Ping(ctx context.Context) error {
	s.pings.Add(1)
	return s.refusal()
}

// TestAStoreThatIsNearlyFull: heartbeats and claims of a store without room may go through. The
// process is not ready all the same. The log, the page and /readyz say so until there is room.
func TestAStoreThatIsNearlyFull(t *testing.T) {
	t.Parallel()
	memory := memstore.New(memstore.Options{Clock: clock.Runtime{}, QueueLimit: 1000})
	s := nearlyFull{full: new(atomic.Bool), pings: new(atomic.Int64)}
	w := newLoggedWorld(t, bridgetest.Options{OpenStore: func() store.Store { s.Store = memory.Open(nil); return s }})
	s.full.Store(true)
	before := s.pings.Load()
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "two" })
	w.Await("it is noticed", func() bool { return w.log.Lines(`fact="the store is full"`) > 0 })
	w.Await("the store is asked again", func() bool { return s.pings.Load() > before+1 })
	if code := status(t, w.AdminURL()+"/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz of a full store = %d", code)
	}
	if says := strings.Join(pageProblems(t, w.World), "\n"); !strings.Contains(says, "The store takes no writes, and nothing is synchronised until it does") {
		t.Errorf("the page has the problems\n%s", says)
	}
	if text := w.written(); strings.Contains(text, `over="the store is full"`) {
		t.Errorf("a full store is no longer full:\n%s", text)
	}

	s.full.Store(false)
	w.Await("ready", func() bool { return status(t, w.AdminURL()+"/readyz") == http.StatusOK })
	w.Await("it follows", func() bool { return w.Project.Cards()[0].Title == "two" })
	w.awaitOver("the store is full")
	w.expectOne("the store is full")
}
