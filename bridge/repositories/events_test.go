package repositories_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/repositories"
	"planbridge/mapping"
	"planbridge/store/boltstore"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a GitHub that answers for repositories alone, and what is remembered of them.
type names struct {
	*repositories.Registry
	t *testing.T
	// byName and byID are what answers; 0 is a failure, what is absent is not found.
	byName map[string]int64
	byID   map[int64]string
	public bool // the answering one is public
	moves  []string
	log    strings.Builder
}

func newNames(t *testing.T) *names {
	t.Helper()
	n := &names{t: t, byName: map[string]int64{}, byID: map[int64]string{}}
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // nothing is read of it any more
	n.Registry = repositories.New(repositories.Options{Store: s, GitHub: n, Routes: n, Logger: slog.New(slog.NewTextHandler(&n.log, nil))})
	return n
}

// Identity implements repositories.GitHub.
func (n *names) Identity(_ context.Context, name string) (repositories.Repository, error) {
	id, ok := n.byName[name]
	got, err := told(id, name, ok)
	got.Private = got.Private && !n.public
	return got, err
}

// RepositoryByID implements repositories.GitHub.
func (n *names) RepositoryByID(_ context.Context, _ string, id int64) (repositories.Repository, error) {
	name, ok := n.byID[id]
	return told(id, name, ok)
}

func told(id int64, name string, ok bool) (repositories.Repository, error) {
	switch {
	case !ok:
		return repositories.Repository{}, mapping.ErrNotFound
	case id == 0:
		return repositories.Repository{}, mapping.ErrUnavailable
	}
	return repositories.Repository{ID: id, FullName: name, Private: true}, nil
}

// HasRoute implements repositories.Routes.
func (n *names) HasRoute(name string) bool { return strings.EqualFold(name, "acme/web") }

// Renamed implements repositories.Routes.
func (n *names) Renamed(_ context.Context, from, to string) error {
	n.moves = append(n.moves, from+" "+to)
	return nil
}

func (n *names) event(name string, id int64, want bool) {
	n.t.Helper()
	if now, err := n.Identify(n.t.Context(), name, id); err != nil || (now == name) != want {
		n.t.Errorf("an event of %s with id %d is of %q, %v; believed: want %t", name, id, now, err, want)
	}
}

func (n *names) called(want string) {
	n.t.Helper()
	now, err := n.Locate(n.t.Context(), "acme/web", 0, time.Now())
	if _, ok := errors.AsType[*mapping.StrangerError](err); ok {
		now, err = "a stranger", nil
	}
	if err != nil || now != want {
		n.t.Errorf("acme/web is %q, %v; want %q", now, err, want)
	}
}

// TestNamesWithoutAnswers: a GitHub that answers for no repository goes on as before,
// whatever ids its events tell, with one warning.
func TestNamesWithoutAnswers(t *testing.T) {
	n := newNames(t)
	for _, id := range []int64{0, 7, 7, 9, 0, 7, 11} {
		n.event("acme/web", id, true)
		n.called("acme/web")
	}
	n.event("acme/other", 7, true)
	if got := strings.Count(n.log.String(), "level=WARN"); got != 1 {
		t.Errorf("%d warnings:\n%s", got, n.log.String())
	}
}

// TestNamesByName: where ids are not answered for, but names are, all is well.
func TestNamesByName(t *testing.T) {
	n := newNames(t)
	n.byName["acme/web"] = 7
	n.event("acme/web", 7, true)
	n.called("acme/web")
	n.event("acme/web", 7, true)
	n.event("acme/web", 8, false) // GitHub says that it is 7
	n.event("acme/web", 0, true)
	if n.log.Len() > 0 || n.moves != nil {
		t.Errorf("moves %v, log:\n%s", n.moves, n.log.String())
	}
}

// TestNamesOfEventsAreCorrected: an event is believed before GitHub has told anything,
// and GitHub is when it does.
func TestNamesOfEventsAreCorrected(t *testing.T) {
	n := newNames(t)
	n.byName["acme/web"] = 7
	n.event("acme/web", 6, true)
	n.called("acme/web")
	n.event("acme/web", 6, false)
	n.event("acme/web", 7, true)
}

// TestNamesTaken: another repository has the name, and the one that had it has another
// one or is gone.
func TestNamesTaken(t *testing.T) {
	n := newNames(t)
	n.byName["acme/web"], n.byID[7] = 7, "acme/web"
	n.called("acme/web")
	n.byName["acme/web"], n.byID[7], n.byID[8] = 8, "acme/site", "acme/web"
	n.event("acme/web", 8, false)
	n.called("acme/site")
	n.event("acme/web", 0, false) // the name alone leads to the other one
	n.event("acme/site", 7, true)
	delete(n.byID, 7)
	n.called("a stranger")
	n.event("acme/web", 8, false)
	if got := strings.Count(n.log.String(), "level=ERROR"); got != 1 || !strings.Contains(n.log.String(), "planbridge accept repository acme/web") {
		t.Errorf("%d errors:\n%s", got, n.log.String())
	}
	n.byName["acme/web"], n.byID[7] = 7, "acme/web" // and it is back
	n.called("acme/web")
	n.event("acme/web", 7, true)
	if len(n.moves) == 0 || n.moves[0] != "acme/web acme/site" {
		t.Errorf("moves %v", n.moves)
	}
}

// TestNamesUnanswered: while GitHub fails, its earlier answers stand. Without an earlier answer
// nothing may be written, and an event with another id is put off.
func TestNamesUnanswered(t *testing.T) {
	n := newNames(t)
	n.byName["acme/web"] = 0
	if now, err := n.Locate(t.Context(), "acme/web", 0, time.Now()); err == nil {
		t.Errorf("a name that GitHub never told of is %q", now)
	}
	n.byName["acme/web"] = 7
	n.called("acme/web")
	n.byName["acme/web"] = 0
	n.called("acme/web")
	if _, err := n.Identify(t.Context(), "acme/web", 8); err == nil {
		t.Error("an event of another id is decided on though GitHub does not answer")
	}
}

// TestNamesBack: a repository that has its old name back is met under it at once.
func TestNamesBack(t *testing.T) {
	n := newNames(t)
	n.byName["acme/web"], n.byID[7] = 7, "acme/web"
	n.called("acme/web")
	delete(n.byName, "acme/web")
	n.byName["acme/site"], n.byID[7] = 7, "acme/site"
	n.event("acme/site", 7, true)
	n.called("acme/site")
	delete(n.byName, "acme/site")
	n.byName["acme/web"], n.byID[7] = 7, "acme/web"
	n.event("acme/web", 7, true)
	n.called("acme/web")
	if len(n.moves) == 0 || n.moves[len(n.moves)-1] != "acme/site acme/web" {
		t.Errorf("moves %v", n.moves)
	}
}
