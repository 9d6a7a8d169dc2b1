package metrics_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/metrics"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// program is what is scraped: a store and a process of two projects, web and api.
type program struct {
	routes    []mapping.Route
	tallies   map[mapping.ObjectID]store.Tally
	slow      map[mapping.ObjectID]time.Duration // until the store answers for a project
	away      error                              // answers of the store and the services
	paused    string
	hubDown   bool
	down      map[mapping.ObjectID]bool
	rate      int
	budgets   []status.Budget
	questions map[mapping.ObjectID]map[string]int
	charts    map[mapping.ObjectID][]mapping.Burndown
	panics    string // of the method with the name
}

func newProgram() *program {
	return &program{
		routes: []mapping.Route{
			{Name: "web", Project: "p1", ProjectName: "one", Direction: mapping.Both},
			{Name: "api", Project: "p2", ProjectName: "two", Direction: mapping.Both},
		},
		tallies: map[mapping.ObjectID]store.Tally{"p1": tally("web", mapping.Linked, 1), "p2": tally("api", mapping.Orphaned, 2)},
		slow:    map[mapping.ObjectID]time.Duration{}, rate: -1,
	}
}

// tally has so many links of a route in a state.
func tally(route string, state mapping.LinkState, n int) (t store.Tally) {
	t.Count(route, state, n)
	return t
}

func (p *program) told(method string) {
	if p.panics == method {
		panic(method)
	}
}

func (p *program) Tally(ctx context.Context, project mapping.ObjectID) (store.Tally, error) {
	p.told("Tally")
	select {
	case <-time.After(p.slow[project]):
		return p.tallies[project], p.away
	case <-ctx.Done():
		return store.Tally{}, ctx.Err()
	}
}

func (p *program) Projects(context.Context) ([]mapping.ObjectID, error) {
	return slices.Sorted(maps.Keys(p.tallies)), p.away
}

func (p *program) Conflicts(context.Context, mapping.ObjectID, string, int) ([]mapping.Conflict, string, error) {
	return nil, "", p.away
}
func (p *program) Routes() mapping.Routes   { return mapping.NewRoutes(p.routes) }
func (p *program) Paused(route string) bool { return p.paused == route }
func (p *program) GitHubDown() bool         { p.told("GitHubDown"); return p.hubDown }
func (p *program) RateRemaining() int       { return p.rate }

func (p *program) PlanningDown(project mapping.ObjectID) (down, known bool) {
	down, known = p.down[project]
	return down, known
}
func (p *program) Budgets(context.Context) ([]status.Budget, error) { return p.budgets, p.away }

func (p *program) Questions(_ context.Context, project mapping.ObjectID) (map[string]int, error) {
	return p.questions[project], p.away
}

func (p *program) Burndown(_ context.Context, project mapping.ObjectID) ([]mapping.Burndown, error) {
	p.told("Burndown")
	return p.charts[project], p.away
}

// scraped makes a scraper of a program. It returns the lines of the metrics whose names have
// one of the beginnings, without what all names begin with.
func scraped(t *testing.T, p *program) func(names ...string) string {
	reg := prometheus.NewRegistry()
	metrics.Register(reg, metrics.Options{Store: p, Source: p, Guard: guard.New(slog.New(slog.DiscardHandler)), Clock: clock.Runtime{}})
	return func(names ...string) string {
		t.Helper()
		return linesOf(t, reg, names...)
	}
}

func linesOf(t *testing.T, reg *prometheus.Registry, names ...string) string {
	t.Helper()
	scrape := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(scrape, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if scrape.Code != http.StatusOK {
		t.Fatal(scrape.Code, scrape.Body)
	}
	var lines []string
	for line := range strings.Lines(scrape.Body.String()) {
		name := strings.TrimPrefix(strings.TrimSpace(line), "planbridge_")
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(name, n) }) {
			lines = append(lines, name)
		}
	}
	return strings.Join(lines, "\n")
}

