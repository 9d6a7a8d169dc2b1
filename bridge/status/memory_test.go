package status_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// memory is an Operator without a store.
type memory struct {
	mu        sync.Mutex
	routes    []*mapping.Route
	links     []*mapping.Link
	history   []mapping.Entry
	failed    []store.Failure
	waits     []store.Standing
	conflicts []mapping.Conflict
	queues    map[string]store.Depth
	charts    map[string][]mapping.Burndown
	now       *mapping.Preview
	blind     error // answers previews
	paused    map[string]time.Time
	broken    error // answers everything
	breakAt   int   // with broken: so many links come first
	rebuilds  int
	backup    func(ctx context.Context, w io.Writer, version string) error
	export    func(ctx context.Context, ask status.ExportAsk, visit func(any) error) error
}

// watcher is a Monitor of what it has.
type watcher struct {
	health status.Health
	recent []status.Activity
}

func (w *watcher) Health(context.Context) (status.Health, error) { return w.health, nil }

func (w *watcher) Recent(_ context.Context, limit int) ([]status.Activity, error) {
	return w.recent[:min(limit, len(w.recent))], nil
}

// watched is a Monitor with one of everything, at noon.
func watched() *watcher {
	return &watcher{
		health: status.Health{
			Services: []status.ServiceHealth{
				{Name: "web", Project: true, State: status.ServiceUp, Answered: noon, Sources: []status.Source{{What: status.SourcePoll, At: noon.Add(-time.Hour), Every: 30}}},
				{Name: "github", Service: "github", State: status.ServiceDown, Answered: noon.Add(-time.Minute), Error: "dial: <refused>", Failed: noon, Sources: []status.Source{
					{What: status.SourceDelivery, At: noon.Add(-2 * time.Minute)}, {What: status.SourceCatchUp, At: noon, Every: 300},
				}},
			},
			Budgets: []status.Budget{{Name: "content", Window: "minute", Left: 12, Of: 70}},
		},
		recent: []status.Activity{
			{At: noon, Who: "octocat", Route: "web", Link: "l1", Where: "acme/web#12", Side: "planning", Attribute: "title", What: "write", Took: 0.27},
			{At: noon, Route: "web", Link: "l2", Where: "acme/web#13", Side: "github", What: "create", Took: 12.4},
			{At: noon, Route: "web", Link: "l3", Where: "acme/web#14", Attribute: "summary", What: "conflict"},
			{At: noon, Route: "web", Link: "l3", Where: "acme/web#14", Part: "checklist", Side: "github", Attribute: "title", What: "write", Took: 2},
		},
	}
}

func (m *memory) Erase(_ context.Context, ask status.EraseAsk) (status.Erased, error) {
	if ask.Item != "acme/web#1" {
		return status.Erased{}, store.ErrNotFound
	}
	return status.Erased{Links: []status.Link{{ID: "l1"}}, Comments: []status.ErasedComment{{Repository: "acme/web", ID: 5}}}, nil
}

func (m *memory) Routes() []*mapping.Route { return m.routes }

func (m *memory) ProjectName(mapping.ObjectID) (string, bool) { return "web", true }

func (m *memory) ServiceWords(service string) string { return "service " + service }

func (m *memory) SharedServiceWords(service string) string {
	if strings.HasPrefix(service, "repository:") {
		return "repositories to be writable"
	}
	return ""
}

func (m *memory) Pause(_ context.Context, route string) error { return m.setPaused(route, time.Now()) }

func (m *memory) Resume(_ context.Context, route string) error {
	return m.setPaused(route, time.Time{})
}

func (m *memory) setPaused(route string, since time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.ContainsFunc(m.routes, func(r *mapping.Route) bool { return r.Name == route }) {
		return fmt.Errorf("route %s: %w", route, store.ErrNotFound)
	}
	if m.paused == nil {
		m.paused = map[string]time.Time{}
	}
	if m.paused[route] = since; since.IsZero() {
		delete(m.paused, route)
	}
	return nil
}

