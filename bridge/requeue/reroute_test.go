package requeue_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/requeue"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

const project = mapping.ObjectID("p")

// desk is a store with one link, whose key is not due, and the present routes. It counts the
// listings of links.
type desk struct {
	store.Store
	routes mapping.Routes
	called string // the repository's present name on GitHub
	silent bool   // GitHub does not answer
	listed int
	log    bytes.Buffer
}

func (d *desk) Routes() mapping.Routes { return d.routes }

func (*desk) Kick() {}

func (d *desk) Locate(ctx context.Context, _ string, _ int64, _ time.Time) (string, error) {
	if d.silent {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return d.called, nil
}

func (*desk) AskPublic(context.Context, string) bool { return false }

func (d *desk) List(ctx context.Context, project mapping.ObjectID, cursor string, limit int) ([]*mapping.Link, string, error) {
	d.listed++
	return d.Store.List(ctx, project, cursor, limit)
}

func newDesk(t *testing.T, state mapping.LinkState, repository string) (*desk, *requeue.Requeuer) {
	t.Helper()
	d := &desk{Store: memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil), called: "acme/web"}
	d.route(repository)
	l := &mapping.Link{ID: "l1", Project: project, Route: "acme/web", Pair: mapping.Pair{State: state, Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 1}}}
	if _, err := d.Observe(t.Context(), project, []store.Observation{{Refs: l.Refs(), Create: l}}); err != nil {
		t.Fatal(err)
	}
	d.rest(t)
	return d, d.replica()
}

// fail works the due key, which fails so.
func (d *desk) fail(t *testing.T, o store.Outcome) {
	t.Helper()
	c, _, err := d.Claim(t.Context(), project, time.Minute)
	if err != nil || c == nil {
		t.Fatalf("claim: %v, %v", c, err)
	}
	if _, err := d.FinishAndClaim(t.Context(), c, c.Link, nil, o, 0); err != nil {
		t.Fatal(err)
	}
}

// TestTakeUpFailed: failed keys are due once their route is changed, whether they wait for another
// attempt or were parked. Keys that are put off for another reason wait on.
func TestTakeUpFailed(t *testing.T) {
	for name, c := range map[string]struct {
		outcome store.Outcome
		changed string
		want    int
	}{
		"it waits for another attempt": {store.Outcome{Kind: store.Retry, After: time.Hour, Reason: "there is no bucket Incomming"}, "acme/web", 1},
		"it was given up":              {store.Outcome{Kind: store.Park, Reason: "there is no bucket Incomming"}, "acme/web", 1},
		"another route changed":        {store.Outcome{Kind: store.Park, Reason: "there is no bucket Incomming"}, "acme/api", 0},
		"its turn has not come":        {store.Outcome{Kind: store.Again, After: time.Hour, Reason: "its turn has not come"}, "acme/web", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d, r := newDesk(t, mapping.Linked, "acme/web")
			if err := d.Enqueue(t.Context(), store.Key{Project: project, Link: "l1"}, 0, false); err != nil {
				t.Fatal(err)
			}
			d.fail(t, c.outcome)
			n, err := r.TakeUpFailed(t.Context(), []mapping.RouteChange{{Name: c.changed, Fields: []string{"bucket"}}})
			if due := d.rest(t); err != nil || n != c.want || due != (c.want > 0) {
				t.Errorf("%d keys, %v, due: %t", n, err, due)
			}
		})
	}
}

// WaitForClock implements [requeue.FirstRuns].
func (*desk) WaitForClock([]*mapping.Route) bool { return false }

// replica is a process that just started.
func (d *desk) replica() *requeue.Requeuer {
	return requeue.New(requeue.Options{Store: d, Settings: d, Queue: d, Repositories: d, FirstRuns: d, Pauses: requeue.NewPauses(requeue.PauseOptions{}), Timeout: clock.Timeout(30 * time.Second), Clock: clock.Runtime{}, Logger: slog.New(slog.NewTextHandler(&d.log, nil))})
}

