package verifier_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/inventory"
	"planbridge/bridge/jobs"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/bridge/verifier"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const project = mapping.ObjectID("p")

// world is both sides of links that are agreed on, unless a test changes one.
type world struct {
	t      *testing.T
	issues map[int]mapping.Issue // of acme/web
	cards  map[mapping.ObjectID]mapping.Card
	closed error // of the listing of issues
	failed error // of reads of one issue
	read   int   // how many issues were read by themselves
	looked []mapping.Ref
	// repairs is done for each item that is to be looked at.
	repairs  func()
	interval time.Duration // between scheduled verifications
	store    *memstore.Store
}

// newWorld has links of so many issues of the route web, from 1 on.
func newWorld(t *testing.T, links int) *world {
	w := &world{t: t, issues: map[int]mapping.Issue{}, cards: map[mapping.ObjectID]mapping.Card{}, repairs: func() {}}
	w.store = memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	for n := 1; n <= links; n++ {
		issue := mapping.Issue{ID: int64(n), Repo: "acme/web", Number: n, Title: fmt.Sprint("Task ", n), State: "open", Author: "dev"}
		card := mapping.Card{ID: mapping.ObjectID(fmt.Sprint("c", n)), Title: mapping.Versioned{Value: issue.Title, Version: 1}, CountersVersion: 1, Counters: &mapping.Counters{}}
		w.issues[n], w.cards[card.ID] = issue, card
		link := w.routes()[0].EnterIssue(&issue, time.Now())
		link.ID, link.State = mapping.LinkID(fmt.Sprint("l", n)), mapping.Linked
		link.Issue = mapping.IssueID{ID: issue.ID, Repo: issue.Repo, Number: n}
		link.Card = mapping.CardID{ID: card.ID, CountersVersion: 1}
		link.Base = map[mapping.Attribute]mapping.Base{
			mapping.Title: {GitHub: issue.Title, Planning: issue.Title, Version: 1}, mapping.Summary: {}, mapping.Estimate: {},
		}
		w.keep(link)
	}
	return w
}

// keep stores a link.
func (w *world) keep(l *mapping.Link) {
	w.t.Helper()
	got, err := w.store.Observe(w.t.Context(), l.Project, []store.Observation{{Refs: l.Refs(), Create: l}})
	if err != nil || got[0].Err != nil || !got[0].Created {
		w.t.Fatal(got, err)
	}
}

func (w *world) routes() []*mapping.Route {
	return mapping.NewRoutes([]mapping.Route{
		{Name: "web", Repositories: []string{"acme/web"}, Project: project, Direction: mapping.Both},
		{Name: "other", Repositories: []string{"acme/other"}, Project: project, Direction: mapping.Both},
	}).All()
}

func (w *world) Settings() *reconcile.Settings {
	var routes []mapping.Route
	for _, r := range w.routes() {
		routes = append(routes, *r)
	}
	return &reconcile.Settings{Routes: mapping.NewRoutes(routes)}
}

func (w *world) Repositories(context.Context, string) ([]string, error) { return nil, nil }