func (m *memory) Paused(context.Context) (map[string]time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.paused), nil
}

func (m *memory) Unlink(ctx context.Context, name string) error {
	l, err := m.Find(ctx, name)
	if err == nil {
		l.Parted = true
	}
	return err
}

func (m *memory) Links(ctx context.Context, route string, visit func(*mapping.Link) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, l := range m.links {
		if m.broken != nil && i == m.breakAt {
			return m.broken
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if route != "" && l.Route != route {
			continue
		}
		if err := visit(l); err != nil {
			return err
		}
	}
	return m.broken
}

func (m *memory) Find(_ context.Context, name string) (*mapping.Link, error) {
	if name == "x" {
		return nil, fmt.Errorf("find %q: %w", name, status.ErrName)
	}
	for _, l := range m.links {
		if name == string(l.ID) || slices.ContainsFunc(l.All(), func(p *mapping.Pair) bool { return name == p.Where() || name == string(p.Card.ID) }) {
			return l, m.broken
		}
	}
	return nil, fmt.Errorf("link of %s: %w", name, store.ErrNotFound)
}

func (m *memory) FindNumbered(ctx context.Context, name string) (*mapping.Link, error) {
	var found []*mapping.Link
	var names []string
	for _, l := range m.links {
		if strings.TrimPrefix(name, "#") == fmt.Sprint(l.Card.CID) {
			found, names = append(found, l), append(names, string(l.Card.ID))
		}
	}
	switch len(found) {
	case 0:
		return m.Find(ctx, name)
	case 1:
		return found[0], m.broken
	}
	return nil, status.Ambiguous(name, names...)
}

func (m *memory) Outside(_ context.Context, name string) (*status.Outside, error) {
	if name == "acme/web#77" {
		return &status.Outside{Repository: "acme/web", Number: 77, Author: "mallory", Association: "NONE", Why: mapping.WhyQuarantine}, nil
	}
	if name == "#99" {
		return &status.Outside{Project: "web", Card: &status.Card{ID: "c99", CID: 99}, Why: mapping.WhyNoRoute}, nil
	}
	return nil, fmt.Errorf("link of %s: %w", name, store.ErrNotFound)
}

func (m *memory) History(context.Context, *mapping.Link, int) ([]mapping.Entry, error) {
	return m.history, m.broken
}

func (m *memory) Preview(context.Context, *mapping.Link) (*mapping.Preview, error) {
	return m.now, errors.Join(m.broken, m.blind)
}

func (m *memory) Failures(context.Context) ([]store.Failure, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed, m.broken
}

func (m *memory) Retry(_ context.Context, name string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var left []store.Failure
	for _, f := range m.failed {
		if name != "all" && name != f.Key.String() && name != f.Where {
			left = append(left, f)
		}
	}
	n := len(m.failed) - len(left)
	m.failed = left
	if n == 0 && name != "all" {
		return 0, fmt.Errorf("failure %s: %w", name, store.ErrNotFound)
	}
	return n, m.broken
}

func (m *memory) Conflicts(_ context.Context, limit int) ([]mapping.Conflict, error) {
	return m.conflicts[:min(limit, len(m.conflicts))], m.broken
}

func (m *memory) Questions(_ context.Context, link mapping.LinkID, limit int) (out []mapping.Conflict, counts map[string]int, err error) {
	counts = map[string]int{}
	for _, c := range m.conflicts {
		if c.State != mapping.ConflictOpen || link != "" && c.Link != link {
			continue
		}
		if counts[c.Route]++; len(out) < limit {
			out = append(out, c)
		}
	}
	return out, counts, m.broken
}

func (m *memory) ResolveConflict(_ context.Context, id string, winner mapping.Side) error {
	return m.act(id, mapping.ConflictOpen, mapping.ConflictAnswered, winner)
}

func (m *memory) UndoConflict(_ context.Context, id string) error {
	return m.act(id, mapping.ConflictSettled, mapping.ConflictUndone, "")
}

// act moves a conflict from one state to another.
func (m *memory) act(id, from, to string, winner mapping.Side) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.conflicts {
		c := &m.conflicts[i]
		switch {
		case c.ID != id:
		case c.State != from:
			return fmt.Errorf("conflict %s is %s: %w", id, c.State, status.ErrState)
		default:
			c.State, c.Winner = to, winner
			return nil
		}
	}
	return fmt.Errorf("conflict %s: %w", id, store.ErrNotFound)
}