func (d *desk) route(repository string) {
	d.routes = mapping.NewRoutes([]mapping.Route{{Name: repository, Repositories: []string{repository}, Project: project}})
}

// rest works the due key, and reports whether there was one.
func (d *desk) rest(t *testing.T) bool {
	t.Helper()
	c, _, err := d.Claim(t.Context(), project, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		return false
	}
	if _, err := d.FinishAndClaim(t.Context(), c, c.Link, nil, store.Outcome{Kind: store.Done}, 0); err != nil {
		t.Fatal(err)
	}
	return true
}

// TestRerouteNamesFewRoutes: the warning about dormant links names ten routes, and counts the others.
func TestRerouteNamesFewRoutes(t *testing.T) {
	d, r := newDesk(t, mapping.Left, "acme/web")
	d.called = "acme/gone"
	for i := range 12 {
		repository := fmt.Sprintf("acme/site-%02d", i)
		l := &mapping.Link{ID: mapping.LinkID(repository), Project: project, Route: repository, Pair: mapping.Pair{State: mapping.Linked, Issue: mapping.IssueID{ID: int64(100 + i), Repo: repository, Number: 1}}}
		if _, err := d.Observe(t.Context(), project, []store.Observation{{Refs: l.Refs(), Create: l}}); err != nil {
			t.Fatal(err)
		}
	}
	if counts, err := r.Reroute(t.Context()); err != nil || counts.Dormant() != 12 {
		t.Fatalf("%d links are dormant, %v", counts.Dormant(), err)
	}
	if log := d.log.String(); strings.Count(log, "acme/site-") != 10 || !strings.Contains(log, "2 more") {
		t.Errorf("the log has %s", log)
	}
}

// TestRerouteWhileGitHubIsSilent: the search ends, and the work on a link asks again.
func TestRerouteWhileGitHubIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, r := newDesk(t, mapping.Linked, "acme/site")
		d.silent = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if counts, err := r.Reroute(ctx); err != nil || counts.Dormant() != 1 || !d.rest(t) {
			t.Errorf("%d links are dormant, %v; want one, whose key is due", counts.Dormant(), err)
		}
	})
}

// TestReroute: a link is due where another route takes it, one takes it again, or none does.
func TestReroute(t *testing.T) {
	for name, c := range map[string]struct {
		state                  mapping.LinkState
		routed                 string
		called                 string
		moved, resumed, parted int
	}{
		"the same route":                {mapping.Linked, "acme/web", "acme/web", 0, 0, 0},
		"another route":                 {mapping.Linked, "acme/*", "acme/web", 1, 0, 0},
		"none":                          {mapping.Linked, "acme/site", "acme/web", 0, 0, 1},
		"none, as before":               {mapping.Dormant, "acme/site", "acme/web", 0, 0, 0},
		"one again":                     {mapping.Dormant, "acme/web", "acme/web", 0, 1, 0},
		"one for the name of now":       {mapping.Linked, "acme/site", "acme/site", 1, 0, 0},
		"one again, by the name of now": {mapping.Dormant, "acme/site", "acme/site", 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d, r := newDesk(t, c.state, c.routed)
			d.called = c.called
			got, err := r.Reroute(t.Context())
			if err != nil || got.Moved != c.moved || got.Resumed != c.resumed || got.Dormant() != c.parted {
				t.Errorf("%+v, %d dormant, %v", got, got.Dormant(), err)
			}
			if moves := got.Moves(); (moves == "acme/web → "+c.routed+" (1)") != (c.moved == 1) {
				t.Errorf("it says that links move by %q", moves)
			}
			if due := d.rest(t); due != (c.moved+c.resumed+c.parted > 0) {
				t.Errorf("the key is due: %t", due)
			}
		})
	}
}

