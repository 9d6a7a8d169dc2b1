package preflight_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"planbridge/bridge/clock"
	"planbridge/bridge/preflight"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is what a configuration names: it is in order unless a test changes it.
type world struct {
	t    *testing.T
	plan *preflight.Plan
	mu   sync.Mutex // guards what follows while a prover runs
	// GitHub
	login    string
	refused  error // of who acts
	access   preflight.Access
	repos    map[string]preflight.Repository
	away     error                       // of repositories
	openings int                         // clients of GitHub that are open
	hooks    map[string][]preflight.Hook // by owner; nil: they cannot be listed
	asked    map[string]int              // questions about repositories, by their kind
	// planning, where every project has the same
	owner           string
	listed, project []preflight.Bucket
	silent          error // of planning
	// the store
	memory  *memstore.Memory
	busy    bool
	unready string // why the running service is not ready
	running []status.Link
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, login: "bridge", access: preflight.Access{Kind: "classic", Scopes: []string{"repo"}},
		repos:  map[string]preflight.Repository{"acme/web": {FullName: "acme/web", Private: true, HasIssues: true, Permissions: map[string]bool{"push": true}}},
		owner:  "alice",
		listed: []preflight.Bucket{{ID: "b1", Title: "Incoming"}}, project: []preflight.Bucket{{ID: "b1", Title: "Incoming"}},
		memory: memstore.New(memstore.Options{Clock: clock.Runtime{}}),
		asked:  map[string]int{},
	}
	w.plan = &preflight.Plan{
		Projects: map[string]preflight.Project{"web": {ID: "p1", Username: "alice"}},
		Store:    preflight.Store{Name: "redis://store"}, Trust: w, QuarantineUnsaid: map[string]bool{}, Origins: map[string]string{},
	}
	w.route(mapping.Route{Name: "web", Repositories: []string{"acme/web"}, Project: "p1", ProjectName: "web", Bucket: "Incoming"})
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.openings != 0 {
			t.Errorf("%d clients of GitHub stay open", w.openings)
		}
	})
	return w
}

func (w *world) route(routes ...mapping.Route) { w.plan.Routes = mapping.NewRoutes(routes) }

func (w *world) WebhooksOf(string) int { return -1 }

func (w *world) WebhookSecretOf(string) string { return "secret" }

func (w *world) OpenGitHub() (preflight.GitHub, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.openings++
	return hub{w}, nil
}

func (w *world) OpenPlanning(string) (preflight.Planning, error) { return side{w}, nil }

func (w *world) OpenStore(context.Context, *slog.Logger) (store.Store, error) {
	if w.busy {
		return nil, fmt.Errorf("open store: %w", store.ErrInUse)
	}
	return w.memory.Open(nil), nil
}

func (w *world) RunningLinks(_ context.Context, visit func(status.Link)) error {
	if w.running == nil {
		return errors.New("no service answers")
	}
	for _, l := range w.running {
		visit(l)
	}
	return nil
}

func (w *world) RunningUnready(context.Context) (string, error) {
	if w.running == nil {
		return "", errors.New("nobody listens")
	}
	return w.unready, nil
}

// keeps puts a link into the store.
func (w *world) keeps(l *mapping.Link) {
	w.t.Helper()
	if _, err := w.memory.Open(nil).Observe(w.t.Context(), l.Project, []store.Observation{{Refs: l.Refs(), Create: l}}); err != nil {
		w.t.Fatal(err)
	}
}

// asks counts a question about repositories.
func (w *world) asks(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[what]++
}

// hub is GitHub as the world has it.
type hub struct{ w *world }

func (h hub) Viewer(context.Context) (string, error) { return h.w.login, h.w.refused }

func (h hub) Access(context.Context, string) (preflight.Access, error) { return h.w.access, nil }

func (h hub) Repository(_ context.Context, name string) (preflight.Repository, error) {
	h.w.asks("repository")
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	if h.w.away != nil {
		return preflight.Repository{}, h.w.away
	}
	r, ok := h.w.repos[name]
	if !ok {
		return r, fmt.Errorf("read repository %s: %w", name, mapping.ErrNotFound)
	}
	return r, nil
}

func (h hub) OrgRepositories(_ context.Context, owner string) (list []preflight.Repository, err error) {
	h.w.asks("repositories")
	for _, r := range mapping.Sorted(h.w.repos) {
		if strings.HasPrefix(r.FullName, owner+"/") {
			list = append(list, r)
		}
	}
	return list, h.w.away
}

func (h hub) ListHooks(_ context.Context, owner string) ([]preflight.Hook, error) {
	h.w.asks("hooks")
	if h.w.hooks != nil {
		return h.w.hooks[owner], nil
	}
	return nil, fmt.Errorf("list webhooks: %w", mapping.ErrForbidden)
}

func (h hub) CreateHook(context.Context, string, preflight.Hook, string) error {
	h.w.t.Error("a check made a webhook that nobody asked for")
	return nil
}

func (h hub) Deliveries(context.Context, string, int64, time.Time) ([]preflight.Delivery, error) {
	h.w.asks("deliveries")
	return nil, nil
}

func (h hub) Close() {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	h.w.openings--
}

// side is a planning project as the world has it.
type side struct{ w *world }

func (s side) Project(context.Context) (title, owner string, buckets []preflight.Bucket, err error) {
	return "The web", s.w.owner, s.w.project, s.w.silent
}

func (s side) Buckets(context.Context) ([]preflight.Bucket, error) { return s.w.listed, nil }

func (s side) Close() {}

func (w *world) check() []preflight.Finding {
	return preflight.Check(w.t.Context(), w.plan, w, slog.New(slog.DiscardHandler))
}

// finds expects a finding of a level whose words contain those.
func (w *world) finds(l preflight.Level, place, words string) {
	w.t.Helper()
	found := w.check()
	if !slices.ContainsFunc(found, func(f preflight.Finding) bool {
		return f.Level == l && f.Place == place && strings.Contains(f.Words, words)
	}) {
		w.t.Errorf("no %s of %s says %q; there are:%s", l, place, words, said(found))
	}
}

func said(found []preflight.Finding) string {
	text := ""
	for _, f := range found {
		text += fmt.Sprintf("\n%s %s: %s", f.Level, f.Place, f.Words)
	}
	return text
}