func (m *memory) AcceptRepository(_ context.Context, name string) error { return m.accept(name) }
func (m *memory) AcceptAccount(_ context.Context, name string) error    { return m.accept(name) }

func (m *memory) accept(name string) error {
	switch name {
	case "acme/web":
		return nil
	case "acme/same":
		return status.ErrState
	}
	return store.ErrNotFound
}

func (m *memory) Rebuild(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rebuilds++
	return m.broken
}

func (m *memory) Export(ctx context.Context, ask status.ExportAsk, visit func(any) error) error {
	return m.export(ctx, ask, visit)
}

func (m *memory) Backup(ctx context.Context, w io.Writer, version string) error {
	if m.broken != nil {
		return m.broken
	}
	return m.backup(ctx, w, version)
}

func (m *memory) Burndowns(context.Context) (map[string][]mapping.Burndown, error) {
	return m.charts, m.broken
}

func (m *memory) Standing(_ context.Context, l *mapping.Link) (store.Standing, error) {
	for _, at := range m.waits {
		if at.Key.Link == l.ID {
			return at, m.broken
		}
	}
	return store.Standing{Key: store.Key{Project: l.Project, Link: l.ID}, State: store.KeyResting}, m.broken
}

func (m *memory) Standings(_ context.Context, limit int) ([]store.Standing, error) {
	return m.waits[:min(limit, len(m.waits))], m.broken
}

func (m *memory) Failing(at *store.Standing) bool {
	return at.State == store.KeyLater && at.Attempts > 0 || strings.HasSuffix(at.Reason, "forbidden") || strings.HasSuffix(at.Reason, "unauthorized")
}

func (m *memory) Worker(key store.Key) string {
	return map[mapping.LinkID]string{"l2": "host-1"}[key.Link]
}

func (m *memory) Overview(context.Context) (map[string]store.Depth, error) { return m.queues, m.broken }

func (m *memory) Counts(context.Context) (map[string]map[mapping.LinkState]int, error) {
	counts := map[string]map[mapping.LinkState]int{}
	for _, l := range m.links {
		if counts[l.Route] == nil {
			counts[l.Route] = map[mapping.LinkState]int{}
		}
		counts[l.Route][l.State]++
	}
	return counts, m.broken
}

var noon = time.Date(2020, 11, 21, 12, 0, 0, 0, time.UTC)

const nonce = "5ec2e75ec2e75ec2"

