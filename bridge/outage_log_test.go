package bridge_test

import (
	"log/slog"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
	"planbridge/bridge/planningtest"
)

// TestAnOutageIsOneFact: while requests to a service fail, its breaker, polls and keys that wait
// are one fact of the log. It is a line when it begins and one when it ends.
func TestAnOutageIsOneFact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		down    func(w *bridgetest.TestWorld, is bool)
		edit    func(*bridgetest.TestWorld)
		service string
	}{
		"planning": {func(w *bridgetest.TestWorld, is bool) { w.Planning.Down(is) }, func(w *bridgetest.TestWorld) {
			w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "two" })
		}, "planning:"},
		"GitHub": {func(w *bridgetest.TestWorld, is bool) { w.GitHub.Down(is) }, func(w *bridgetest.TestWorld) {
			w.Project.EditCard(w.Project.Cards()[0].ID, "alice", func(e *planningtest.CardEdit) { e.Title = "two" })
		}, "github"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &logtest.Text{}
			w := bridgetest.StartIn(t, bridgetest.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
			w.Repo.Open("octocat", githubtest.IssueSpec{Title: "one"})
			w.Await("its card", func() bool { return len(w.Project.Cards()) == 1 })
			w.AwaitSettled()
			before := len(log.String())
			c.down(w, true)
			c.edit(w)
			w.Await("the outage is noticed, and a key waits", func() bool {
				queues, err := w.App.Operator().Overview(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return len(queues["web"].Waiting) > 0 && log.Lines("requests to a service fail") > 0
			})
			c.down(w, false)
			w.Await("it follows", func() bool { return w.Project.Cards()[0].Title == "two" && w.Repo.Issue(1).Title == "two" })
			var facts, others []string
			for line := range strings.Lines(log.String()[before:]) {
				if strings.Contains(line, "fact=") && !strings.Contains(line, "times=") || strings.Contains(line, "over=") {
					facts = append(facts, line)
				} else {
					others = append(others, line)
				}
			}
			if strings.Contains(strings.Join(others, ""), "to be tried again") {
				t.Errorf("beside it the log warns\n%s", strings.Join(others, ""))
			}
			if len(facts) != 2 || !strings.Contains(facts[0], `fact="requests to a service fail"`) || !strings.Contains(facts[1], `over="requests to a service fail"`) || !strings.Contains(facts[0], "service="+c.service) {
				t.Errorf("the log says\n%s", strings.Join(facts, ""))
			}
		})
	}
}
