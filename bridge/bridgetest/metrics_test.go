package bridgetest_test

import (
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestMetrics: the live endpoint's output after some work is well-formed to Prometheus' own tool,
// and every metric that the work moves is there.
func TestMetrics(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is missing: install Debian's package prometheus (make deps)")
	}
	w := start(t, bridgetest.Options{})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "measured"})
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "measured again" })
	w.Await("the title on the issue", func() bool { return w.Repo.Issue(n).Title == "measured again" })
	w.collide(n, card, "one", "two")
	w.AwaitSettled()
	resp, err := http.Get(w.AdminURL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	check.Stdin = bytes.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	for _, name := range []string{
		`webhook_deliveries_total{event="issues",result="stored"}`, "queue_depth ", "queue_oldest_seconds ",
		`reconcile_total{result="done",route="acme/web"}`, `reconcile_duration_seconds_count{route="acme/web"}`,
		`sync_lag_seconds_count{direction="to_planning"}`, `sync_lag_seconds_count{direction="to_github"}`,
		`attribute_writes_total{attribute="title",route="acme/web",side="github"}`,
		`conflicts_total{attribute="title",resolution="planning",route="acme/web"} 1`,
		`api_requests_total{api="planning"`, `api_requests_total{api="github"`, "api_request_duration_seconds_count{",
		"github_rate_limit_remaining ", `poll_duration_seconds_count{project="web"}`, `poll_last_success_timestamp_seconds{project="web"}`,
		`links{route="acme/web",state="linked"} 1`, `failures{route="acme/web"} 0`, `echoes_total{side="github"}`,
	} {
		if !strings.Contains(string(text), "planbridge_"+name) {
			t.Errorf("no metric %s", name)
		}
	}
	for _, name := range []string{"go_goroutines ", "process_resident_memory_bytes ", "go_build_info{"} {
		if !strings.Contains(string(text), "\n"+name) {
			t.Errorf("no metric %s", name)
		}
	}
}
