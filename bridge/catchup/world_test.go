package catchup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/catchup"
	"planbridge/bridge/clock"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

var start = time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)

// hub is GitHub's issue lists in memory: least recently updated first, pages
// by number, and a list that has not changed is not shown twice.
type hub struct {
	mu      sync.Mutex // guards fails
	now     time.Time
	issues  map[string][]mapping.Issue
	perPage int
	lag     time.Duration // updates within it are not listed yet
	fails   map[string]error
	before  map[int]func() // called before the page of that number
	cached  map[string]string
	calls   []string
	pages   int // that were handed over
	repos   []string
	private bool
	scarce  bool // so are requests

	accounts []string // of the bridge
}

func (h *hub) ListIssues(_ context.Context, repo string, q catchup.Query, page func([]mapping.Issue, time.Time) error) (bool, error) {
	url := fmt.Sprintf("%s?since=%s&creator=%s", repo, q.Since.Format(time.RFC3339), q.Creator)
	h.calls = append(h.calls, url)
	if err := h.failure(repo); err != nil {
		return false, err
	}
	if list := h.list(repo, q); !q.Afresh && len(list) <= h.perPage && h.cached[url] == digest(list) {
		return true, nil
	}
	for n := 1; ; n++ {
		if f := h.before[n]; f != nil {
			delete(h.before, n)
			f()
		}
		h.pages++
		list := h.list(repo, q)
		from, to := min((n-1)*h.perPage, len(list)), min(n*h.perPage, len(list))
		if err := page(slices.Clone(list[from:to]), h.now); err != nil {
			return false, err
		}
		if to == len(list) {
			h.cached[url] = digest(list)
			return false, nil
		}
	}
}