// TestRenamedRepositoriesAreRerouted: the links of a renamed repository are searched once for the
// present routes, however often the rename is reported. One line tells of each search.
func TestRenamedRepositoriesAreRerouted(t *testing.T) {
	d, r := newDesk(t, mapping.Dormant, "acme/site")
	if _, err := r.Reroute(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := func(to string) (due bool, listed int) {
		t.Helper()
		before := d.listed
		r.Renamed("acme/web", to)
		if err := r.RerouteRenamed(t.Context()); err != nil {
			t.Fatal(err)
		}
		return d.rest(t), d.listed - before
	}
	if due, listed := told("acme/elsewhere"); due || listed != 0 {
		t.Errorf("a name without a route: due %t, listed %d times", due, listed)
	}
	if due, listed := told("acme/site"); !due || listed == 0 {
		t.Errorf("a name with a route: due %t, listed %d times", due, listed)
	}
	if due, listed := told("acme/site"); due || listed != 0 {
		t.Errorf("the same again: due %t, listed %d times", due, listed)
	}
	const line = `msg="a repository was renamed: its links follow it" repo=acme/site was=acme/web`
	if log := d.log.String(); strings.Count(log, "renamed") != 1 || !strings.Contains(log, line) {
		t.Errorf("the log has %s", log)
	}
	d.route("acme/s*")
	if _, err := r.Reroute(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.rest(t)
	if due, _ := told("acme/site"); !due {
		t.Error("the same, with other routes: not due")
	}
	if log := d.log.String(); strings.Count(log, "was=acme/web") != 1 {
		t.Errorf("the log tells of one rename more than once: %s", log)
	}
}

// TestRerouteCountsWhatWorkersDid: workers have the new routes before the links are searched. The
// links that they made dormant, or took to another route, count with the others.
func TestRerouteCountsWhatWorkersDid(t *testing.T) {
	for name, c := range map[string]struct {
		routed         string
		work           func(*mapping.Link)
		dormant, moved int
	}{
		"no route takes it": {"acme/site", func(l *mapping.Link) { l.State = mapping.Dormant }, 1, 0},
		"another one does":  {"acme/*", func(l *mapping.Link) { l.Route = "acme/*" }, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d, r := newDesk(t, mapping.Linked, "acme/web")
			if _, err := r.Reroute(t.Context()); err != nil {
				t.Fatal(err)
			}
			d.route(c.routed)
			if err := d.Enqueue(t.Context(), store.Key{Project: project, Link: "l1"}, 0, false); err != nil {
				t.Fatal(err)
			}
			claim, _, err := d.Claim(t.Context(), project, time.Minute)
			if err != nil || claim == nil {
				t.Fatalf("claim: %v, %v", claim, err)
			}
			c.work(claim.Link)
			if _, err := d.FinishAndClaim(t.Context(), claim, claim.Link, nil, store.Outcome{Kind: store.Done}, 0); err != nil {
				t.Fatal(err)
			}
			for i, want := range [][2]int{{c.dormant, c.moved}, {0, 0}} {
				got, err := r.Reroute(t.Context())
				if err != nil || got.Dormant() != want[0] || got.Moved != want[1] || d.rest(t) {
					t.Errorf("search %d: %d links are dormant, %d moved, %v; want %v and no key due", i, got.Dormant(), got.Moved, err, want)
				}
			}
		})
	}
}

// TestLinksOfAProjectWithoutAName: a route is pointed to another project. Its links stay in the
// former project while that is configured. Then they are only counted, and they resume when it is
// configured again.
func TestLinksOfAProjectWithoutAName(t *testing.T) {
	d, r := newDesk(t, mapping.Linked, "acme/web")
	elsewhere := mapping.Route{Name: "acme/web", Repositories: []string{"acme/web"}, Project: "other"}
	named := mapping.NewRoutes([]mapping.Route{elsewhere}, mapping.PlanningProject{ID: project, Name: "web"})
	for i, step := range []struct {
		routes           mapping.Routes
		dormant, resumed int
	}{
		{d.routes, 0, 0},
		{named, 0, 0},
		{mapping.NewRoutes([]mapping.Route{elsewhere}), 1, 0},
		{named, 0, 1},
		{d.routes, 0, 0},
	} {
		d.routes = step.routes
		counts, err := r.Reroute(t.Context())
		if err != nil || counts.Dormant() != step.dormant || counts.Resumed != step.resumed {
			t.Errorf("step %d: %d links are dormant, %d resumed, %v; want %d and %d", i, counts.Dormant(), counts.Resumed, err, step.dormant, step.resumed)
		}
		if due := d.rest(t); due != (step.resumed > 0) { // nobody works the keys of an unnamed project
			t.Errorf("step %d: the key is due: %t", i, due)
		}
	}
}

// TestReplicasTakeRoutesOverOneAfterTheOther: a replica with the former routes makes a link
// dormant whose route is back. The last replica to take the new routes, by a reload or a restart,
// makes it due.
func TestReplicasTakeRoutesOverOneAfterTheOther(t *testing.T) {
	for name, restarts := range map[string]bool{"by a reload": false, "by a restart": true} {
		t.Run(name, func(t *testing.T) {
			d, first := newDesk(t, mapping.Dormant, "acme/site")
			second := d.replica()
			for _, r := range []*requeue.Requeuer{first, second} {
				if _, err := r.Reroute(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			d.route("acme/web")
			if counts, err := first.Reroute(t.Context()); err != nil || counts.Resumed != 1 {
				t.Fatalf("%+v, %v", counts, err)
			}
			d.rest(t) // the second one, which finds no route
			if restarts {
				second = d.replica()
			}
			if counts, err := second.Reroute(t.Context()); err != nil || counts.Resumed != 1 {
				t.Errorf("%+v, %v; want one link that is resumed", counts, err)
			}
			if !d.rest(t) {
				t.Error("the key is not due")
			}
		})
	}
}

// TestARouteThatMakesNoIssuesAnyMore: the card that waits for its issue is due when its route makes
// none any more, and when that makes them again.
func TestARouteThatMakesNoIssuesAnyMore(t *testing.T) {
	d, r := newDesk(t, mapping.Left, "acme/web")
	route := func(newCardsIn string) {
		d.routes = mapping.NewRoutes([]mapping.Route{{
			Name: "acme/web", Repositories: []string{"acme/web"}, Project: project, Bucket: "Incoming", Direction: mapping.Both, CreateIssues: true, NewCardsIn: newCardsIn,
		}})
	}
	route("acme/web")
	l := d.routes.ByName("acme/web").EnterCard(&mapping.Card{ID: "c", BucketName: "Incoming"}, time.Now())
	if _, err := d.Observe(t.Context(), project, []store.Observation{{Refs: l.Refs(), Create: l}}); err != nil {
		t.Fatal(err)
	}
	d.rest(t)
	reroute := func(dormant, resumed int) {
		t.Helper()
		counts, err := r.Reroute(t.Context())
		if err != nil || counts.Dormant() != dormant || counts.Resumed != resumed {
			t.Errorf("%d links are dormant, %d resumed, %v; want %d and %d", counts.Dormant(), counts.Resumed, err, dormant, resumed)
		}
	}
	reroute(0, 0)
	route("")
	reroute(1, 0)
	c, _, err := d.Claim(t.Context(), project, time.Minute)
	if err != nil || c == nil {
		t.Fatal("the key is not due", err)
	}
	if err := c.Link.Advance(mapping.EventRouteRemoved); err != nil {
		t.Fatal(err)
	}
	if _, err := d.FinishAndClaim(t.Context(), c, c.Link, nil, store.Outcome{Kind: store.Done}, 0); err != nil {
		t.Fatal(err)
	}
	reroute(0, 0)
	route("acme/web")
	reroute(0, 1)
	if !d.rest(t) {
		t.Error("the key is not due")
	}
}
