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
	"testing/synctest"
	"time"

	"planbridge/bridge/catchup"
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
	lag     time.Duration // what was updated within it is not listed yet
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

func newMemory() *memstore.Memory { return memstore.New(memstore.Options{Clock: time.Now}) }

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

func TestCatchUp(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(-24 * time.Hour)
	w.hub.edit("acme/web", 1, "old and untouched")
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 2, "new")
	w.poll()
	if len(w.taken.titles) != 1 || w.taken.titles[2] != "new" {
		t.Errorf("took in %v", w.taken.titles)
	}
	if w.woken != 1 {
		t.Errorf("woken %d times", w.woken)
	}
}

// TestWatermark: it stays while few issues are listed, so that news cost one
// request, and moves when there are more.
func TestWatermark(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	w.poll()
	for i := range 5 {
		w.hub.calls, w.hub.pages = nil, 0
		w.hub.edit("acme/web", int64(i+1), "news")
		w.poll()
		if got := w.watermark(); len(w.hub.calls) != 1 || w.hub.pages != 1 || !got.IsZero() {
			t.Errorf("after %d issues: calls %v, %d pages, watermark %s", i+1, w.hub.calls, w.hub.pages, got)
		}
	}
	w.hub.edit("acme/web", 6, "news")
	w.poll()
	if got, want := w.watermark(), w.hub.now.Add(-3*time.Minute); !got.Equal(want) {
		t.Errorf("watermark %s, want %s", got, want)
	}
	if w.taken.count != 6 {
		t.Errorf("%d taken in, want each of six once", w.taken.count)
	}
}