// TestScrape: the metrics of a scrape.
func TestScrape(t *testing.T) {
	ask := map[mapping.Attribute]mapping.Policy{mapping.Title: mapping.PolicyAsk}
	for name, c := range map[string]struct {
		of    func(*program)
		names []string
		want  string
	}{
		"the queue of all projects": {func(p *program) {
			p.tallies["p1"] = store.Tally{Queued: 2, Oldest: time.Now().Add(-time.Minute)}
			p.tallies["p2"] = store.Tally{Queued: 3, Oldest: time.Now().Add(-time.Hour)}
		}, []string{"queue_"}, "queue_depth 5\nqueue_oldest_seconds 3600"},
		"nothing is due": {func(*program) {}, []string{"queue_"}, "queue_depth 0\nqueue_oldest_seconds 0"},
		"links and failures, also where there are none": {
			func(p *program) {
				one := tally("web", mapping.Linked, 4)
				one.Failures["gone"] = 2 // of a route that is no more
				p.tallies["p1"] = one
			},
			[]string{`links{route="web",state="l`, `links{route="api",state="orphaned`, "failures"},
			"failures{route=\"api\"} 0\nfailures{route=\"gone\"} 2\nfailures{route=\"web\"} 0\n" +
				"links{route=\"api\",state=\"orphaned\"} 2\nlinks{route=\"web\",state=\"left\"} 0\nlinks{route=\"web\",state=\"linked\"} 4",
		},
		"links of a project that is not named": {
			func(p *program) {
				gone := tally("gone", mapping.Linked, 3)
				gone.Queued = 9
				gone.Count("gone", mapping.Erased, 1)
				gone.Failures["gone"] = 2
				p.tallies["p3"] = gone
			},
			[]string{`links{route="gone"`, `failures{route="gone"`, "queue_depth", `gauges_age_seconds{project="p3"`},
			"links{route=\"gone\",state=\"dormant\"} 3\nlinks{route=\"gone\",state=\"erased\"} 1\nqueue_depth 0",
		},
		"links that were not counted yet": {
			func(p *program) { p.tallies["p1"] = store.Tally{Queued: 1} },
			[]string{`links{route="web"`, `failures{route="web"`, "queue_depth"},
			"queue_depth 1",
		},
		"a store that does not answer": {func(p *program) { p.away = errors.New("away") }, []string{"queue_", "links", "failures", "gauges", "sprint", "open"}, ""},
		"requests that are left":       {func(p *program) { p.rate = 4321 }, []string{"github_rate"}, "github_rate_limit_remaining 4321"},
		"no answer told how many are":  {func(p *program) { p.rate = -1 }, []string{"github_rate"}, ""},
		"budgets": {func(p *program) {
			p.budgets = []status.Budget{{Name: "content", Window: "minute", Left: 7, Of: 70}, {Name: "edits", Window: "hour"}}
		}, []string{"github_write"}, "github_write_budget_remaining{class=\"content\",window=\"minute\"} 7\ngithub_write_budget_remaining{class=\"edits\",window=\"hour\"} 0"},
		"services that are left alone": {
			func(p *program) { p.hubDown, p.down = true, map[mapping.ObjectID]bool{"p2": false} },
			[]string{"breaker"},
			"breaker_open{api=\"github\",project=\"\"} 1\nbreaker_open{api=\"planning\",project=\"two\"} 0",
		},
		"a route that is paused": {func(p *program) { p.paused = "api" }, []string{"route_paused"}, "route_paused{route=\"api\"} 1\nroute_paused{route=\"web\"} 0"},
		"questions, of routes that ask": {func(p *program) {
			p.routes[0].Policies, p.questions = ask, map[mapping.ObjectID]map[string]int{"p1": {"web": 3}, "p2": {"api": 9}}
		}, []string{"open_questions"}, `open_questions{route="web"} 3`},
		"a route that asks of one side alone": {
			func(p *program) { p.routes[0].Policies, p.routes[0].Direction = ask, mapping.ToPlanning },
			[]string{"open_questions"},
			"",
		},
		"active sprints, told apart": {func(p *program) {
			p.charts = map[mapping.ObjectID][]mapping.Burndown{"p1": {
				{Sprint: "a", Title: "Twice", Active: true, Original: 8},
				{Sprint: "b", Title: "Twice", Active: true, Original: 5},
				{Sprint: "c", Active: true, Original: 2},
				{Sprint: "d", Title: "Ended", Original: 1},
				{Sprint: "e", Title: "Burning", Active: true, Original: 9, Remaining: []float64{9, 6, 4}, Start: time.Now().Add(-30 * time.Hour)},
			}}
		}, []string{"sprint"}, "sprint_remaining_hours{project=\"one\",sprint=\" (c)\"} 2\nsprint_remaining_hours{project=\"one\",sprint=\"Burning\"} 6\n" +
			"sprint_remaining_hours{project=\"one\",sprint=\"Twice\"} 8\nsprint_remaining_hours{project=\"one\",sprint=\"Twice (b)\"} 5"},
		"a source that panics costs its own": {
			func(p *program) { p.panics = "Burndown" },
			[]string{"sprint", "queue_depth", "route_paused"},
			"queue_depth 0\nroute_paused{route=\"api\"} 0\nroute_paused{route=\"web\"} 0",
		},
		"a collector that panics costs its own": {func(p *program) { p.panics = "GitHubDown" }, []string{"route_paused", "queue_depth"}, "queue_depth 0"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProgram()
				c.of(p)
				if got := scraped(t, p)(c.names...); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
			})
		})
	}
}