func (w *world) ListIssues(_ context.Context, repo, _ string, page func([]mapping.Issue) error) error {
	if w.closed != nil {
		return w.closed
	}
	if repo != "acme/web" {
		return nil
	}
	for _, issue := range mapping.Sorted(w.issues) {
		if err := page([]mapping.Issue{issue}); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) Issue(_ context.Context, _ string, number int) (mapping.Issue, error) {
	w.read++
	issue, ok := w.issues[number]
	if !ok {
		return issue, fmt.Errorf("read issue %d: %w", number, mapping.ErrGone)
	}
	return issue, w.failed
}

func (w *world) Project(mapping.ObjectID) inventory.Planning { return side{w: w} }

func (w *world) Ready(context.Context) error { return nil }

func (w *world) VerifyInterval() time.Duration { return w.interval }

func (w *world) Observe(_ context.Context, _ mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	w.looked = append(w.looked, obs[0].Refs...)
	w.repairs()
	return nil, nil
}

// side is the planning project.
type side struct {
	inventory.Planning // nil: a verification asks for nothing else
	w                  *world
}

func (s side) EachCard(_ context.Context, visit func(mapping.Card) error) error {
	for _, card := range mapping.Sorted(s.w.cards) {
		if err := visit(card); err != nil {
			return err
		}
	}
	return nil
}

func (s side) Card(_ context.Context, id mapping.ObjectID) (mapping.Card, error) {
	card, ok := s.w.cards[id]
	if !ok {
		return card, fmt.Errorf("read card %s: %w", id, mapping.ErrNotFound)
	}
	return card, nil
}

// verifier verifies the world until ctx ends.
func (w *world) verifier(ctx context.Context) (*verifier.Verifier, *jobs.Runner) {
	g := guard.New(slog.New(slog.DiscardHandler))
	runner := jobs.New(g, clock.Runtime{})
	runner.Open(ctx)
	return verifier.New(verifier.Options{
		Store: w.store, Inventory: inventory.New(inventory.Options{Store: w.store, Settings: w, GitHub: w, Projects: w}), GitHub: w, Intake: w, Services: w, Clock: clock.Runtime{},
		Metrics: verifier.NewMetrics(prometheus.NewRegistry()), Jobs: runner, Guard: g, Schedule: w, Owner: "here", Logger: slog.New(slog.DiscardHandler),
	}), runner
}

// verify runs a verification to its end.
func (w *world) verify(ask status.VerifyAsk) status.Job {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	v, runner := w.verifier(ctx)
	job, err := v.Verify(ctx, ask)
	for err == nil && job.State == status.JobRunning {
		time.Sleep(time.Second)
		synctest.Wait()
		job, err = runner.Get(job.ID)
	}
	stop()
	runner.Wait()
	if err != nil {
		w.t.Fatal(err)
	}
	return job
}

// told is what a verification says differs, as "acme/web#1 attribute: why".
func told(job status.Job) (out []string) {
	for _, d := range job.Verify.Differences {
		out = append(out, strings.TrimSuffix(d.Where+" "+d.Attribute, " ")+": "+d.Why)
	}
	return out
}

// TestVerify: agreed values of both sides are not read, and each difference is reported.
func TestVerify(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(w *world)
		route  string
		read   int // issues that are read by themselves
		links  int
		want   []string // beginnings of what is told
	}{
		"all is agreed on": {func(*world) {}, "", 0, 3, nil},
		"an issue has another title": {func(w *world) {
			issue := w.issues[2]
			issue.Title = "Renamed"
			w.issues[2] = issue
		}, "", 1, 3, []string{"acme/web#2 title: "}},
		"a card has another title": {func(w *world) {
			card := w.cards["c3"]
			card.Title = mapping.Versioned{Value: "Renamed", Version: 2}
			w.cards["c3"] = card
		}, "", 1, 3, []string{"acme/web#3 title: "}},
		"a card is gone":           {func(w *world) { delete(w.cards, "c1") }, "", 1, 3, []string{"acme/web#1: the card is gone"}},
		"an issue is gone":         {func(w *world) { delete(w.issues, 1) }, "", 1, 3, []string{"acme/web#1: the issue is gone"}},
		"no listing of issues":     {func(w *world) { w.closed = mapping.ErrForbidden }, "", 3, 3, nil},
		"the tasks may have moved": {func(w *world) { move(w, "c2") }, "", 1, 3, nil},
		"another route":            {func(w *world) { delete(w.cards, "c1") }, "other", 0, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 3)
				tt.change(w)
				job := w.verify(status.VerifyAsk{Route: tt.route})
				got := told(job)
				if job.State != status.JobDone || job.Verify.Links != tt.links || w.read != tt.read {
					t.Errorf("%s %s: %d links were compared and %d issues read, want %d and %d", job.State, job.Error, job.Verify.Links, w.read, tt.links, tt.read)
				}
				if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
					t.Errorf("told %q, want %q", got, tt.want)
				}
				if n := job.Verify.Drift["web"]; n != len(tt.want) {
					t.Errorf("%d links differ", n)
				}
			})
		})
	}
}

// move has the counters of a card's tasks move.
func move(w *world, id mapping.ObjectID) {
	card := w.cards[id]
	card.CountersVersion++
	w.cards[id] = card
}

// TestVerifyFails where a service does not answer: differences are not known then.
func TestVerifyFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		delete(w.cards, "c1")
		w.failed = mapping.ErrUnavailable
		if job := w.verify(status.VerifyAsk{}); job.State != status.JobFailed || !strings.Contains(job.Error, "unavailable") {
			t.Errorf("%s: %q, told %q", job.State, job.Error, told(job))
		}
	})
}

