package bridgetest_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// world starts a world that ends with the test.
type world struct {
	*bridgetest.World
	t testing.TB
}

func start(t testing.TB, o bridgetest.Options) *world {
	t.Helper()
	if o.Logger == nil && os.Getenv("PLANBRIDGE_TEST_LOG") != "" {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	o.Dir = t.TempDir()
	w, err := bridgetest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{w, t}
}

// patience is how long is waited for a state of the world: many times what it
// takes, for machines on which much else runs.
const patience = 3 * time.Minute

// until waits for a state of the world.
func (w *world) until(what string, cond func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if err := w.Until(ctx, cond); err != nil {
		w.t.Fatalf("never: %s\ncards: %+v\nissues: %+v", what, w.Project.Cards(), w.Repo.Issues())
	}
}

func (w *world) settled() {
	w.t.Helper()
	if err := w.moving(func(ctx context.Context) error { return w.Settled(ctx, 3) }); err != nil {
		w.t.Fatalf("never settled: %v", err)
	}
}

// moving waits, with patience that begins anew for as long as deliveries arrive
// or something is written: what takes many steps takes long on a slow machine.
func (w *world) moving(wait func(context.Context) error) error {
	moved := func() int {
		n := w.Writes()
		for _, d := range w.GitHub.Deliveries() {
			if d.Status != 0 {
				n++
			}
		}
		return n
	}
	for {
		before := moved()
		ctx, cancel := context.WithTimeout(w.t.Context(), patience)
		err := wait(ctx)
		cancel()
		if err == nil || moved() == before {
			return err
		}
	}
}

// open opens an issue and waits for its card and tracking task.
func (w *world) open(spec githubtest.IssueSpec) (number int, card string) {
	w.t.Helper()
	number = w.Repo.Open("octocat", spec)
	w.until("a card for "+spec.Title, func() bool {
		for _, c := range w.Project.Cards() {
			if c.Title == spec.Title && len(c.Tasks) == 1 {
				card = c.ID
				return true
			}
		}
		return false
	})
	return number, card
}

func TestIssueBecomesCardAndBack(t *testing.T) { onBothStores(t, issueBecomesCardAndBack) }

func issueBecomesCardAndBack(t *testing.T, o bridgetest.Options) {
	w := start(t, o)
	n, card := w.open(githubtest.IssueSpec{Title: "Login fails", Body: "On *every* browser.", Labels: []string{"points/3"}})
	c := w.Project.Card(card)
	if got := c.Summary; !strings.HasPrefix(got, "On *every* browser.") || !strings.Contains(got, "[acme/web#1](https://github.com/acme/web/issues/1#") {
		t.Errorf("summary %q", got)
	}
	if c.Estimate == nil || *c.Estimate != 3 {
		t.Errorf("estimate %v", c.Estimate)
	}
	w.settled()

	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Login fails on Firefox" })
	w.until("the new title on the card", func() bool { return w.Project.Card(card).Title == "Login fails on Firefox" })
	w.settled()

	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Login broken" })
	w.until("the new title on the issue", func() bool { return w.Repo.Issue(n).Title == "Login broken" })

	w.Repo.Close(n, "octocat", "")
	w.until("the task done", func() bool { return w.Project.Tasks(card)[0].State == "done" })
	w.settled()
	task := w.Project.Tasks(card)[0].ID
	w.Project.EditTask(task, "alice", func(e *planningtest.TaskEdit) { e.State = "in-progress" })
	w.until("the issue open and in progress", func() bool {
		i := w.Repo.Issue(n)
		return i.State == "open" && contains(i.Labels, "in-progress")
	})
	w.settled()
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestCardBecomesIssue(t *testing.T) { onBothStores(t, cardBecomesIssue) }

func cardBecomesIssue(t *testing.T, o bridgetest.Options) {
	w := start(t, o)
	w.Project.NewCard("Later", "alice", planningtest.CardSpec{Title: "elsewhere"})
	w.until("a poll", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	five := 5.0
	card := w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "Pay by card", Summary: "Ask @octocat, see #12.", Estimate: &five})
	w.until("an issue", func() bool { return len(w.Repo.Issues()) == 1 })
	w.settled()
	i := w.Repo.Issues()[0]
	if i.Title != "Pay by card" || !contains(i.Labels, "points/5") || strings.Contains(i.Body, "@octocat") {
		t.Errorf("issue %+v", i)
	}
	w.Repo.Edit(i.Number, "octocat", func(e *githubtest.IssueEdit) { e.Body = strings.Replace(e.Body, "Ask", "Please ask", 1) })
	w.until("the edited summary on the card", func() bool { return w.Project.Card(card).Summary == "Please ask @octocat, see #12." })
	w.settled()
}