// filled is a memory with one of everything.
func filled() *memory {
	return &memory{
		routes: []*mapping.Route{
			{Name: "web", Repositories: []string{"acme/web"}, Project: "p1", ProjectName: "web"},
			{Name: "acme/api", Repositories: []string{"acme/api"}, Project: "p1", ProjectName: "web"},
		},
		links: []*mapping.Link{
			{
				ID: "l1", Project: "p1", Route: "web", Pair: mapping.Pair{
					State: mapping.Linked, Origin: mapping.GitHub, Nonce: nonce,
					Issue:   mapping.IssueID{ID: 101, Repo: "acme/web", Number: 12, UpdatedAt: noon},
					Card:    mapping.CardID{ID: "c1", CID: 7, Bucket: "b1", BucketName: "Incoming", Version: 3},
					Base:    map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "Fix <it>", Planning: "Fix <it>", Version: 2}},
					Journal: mapping.Journal{Pending: []mapping.Pending{{ID: "x", Side: mapping.GitHub, Item: "issue:101", Attribute: mapping.Title, From: "a", To: "b", At: noon}}},
					Disputes: mapping.Disputes{
						Refused: map[mapping.Attribute]mapping.Refusal{mapping.Estimate: {Side: mapping.Planning, Message: "no such number", At: noon}},
						Asking:  map[mapping.Attribute]string{mapping.State: "k1"},
					},
					Dates: mapping.Dates{Created: noon, Synced: noon.Add(time.Minute)},
				},
				Children: []*mapping.Pair{
					{Kind: mapping.Tracking, State: mapping.Linked, Nonce: nonce, Card: mapping.CardID{ID: "t1"}, Base: map[mapping.Attribute]mapping.Base{mapping.State: {GitHub: "todo", Planning: "todo", Version: 1}}},
				},
				SubLinks: []*mapping.Pair{{
					Kind: mapping.SubIssue, State: mapping.Linked, Nonce: nonce, Issue: mapping.IssueID{ID: 102, Repo: "acme/web", Number: 13, UpdatedAt: noon},
					Card: mapping.CardID{ID: "t2"}, Base: map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "Part", Planning: "Part", Version: 3}},
				}},
			},
			{
				ID: "l2", Project: "p1", Route: "gone", Pair: mapping.Pair{
					State: mapping.Dormant, Origin: mapping.Planning, Nonce: nonce, Card: mapping.CardID{ID: "c2", Bucket: "b2", Made: "Bugs"},
					Rest: mapping.Rest{Why: "its route is no longer configured"}, Dates: mapping.Dates{Created: noon},
					Intent: &mapping.Intent{Side: mapping.GitHub, Nonce: nonce, At: noon, Sent: true, Lookups: 2},
				},
			},
		},
		history: []mapping.Entry{{At: noon, Side: mapping.Planning, Attribute: mapping.Title, What: "write", Why: "changed on GitHub", Delivery: "9:guid"}},
		failed: []store.Failure{
			{Key: store.Key{Project: "p1", Link: "l1"}, Route: "web", Where: "acme/web#12", Reason: "rejected: <b>no</b>", Attempts: 12, At: noon},
			{Key: store.Key{Project: "p1", Link: "l2"}, Route: "web", Where: "c2", Reason: "forbidden", Attempts: 1, At: noon},
		},
		waits: []store.Standing{
			{Key: store.Key{Project: "p1", Link: "l1"}, Route: "web", Where: "acme/web#12", State: store.KeyWaiting, At: noon, Service: "github", Reason: "<b>down</b>", Attempts: 2},
			{Key: store.Key{Project: "p1", Link: "l3"}, Route: "web", Where: "acme/web#13", State: store.KeyLater, At: noon, Reason: "it is late"},
			{Key: store.Key{Project: "p1", Link: "l2"}, Route: "gone", Where: "c2", State: store.KeyWorked, At: noon},
		},
		conflicts: []mapping.Conflict{{
			ID: "k1", Link: "l1", Project: "p1", Route: "web", Where: "acme/web#12", Attribute: mapping.Title,
			Base: &mapping.Base{GitHub: "a", Planning: "a", Version: 1}, GitHub: "<script>g()</script>", Planning: "p",
			Winner: mapping.Planning, Rule: "policy planning", State: mapping.ConflictSettled, At: noon, Settled: noon,
		}},
		charts: map[string][]mapping.Burndown{"web": {
			{Sprint: "s1", Title: "Sprint <1>", Active: true, Read: noon, Start: noon.Add(-48 * time.Hour), Days: 5, Original: 40, Remaining: []float64{38, 30, 12}},
			{Sprint: "s0", Title: "Sprint 0", Read: noon, Original: 8},
		}},
		queues: map[string]store.Depth{"web": {Live: 2, Bulk: 1, Waiting: map[string]int{"github": 4}, Failures: 2, Oldest: noon}},
	}
}
