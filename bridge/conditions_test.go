package bridge_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	admin "planbridge/bridge/status"
)

// series are the lines of a scrape that show a metric.
func series(text, name string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "planbridge_"+name+"{") || strings.HasPrefix(line, "planbridge_"+name+" ") {
			out = append(out, strings.TrimSpace(strings.TrimPrefix(line, "planbridge_")))
		}
	}
	return out
}

// TestSeriesBeginAtZero: before anything happened each series of a route is there at zero, and
// there is none for what the route does not do.
func TestSeriesBeginAtZero(t *testing.T) {
	w := world(t, bridgetest.Options{Idle: true, Dir: t.TempDir(), Config: func(yaml string) string {
		return yaml + `    conflicts: {title: ask}
  - {name: out, repository: acme/docs, project: web, bucket: Later, direction: to_planning, create_issues: false, tracking_task: false, tasks: none}
`
	}})
	a, err := bridge.New(bridge.Options{Config: load(t, w, same), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	answer := httptest.NewRecorder()
	a.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/metrics", http.NoBody))
	text := answer.Body.String()
	for name, want := range map[string][]string{
		"breaker_open":   {`breaker_open{api="github",project=""} 0`, `breaker_open{api="planning",project="web"} 0`},
		"route_paused":   {`route_paused{route="acme/web"} 0`, `route_paused{route="out"} 0`},
		"open_questions": {`open_questions{route="acme/web"} 0`},
		"reloads_total":  {`reloads_total{result="done"} 0`, `reloads_total{result="refused"} 0`},
		"braked_total": {
			`braked_total{kind="closes",route="acme/web"} 0`, `braked_total{kind="creates",route="acme/web"} 0`, `braked_total{kind="creates",route="out"} 0`,
		},
		"github_write_budget_remaining": {
			`github_write_budget_remaining{class="content",window="hour"} 600000`, `github_write_budget_remaining{class="content",window="minute"} 10000`,
			`github_write_budget_remaining{class="edits",window="minute"} 10000`,
		},
		"configuration_refused":                   {"configuration_refused 0"},
		"catch_up_last_success_timestamp_seconds": {"catch_up_last_success_timestamp_seconds 0"},
		"webhook_last_delivery_timestamp_seconds": {"webhook_last_delivery_timestamp_seconds 0"},
		"poll_last_success_timestamp_seconds":     {`poll_last_success_timestamp_seconds{project="web"} 0`},
		"lost_updates_recovered_total":            {`lost_updates_recovered_total{route="acme/web"} 0`},
	} {
		if got := series(text, name); !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", name, got, want)
		}
	}
	for _, line := range series(text, "attribute_writes_total") {
		if strings.Contains(line, `route="out"`) && (strings.Contains(line, `side="github"`) || strings.Contains(line, `attribute="state"`)) {
			t.Errorf("a route towards planning without a tracking task has %s", line)
		}
	}
	for _, line := range series(text, "conflicts_total") {
		if strings.Contains(line, `resolution="ask"`) && line != `conflicts_total{attribute="title",resolution="ask",route="acme/web"} 0` {
			t.Errorf("nobody is asked by %s", line)
		}
	}
}

// TestConditionsAreShown: a delivery, a catch-up, a pause and a refused reload show in the
// metrics, and so does their end.
func TestConditionsAreShown(t *testing.T) {
	w := world(t, bridgetest.Options{})
	shows := func(line string) {
		t.Helper()
		until(t, w, line, func() bool { return strings.Contains(scrape(t, w.App), "\nplanbridge_"+line+"\n") })
	}
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "One"})
	for _, name := range []string{"webhook_last_delivery_timestamp_seconds", "catch_up_last_success_timestamp_seconds"} {
		until(t, w, name, func() bool { return !strings.HasSuffix(series(scrape(t, w.App), name)[0], " 0") })
	}
	op := w.App.Operator()
	if err := op.Pause(t.Context(), "acme/web"); err != nil {
		t.Fatal(err)
	}
	shows(`route_paused{route="acme/web"} 1`)
	if err := op.Resume(t.Context(), "acme/web"); err != nil {
		t.Fatal(err)
	}
	shows(`route_paused{route="acme/web"} 0`)
	w.App.RefuseReload(errors.New("a fault"))
	shows("configuration_refused 1")
	faults := func() []admin.Fault { return askFor[admin.Health](t, w, "/api/v1/health").Configuration }
	if got := faults(); len(got) != 1 || !strings.HasSuffix(got[0].Says, "is in force: a fault") {
		t.Errorf("after a refused reload: %q", got)
	}
	if err := w.App.Reload(t.Context(), load(t, w, same)); err != nil {
		t.Fatal(err)
	}
	shows("configuration_refused 0")
	if got := faults(); len(got) != 0 {
		t.Errorf("after a reload: %q", got)
	}
	shows(`reloads_total{result="refused"} 1`)
}

// TestABreakerIsShown: while planning does not answer its breaker is open, and GitHub's is not.
func TestABreakerIsShown(t *testing.T) {
	w := world(t, bridgetest.Options{})
	w.Planning.Close()
	open, closed := `planbridge_breaker_open{api="planning",project="web"} 1`, `planbridge_breaker_open{api="github",project=""} 0`
	until(t, w, "the breaker", func() bool {
		text := scrape(t, w.App)
		return strings.Contains(text, open) && strings.Contains(text, closed)
	})
}

// TestOpenQuestionsAreCounted: a conflict that people are asked about is an open question of its
// route.
func TestOpenQuestionsAreCounted(t *testing.T) {
	w := world(t, bridgetest.Options{Route: "conflicts: {title: ask}"})
	n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "One"})
	until(t, w, "the card", func() bool { return len(w.Project.Cards()) == 1 && len(w.Project.Cards()[0].Tasks) == 1 })
	goOn := w.Hold()
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Two" })
	w.Project.EditCard(w.Project.Cards()[0].ID, "alice", func(e *planningtest.CardEdit) { e.Title = "Three" })
	goOn()
	until(t, w, "the question", func() bool { return slices.Contains(w.Repo.Issue(n).Labels, "plan:conflict") })
	if got := series(scrape(t, w.App), "open_questions"); !slices.Equal(got, []string{`open_questions{route="acme/web"} 1`}) {
		t.Errorf("the questions are %v", got)
	}
}