func (h *hub) list(repo string, q catchup.Query) []mapping.Issue {
	list := slices.DeleteFunc(slices.Clone(h.issues[repo]), func(i mapping.Issue) bool {
		return i.UpdatedAt.Before(q.Since) || q.Creator != "" && i.Author != q.Creator || i.UpdatedAt.After(h.now.Add(-h.lag))
	})
	slices.SortStableFunc(list, func(a, b mapping.Issue) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return list
}

func digest(list []mapping.Issue) string {
	var all strings.Builder
	for i := range list {
		fmt.Fprintf(&all, "%d %s %s\n", list[i].ID, list[i].UpdatedAt, mapping.DigestIssue(&list[i]))
	}
	return "etag " + all.String()
}

func (h *hub) failure(of string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fails[of]
}

func (h *hub) fail(of string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fails[of] = err
}

func (h *hub) Repositories(context.Context, string) ([]string, error) {
	return h.repos, h.failure("glob")
}

func (h *hub) Private(context.Context, string) (bool, error) { return h.private, nil }

func (h *hub) Locate(_ context.Context, repo string, _ time.Time) (string, error) { return repo, nil }

func (h *hub) Accounts() []string { return h.accounts }
func (h *hub) RateScarce() bool   { return h.scarce }

// edit makes or changes an issue now.
func (h *hub) edit(repo string, id int64, title string) {
	h.set(mapping.Issue{ID: id, Repo: repo, Number: int(id), Title: title, State: "open", Author: "octocat", UpdatedAt: h.now})
}

func (h *hub) set(i mapping.Issue) {
	list := slices.DeleteFunc(h.issues[i.Repo], func(o mapping.Issue) bool { return o.ID == i.ID })
	h.issues[i.Repo] = append(list, i)
}

// taken is an intake that keeps what it took in.
type taken struct {
	titles  map[int64]string
	adopted []int64
	count   int
	fail    error
}

func (k *taken) Listed(_ context.Context, issues []mapping.Issue, private func() (bool, error)) error {
	if k.fail != nil {
		return k.fail
	}
	if _, err := private(); err != nil {
		return err
	}
	for _, i := range issues {
		k.titles[i.ID] = i.Title
		k.count++
	}
	return nil
}

// marked is a body that carries a marker.
const marked = "marked"

func (k *taken) Marked(issue *mapping.Issue) bool { return issue.Body == marked }

func (k *taken) Adopt(_ context.Context, issues []mapping.Issue) error {
	for _, i := range issues {
		k.adopted = append(k.adopted, i.ID)
	}
	return k.fail
}

// counting counts the documents that are written.
type counting struct {
	store.Store
	docs int
}

func (s *counting) PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error {
	s.docs++
	return s.Store.PutDoc(ctx, project, name, data)
}

func newMemory() *memstore.Memory { return memstore.New(memstore.Options{Clock: clock.Runtime{}}) }

const project = mapping.ObjectID("54744060c955ca8169c61ee6")

func route(name, bucket string) mapping.Route {
	return mapping.Route{Name: name, Repositories: []string{"acme/" + name}, NewCardsIn: "acme/" + name, Project: project, Bucket: bucket, Direction: mapping.Both, CreateIssues: true}
}

// options are those of a CatchUp, with what it asks of the program around it as functions.
type options struct {
	catchup.Options
	Routes    func() mapping.Routes
	FirstRun  func(route string) time.Time
	Lost      func() time.Time
	OnSuccess func(context.Context)
	OnFailure func(error)
}

func (o options) catchUp() *catchup.CatchUp {
	o.Settings, o.Host = settings{o}, program{o}
	return catchup.New(o.Options)
}

type settings struct{ o options }

func (s settings) Routes() mapping.Routes          { return s.o.Routes() }
func (s settings) FirstRun(route string) time.Time { return s.o.FirstRun(route) }

type program struct{ o options }

func (p program) Answered(ctx context.Context) { p.o.OnSuccess(ctx) }
func (p program) Failed(err error)             { p.o.OnFailure(err) }

func (p program) LostAt() time.Time {
	if p.o.Lost == nil {
		return time.Time{}
	}
	return p.o.Lost()
}

type catchUpWorld struct {
	t       *testing.T
	hub     *hub
	taken   *taken
	memory  *memstore.Memory
	store   *counting
	catchUp *catchup.CatchUp
	options options
	routes  []mapping.Route
	log     bytes.Buffer
	woken   int
	failed  []error
}

func newCatchUp(t *testing.T) *catchUpWorld {
	t.Helper()
	memory := newMemory()
	w := &catchUpWorld{
		t: t, memory: memory, store: &counting{Store: memory.Open(nil)}, taken: &taken{titles: map[int64]string{}},
		hub: &hub{
			now: start, issues: map[string][]mapping.Issue{}, perPage: 100, fails: map[string]error{},
			before: map[int]func(){}, cached: map[string]string{}, accounts: []string{"planbridge[bot]", "old-bot"},
		},
		routes: []mapping.Route{route("web", "Incoming")},
	}
	w.options = options{
		Options: catchup.Options{
			GitHub: w.hub, Intake: w.taken, Store: w.store,
			Owner: "replica-1", Interval: 5 * time.Minute, Settle: 2 * time.Minute,
			Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
		},
		Routes:    func() mapping.Routes { return mapping.NewRoutes(w.routes) },
		FirstRun:  func(string) time.Time { return start },
		OnSuccess: func(context.Context) { w.woken++ },
		OnFailure: func(err error) { w.failed = append(w.failed, err) },
	}
	w.catchUp = w.options.catchUp()
	return w
}

func (w *catchUpWorld) poll() {
	w.t.Helper()
	if err := w.catchUp.Poll(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// watermark is that of acme/web; zero where none is stored.
func (w *catchUpWorld) watermark() time.Time {
	w.t.Helper()
	doc, err := w.store.Doc(w.t.Context(), "", "since:acme/web")
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}
	}
	at, perr := time.Parse(time.RFC3339, string(doc))
	if err != nil || perr != nil {
		w.t.Fatal(err, perr)
	}
	return at
}