// TestWatermarkGoesBack: where GitHub's clock is behind the watermark, as that of a server
// is that was restored, the watermark follows it, and what changes is listed.
func TestWatermarkGoesBack(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(10 * time.Hour)
	for i := range 6 {
		w.hub.edit("acme/web", int64(i+1), "news")
	}
	w.poll()
	w.hub.now = start.Add(time.Hour)
	for i := range 6 {
		w.hub.edit("acme/web", int64(i+1), "restored")
	}
	w.poll()
	if got, want := w.watermark(), w.hub.now.Add(-3*time.Minute); !got.Equal(want) {
		t.Errorf("watermark %s, want %s", got, want)
	}
	if w.taken.titles[1] != "restored" || w.taken.titles[6] != "restored" {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestIdleRepository: one request that answers 304, the same URL, no writes.
func TestIdleRepository(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 2, "new")
	w.poll()
	w.hub.calls = nil
	w.store.docs = 0
	for range 5 {
		w.hub.now = w.hub.now.Add(5 * time.Minute)
		w.poll()
	}
	if len(w.hub.calls) != 5 || len(slices.Compact(w.hub.calls)) != 1 {
		t.Errorf("calls %v: want the same URL each time", w.hub.calls)
	}
	if docs := w.store.docs; docs != 0 || w.taken.count != 1 {
		t.Errorf("%d documents written, %d issues taken in", docs, w.taken.count)
	}
}

// TestOverlapIsTakenOnce: what two listings show alike makes nothing due; a
// change of the same second does.
func TestOverlapIsTakenOnce(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 1, "one")
	w.poll()
	w.hub.edit("acme/web", 2, "two")
	w.poll()
	if w.taken.count != 2 {
		t.Errorf("%d taken in, want each once", w.taken.count)
	}
	w.hub.edit("acme/web", 2, "two, edited in the same second")
	w.poll()
	if w.taken.count != 3 || w.taken.titles[2] != "two, edited in the same second" {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestLaggingList: what GitHub lists late is found all the same.
func TestLaggingList(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 1, "listed late")
	w.hub.now = w.hub.now.Add(time.Minute)
	for i := range 6 {
		w.hub.edit("acme/web", int64(i+2), "listed at once")
	}
	late := w.hub.issues["acme/web"][0]
	w.hub.issues["acme/web"] = w.hub.issues["acme/web"][1:]
	w.poll()
	w.hub.set(late)
	w.hub.now = w.hub.now.Add(time.Minute)
	w.poll()
	if w.taken.titles[1] != "listed late" {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestWatermarkNeverPassesTheAnswer: an issue dated in the future does not take
// the watermark with it.
func TestWatermarkNeverPassesTheAnswer(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	for i := range 6 {
		w.hub.edit("acme/web", int64(i+1), "from the future")
		w.hub.issues["acme/web"][i].UpdatedAt = start.Add(time.Hour + 24*time.Hour)
	}
	w.hub.lag = -48 * time.Hour
	w.poll()
	if got := w.watermark(); !got.Equal(start.Add(time.Hour - 3*time.Minute)) {
		t.Errorf("watermark %s", got)
	}
}

// TestUnstoredPage: the watermark never passes what is not stored, and it is
// listed again.
func TestUnstoredPage(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	for i := range 6 {
		w.hub.edit("acme/web", int64(i+1), "one")
	}
	w.taken.fail = errors.New("store is away")
	if err := w.catchUp.Poll(t.Context()); !errors.Is(err, w.taken.fail) {
		t.Fatalf("error %v", err)
	}
	if got := w.watermark(); !got.IsZero() {
		t.Errorf("watermark %s", got)
	}
	w.taken.fail = nil
	w.poll()
	if w.taken.titles[1] != "one" {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestManyPages: the watermark moves page by page, and an issue that is updated
// during the walk, so that the pages shift, hides no other.
func TestManyPages(t *testing.T) {
	for name, apart := range map[string]time.Duration{"spread": time.Minute, "dense": 100 * time.Millisecond} {
		w := newCatchUp(t)
		w.hub.perPage = 10
		for i := range 95 {
			w.hub.now = start.Add(time.Hour + time.Duration(i)*apart).Truncate(time.Second)
			w.hub.edit("acme/web", int64(i+1), "first")
		}
		w.hub.now = w.hub.now.Add(time.Hour)
		for n := range 9 {
			w.hub.before[n+2] = func() { w.hub.edit("acme/web", int64(n*10+1), "second") }
		}
		for range 3 {
			w.poll()
			w.hub.now = w.hub.now.Add(time.Hour)
		}
		for _, i := range w.hub.issues["acme/web"] {
			if w.taken.titles[i.ID] != i.Title {
				t.Errorf("%s: issue %d is %q, taken in as %q", name, i.ID, i.Title, w.taken.titles[i.ID])
			}
		}
		w.hub.calls = nil
		w.poll()
		if len(w.hub.calls) != 1 {
			t.Errorf("%s: it does not come to rest: %v", name, w.hub.calls)
		}
	}
}

// TestManyAtOnceComeToRest: what was updated within the overlap, and is more
// than a page, is not listed again and again while nothing happens.
func TestManyAtOnceComeToRest(t *testing.T) {
	w := newCatchUp(t)
	w.hub.perPage = 10
	for i := range 95 {
		w.hub.now = start.Add(time.Hour + time.Duration(i/2)*time.Second)
		w.hub.edit("acme/web", int64(i+1), "first")
	}
	for range 3 {
		w.poll()
		w.hub.now = w.hub.now.Add(5 * time.Minute)
	}
	w.hub.pages = 0
	w.poll()
	if w.hub.pages != 0 || len(w.taken.titles) != 95 || w.taken.count != 95 {
		t.Errorf("%d pages while nothing happens; took in %d issues in %d steps", w.hub.pages, len(w.taken.titles), w.taken.count)
	}
}

// TestDensePagesCrashedInBetween: a walk that ends early leaves the watermark
// where everything after it will be listed again.
func TestDensePagesCrashedInBetween(t *testing.T) {
	w := newCatchUp(t)
	w.hub.perPage = 10
	w.hub.now = start.Add(time.Hour)
	for i := range 35 {
		w.hub.edit("acme/web", int64(i+1), "first")
	}
	w.hub.now = w.hub.now.Add(time.Hour)
	w.hub.before[3] = func() { w.taken.fail = errors.New("away") }
	if err := w.catchUp.Poll(t.Context()); err == nil {
		t.Fatal("no error")
	}
	w.taken.fail = nil
	w.catchUp = w.options.catchUp()
	w.poll()
	if len(w.taken.titles) != 35 {
		t.Errorf("took in %d of 35", len(w.taken.titles))
	}
}

// TestGlobs: the repositories of a glob are listed but for those it excludes.
func TestGlobs(t *testing.T) {
	w := newCatchUp(t)
	glob := route("all", "Other")
	glob.Repositories, glob.NewCardsIn, glob.Exclude = []string{"acme/*"}, "", []string{"acme/secret"}
	w.routes = append(w.routes, glob)
	w.hub.repos = []string{"acme/api", "acme/secret", "acme/Web"}
	w.hub.now = start.Add(time.Hour)
	for i, repo := range []string{"acme/web", "acme/api", "acme/secret"} {
		w.hub.edit(repo, int64(i+1), repo)
	}
	w.poll()
	if len(w.taken.titles) != 2 || w.taken.titles[3] != "" {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestRefusedRepository: one that cannot be read does not keep the others from
// being listed, nor their projects from being adopted; GitHub being away does.
func TestRefusedRepository(t *testing.T) {
	w := newCatchUp(t)
	w.routes = []mapping.Route{route("gone", "Incoming"), route("web", "Incoming")}
	w.hub.fails["acme/gone"] = fmt.Errorf("list: %w", mapping.ErrNotFound)
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 1, "one")
	w.poll()
	if w.taken.titles[1] != "one" || w.woken != 1 {
		t.Errorf("took in %v, woken %d times", w.taken.titles, w.woken)
	}
	epoch, _ := w.store.Epoch(t.Context())
	doc := func() string {
		d, _ := w.store.Doc(t.Context(), "", "adopted:acme/gone")
		return string(d)
	}
	if doc() != epoch+" unreadable" {
		t.Errorf("document %q", doc())
	}
	delete(w.hub.fails, "acme/gone")
	w.poll()
	if doc() != epoch {
		t.Errorf("document %q once it can be read", doc())
	}
	w.hub.fails["acme/gone"] = mapping.ErrUnavailable
	if err := w.catchUp.Poll(t.Context()); !errors.Is(err, mapping.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}

// TestCatchUpRuns: every interval, on one replica.
func TestCatchUpRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCatchUp(t)
		o := w.options
		idle := &hub{fails: map[string]error{}}
		o.Owner, o.GitHub = "replica-2", idle
		go w.catchUp.Run(t.Context())
		synctest.Wait()
		go o.catchUp().Run(t.Context())
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if n := w.woken; n < 22 || n > 28 || len(w.failed) != 0 {
			t.Errorf("%d rounds in two hours, failures %v", n, w.failed)
		}
		if len(idle.calls) != 0 {
			t.Errorf("the second replica asked %v", idle.calls)
		}
		w.hub.fail("acme/web", mapping.ErrUnavailable)
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		if len(w.failed) == 0 {
			t.Error("a failure was not told")
		}
	})
}