// TestAProjectThatIsSlow: a scrape waits for a moment and shows the values of the others. Of the
// slow project it shows the earlier value, for as long as that is of use. No sum lacks a part.
func TestAProjectThatIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		p.tallies["p1"], p.tallies["p2"] = store.Tally{Queued: 1}, store.Tally{Queued: 2}
		p.slow["p2"] = 5 * time.Second
		scrape, began := scraped(t, p), time.Now()
		if got, want := scrape("queue_depth", "gauges_age"), `gauges_age_seconds{project="one"} 2`; got != want {
			t.Errorf("at first:\n%s\nwant\n%s", got, want)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("a scrape took %s", took)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait() // it has answered
		p.slow["p2"] = time.Hour
		want := "gauges_age_seconds{project=\"one\"} 2\ngauges_age_seconds{project=\"two\"} 3\nqueue_depth 3"
		if got := scrape("queue_depth", "gauges_age"); got != want {
			t.Errorf("once it answered:\n%s\nwant\n%s", got, want)
		}
		time.Sleep(5 * time.Minute)
		if got, want := scrape("queue_depth", "gauges_age"), `gauges_age_seconds{project="one"} 2`; got != want {
			t.Errorf("long after:\n%s\nwant\n%s", got, want)
		}
		time.Sleep(time.Minute) // the last read ends
	})
}

// TestProcess: the last events of the process.
func TestProcess(t *testing.T) {
	reg := prometheus.NewRegistry()
	p := metrics.NewProcess(reg)
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"at first", func() {}, "catch_up_last_success_timestamp_seconds 0\nconfiguration_refused 0\nreloads_total{result=\"done\"} 0\nreloads_total{result=\"refused\"} 0"},
		{
			"a file that is refused", func() { p.Reloaded(errors.New("bad")) },
			"catch_up_last_success_timestamp_seconds 0\nconfiguration_refused 1\nreloads_total{result=\"done\"} 0\nreloads_total{result=\"refused\"} 1",
		},
		{
			"one that is taken, and a list", func() { p.Reloaded(nil); p.CaughtUp(time.UnixMilli(1500)) },
			"catch_up_last_success_timestamp_seconds 1.5\nconfiguration_refused 0\nreloads_total{result=\"done\"} 1\nreloads_total{result=\"refused\"} 1",
		},
	} {
		step.do()
		if got := linesOf(t, reg, "catch", "conf", "reloads"); got != step.want {
			t.Errorf("%s:\n%s\nwant\n%s", step.name, got, step.want)
		}
	}
}