// TestVerifyLeavesOut: links without a pair are counted and not compared.
func TestVerifyLeavesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		issue := mapping.Issue{ID: 9, Repo: "acme/web", Number: 9, Title: "New", State: "open"}
		w.keep(w.routes()[0].EnterIssue(&issue, time.Now()))
		job := w.verify(status.VerifyAsk{})
		left := job.Verify.Uncompared
		if job.Verify.Links != 1 || len(left) != 1 || left[0].State != string(mapping.Entering) || left[0].Links != 1 || len(left[0].Items) != 1 || left[0].Items[0] != "acme/web#9" {
			t.Errorf("%d links are compared, left out are %+v", job.Verify.Links, left)
		}
	})
}

// TestVerifyLeavesOutAProjectWithoutAName: a link of a project that is not named any more is
// dormant, whatever its record says, and its issue is compared with nothing.
func TestVerifyLeavesOutAProjectWithoutAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		issue := mapping.Issue{ID: 9, Repo: "acme/web", Number: 9, Title: "Edited since", State: "open"}
		w.issues[9] = issue
		l := w.routes()[0].EnterIssue(&issue, time.Now())
		l.Project, l.State, l.Card.ID = "54744060c955ca8169c61eff", mapping.Linked, "c9"
		l.Base = map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "As agreed", Planning: "As agreed"}}
		w.keep(l)
		job := w.verify(status.VerifyAsk{})
		left := job.Verify.Uncompared
		if job.State != status.JobDone || job.Verify.Links != 1 || len(job.Verify.Differences) != 0 || len(left) != 1 || left[0].State != string(mapping.Dormant) || left[0].Links != 1 {
			t.Errorf("%s: %d links are compared, %+v differ, left out are %+v", job.State, job.Verify.Links, job.Verify.Differences, left)
		}
	})
}

// TestRepair: the links that differ are looked at, and those that differ no more once they were
// worked are counted. One that nobody works is given up after a minute.
func TestRepair(t *testing.T) {
	for name, worked := range map[string]bool{"the link is worked": true, "nobody works it": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 2)
				card := w.cards["c1"]
				delete(w.cards, "c1")
				w.repairs = func() {
					w.cards["c1"] = card
					if worked {
						w.work("l1")
					}
				}
				began := time.Now()
				job := w.verify(status.VerifyAsk{Repair: true})
				if job.State != status.JobDone || !slices.Equal(w.looked, []mapping.Ref{mapping.IssueRef(1)}) {
					t.Fatalf("%s %s: looked at are %q", job.State, job.Error, w.looked)
				}
				repaired, differ := 0, 1
				if worked {
					repaired, differ = 1, 0
				}
				if job.Verify.Repaired != repaired || len(told(job)) != differ || (time.Since(began) < time.Minute) != worked {
					t.Errorf("%d repaired after %s, %q differ", job.Verify.Repaired, time.Since(began), told(job))
				}
			})
		})
	}
}

// work works the key of a link a moment later.
func (w *world) work(id mapping.LinkID) {
	w.t.Helper()
	time.Sleep(time.Millisecond)
	w.change(id, func(l *mapping.Link) { l.Synced = time.Now() })
}

// change changes the record of a link that has a key.
func (w *world) change(id mapping.LinkID, change func(*mapping.Link)) {
	w.t.Helper()
	for {
		claim, _, err := w.store.Claim(w.t.Context(), project, time.Minute)
		if err != nil || claim == nil {
			w.t.Fatal("no claim of the link", err)
		}
		if claim.Key.Link == id {
			change(claim.Link)
		}
		if err := w.store.Finish(w.t.Context(), claim, claim.Link, nil, store.Outcome{Kind: store.Done}); err != nil {
			w.t.Fatal(err)
		}
		if claim.Key.Link == id {
			return
		}
	}
}

// TestVerifyNoSuchRoute: a route that is not configured is refused at once.
func TestVerifyNoSuchRoute(t *testing.T) {
	w := newWorld(t, 0)
	v := verifier.New(verifier.Options{Inventory: inventory.New(inventory.Options{Settings: w})})
	if _, err := v.Verify(t.Context(), status.VerifyAsk{Route: "none"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("answered with %v", err)
	}
}
