package bridgetest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
)

// TestBurndown: the hours left in the active sprints are a metric, a chart on the status page and
// an answer of the API. Sprints of one title have different labels.
func TestBurndown(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{})
	_, card := w.OpenIssue(githubtest.IssueSpec{Title: "Much work"})
	w.AwaitSettled()
	eight := 8.0
	task := w.Project.NewTask(card, "alice", planningtest.TaskSpec{Title: "Do it", Estimate: &eight})
	w.Project.LogTime(task, "alice", 3)
	week := planningtest.SprintSpec{Title: "This week", Start: time.Now().Add(-36 * time.Hour), End: time.Now().Add(100 * time.Hour)}
	sprint := w.Project.NewSprint(week)
	w.Project.NewSprint(week)
	w.Project.MoveToSprint(card, sprint)

	ask := func(path string) string {
		resp, err := http.Get(w.AdminURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %s, %v\n%s", path, resp.Status, err, text)
		}
		return string(text)
	}
	const metric = `planbridge_sprint_remaining_hours{project="web",sprint="This week`
	w.Await("both sprints among the metrics", func() bool { return strings.Count(ask("/metrics"), metric) == 2 })
	if text := ask("/metrics"); !strings.Contains(text, metric+`"} 3`) && !strings.Contains(text, metric+` (`+sprint+`)"} 3`) {
		t.Errorf("no metric of the sprint has three hours left:\n%s", text)
	}
	var got status.Burndowns
	if err := json.Unmarshal([]byte(ask("/api/v1/burndown")), &got); err != nil || len(got.Sprints) != 2 {
		t.Fatalf("the API answers %+v, %v", got, err)
	}
	for _, s := range got.Sprints {
		if s.Sprint == sprint && (s.Original != 8 || s.Now != 3 || !s.Active || s.Project != "web") {
			t.Errorf("the sprint is answered as %+v", s)
		}
	}
	if page := ask("/"); strings.Count(page, "<polyline points=") != 2 {
		t.Error("the page shows no charts of both sprints")
	}
	if n := w.Planning.Calls(planningtest.OpSprintBurndown); n < 2 || n > 4 {
		t.Errorf("%d burndowns were read", n)
	}
}
