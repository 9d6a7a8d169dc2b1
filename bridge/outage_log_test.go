package bridge_test

import (
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/factlog"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/session"
	"planbridge/store/redisstore/redistest"
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
			logger := slog.New(factlog.NewHandler(slog.NewTextHandler(log, nil), time.Now))
			w := bridgetest.StartIn(t, bridgetest.Options{Logger: logger})
			w.Repo.Open("octocat", githubtest.IssueSpec{Title: "one"})
			w.Await("its card", func() bool { return len(w.Project.Cards()) == 1 })
			w.AwaitSettled()
			factlog.Flush(t.Context(), logger)
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
			factlog.Flush(t.Context(), logger)
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

// TestAPartialOutageIsOneFact: planning answers reads and fails writes. Each poll ends the outage,
// and each write begins it, which is one fact until the writes go through.
func TestAPartialOutageIsOneFact(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	logger := slog.New(factlog.NewHandler(slog.NewTextHandler(log, nil), time.Now))
	w := bridgetest.StartIn(t, bridgetest.Options{Logger: logger})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "one"})
	w.Await("its card", func() bool { return len(w.Project.Cards()) == 1 })
	w.AwaitSettled()
	factlog.Flush(t.Context(), logger)
	before := len(log.String())
	writes := w.Planning.Fault(planningtest.Fault{Kind: planningtest.Before, Times: -1, Match: func(method, _ string) bool { return method != http.MethodGet }})
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "two" })
	w.Await("some writes fail", func() bool { return writes.Count() >= 10 })
	writes.Remove()
	w.Await("it follows", func() bool { return w.Project.Cards()[0].Title == "two" })
	w.AwaitSettled()
	factlog.Flush(t.Context(), logger)
	const begins, ends = `fact="requests to a service fail`, `over="requests to a service fail`
	if facts := warned.FindAllString(log.String()[before:], -1); !slices.Equal(facts, []string{begins, ends}) {
		t.Errorf("the log says %q:\n%s", facts, log.String()[before:])
	}
}

// TestAStoreThatIsAwayIsOneFact: while Redis is away, what cannot be claimed, polled, caught up or
// taken in is one line when that begins, and one when it ends. A restart that lost nothing is a warning.
func TestAStoreThatIsAwayIsOneFact(t *testing.T) {
	t.Parallel()
	log, r := &logtest.Text{}, redistest.Start(t)
	logger := slog.New(factlog.NewHandler(slog.NewTextHandler(log, nil), time.Now))
	w := bridgetest.StartIn(t, bridgetest.Options{Store: r.URL, CatchUp: time.Second, Logger: logger})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "one"})
	w.Await("its card", func() bool { return len(w.Project.Cards()) == 1 })
	w.AwaitSettled()
	factlog.Flush(t.Context(), logger)
	before := len(log.String())
	began := time.Now()
	r.Stop()
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "two" })
	w.Await("the outage is noticed", func() bool { return log.Lines(`fact="the store is away"`) > 0 })
	w.Await("its session ends", func() bool { return time.Since(began) > session.Lasts })
	r.Restart()
	w.Await("it follows", func() bool { return w.Project.Cards()[0].Title == "two" })
	w.Await("the outage is over", func() bool {
		factlog.Flush(t.Context(), logger)
		return log.Lines(`over="the store is away"`) > 0 && log.Lines(restarted) > 0
	})
	w.AwaitSettled()
	facts, restarts := map[string]int{}, 0
	for line := range strings.Lines(log.String()[before:]) {
		if name := warned.FindString(line); name != "" {
			facts[name]++
		} else if strings.Contains(line, restarted) {
			restarts++
		} else if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			t.Errorf("beside it the log warns: %s", line)
		}
	}
	if want := map[string]int{`fact="the store is away`: 1, `over="the store is away`: 1}; !maps.Equal(facts, want) || restarts != 1 {
		t.Errorf("the log says %v and %d times that the servers restarted:\n%s", facts, restarts, log.String()[before:])
	}
}

// TestALostStoreIsOneFact: that Redis lost what it held is an error, and over once everything that
// is marked was looked at.
func TestALostStoreIsOneFact(t *testing.T) {
	t.Parallel()
	log, r := &logtest.Text{}, redistest.Start(t)
	logger := slog.New(factlog.NewHandler(slog.NewTextHandler(log, nil), time.Now))
	w := bridgetest.StartIn(t, bridgetest.Options{Store: r.URL, CatchUp: time.Second, Logger: logger})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "one"})
	w.Await("its card", func() bool { return len(w.Project.Cards()) == 1 })
	w.AwaitSettled()
	r.Flush()
	w.Await("everything is looked at", func() bool {
		factlog.Flush(t.Context(), logger)
		return log.Lines(`over="the store was lost"`) > 0
	})
	if n := log.Lines("level=ERROR msg=\"the store is not the one it was: everything marked is looked at"); n != 1 || log.Lines(restarted) > 0 {
		t.Errorf("%d lines name the loss:\n%s", n, log)
	}
}

// TestAStoreThatIsFullIsOneFact: while Redis has no room for a write, whatever needs one is one
// error, which ends once writes go through.
func TestAStoreThatIsFullIsOneFact(t *testing.T) {
	t.Parallel()
	log, r := &logtest.Text{}, redistest.Start(t)
	logger := slog.New(factlog.NewHandler(slog.NewTextHandler(log, nil), time.Now))
	w := bridgetest.StartIn(t, bridgetest.Options{Store: r.URL, CatchUp: time.Second, Logger: logger})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "one"})
	w.Await("its card", func() bool { return len(w.Project.Cards()) == 1 })
	w.AwaitSettled()
	factlog.Flush(t.Context(), logger)
	before := len(log.String())
	room := func(most string) {
		t.Helper()
		if _, err := r.Do("CONFIG", "SET", "maxmemory", most); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	room("1")
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "two" })
	w.Await("its session ends", func() bool { return time.Since(began) > session.Lasts+session.Interval })
	room("0")
	w.Await("it follows", func() bool { return w.Project.Cards()[0].Title == "two" })
	w.AwaitSettled()
	w.Await("it is over", func() bool {
		factlog.Flush(t.Context(), logger)
		return log.Lines(`over="the store is full"`) > 0
	})
	var facts []string
	for line := range strings.Lines(log.String()[before:]) {
		if name := warned.FindString(line); name != "" {
			facts = append(facts, name)
		} else if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			t.Errorf("beside it the log warns: %s", line)
		}
	}
	if want := []string{`fact="the store is full`, `over="the store is full`}; !slices.Equal(facts, want) || log.Lines("level=ERROR") != 1 {
		t.Errorf("the log says %q, want %q:\n%s", facts, want, log.String()[before:])
	}
}

// restarted is the line of a restart of the store's servers.
const restarted = `level=WARN msg="the store's servers restarted`

// warned is what of a line says that a fact begins, or that it ends.
var warned = regexp.MustCompile(`(fact|over)="[^"]+`)

// TestWhatGitHubRefusesIsOneFact: a limit and a token that is refused are one line when they begin
// and one when they end, whatever meets them.
func TestWhatGitHubRefusesIsOneFact(t *testing.T) {
	t.Parallel()
	for fact, fault := range map[string]githubtest.Fault{
		"GitHub limits requests":       {Code: 403, Header: http.Header{"Retry-After": {"2"}}, Body: `{"message": "You have exceeded a secondary rate limit."}`},
		"a service refuses the secret": {Code: 401, Body: `{"message": "Bad credentials"}`},
	} {
		t.Run(fact, func(t *testing.T) {
			t.Parallel()
			log := &logtest.Text{}
			logger := slog.New(factlog.NewHandler(slog.NewTextHandler(log, nil), time.Now))
			w := bridgetest.StartIn(t, bridgetest.Options{CatchUp: 300 * time.Millisecond, Logger: logger})
			w.Repo.Open("octocat", githubtest.IssueSpec{Title: "one"})
			w.Await("its card", func() bool { return len(w.Project.Cards()) == 1 })
			w.AwaitSettled()
			factlog.Flush(t.Context(), logger)
			before := len(log.String())
			fault.Times, fault.Kind = -1, githubtest.Status
			h := w.GitHub.Fault(fault)
			w.Project.EditCard(w.Project.Cards()[0].ID, "alice", func(e *planningtest.CardEdit) { e.Title = "two" })
			w.Await("it is met", func() bool { return strings.Contains(log.String()[before:], "fact=") })
			h.Remove()
			w.Await("it follows", func() bool { return w.Repo.Issue(1).Title == "two" })
			w.Await("it is over", func() bool {
				factlog.Flush(t.Context(), logger)
				return strings.Contains(log.String()[before:], `over="`+fact)
			})
			w.AwaitSettled()
			var facts []string
			for line := range strings.Lines(log.String()[before:]) {
				if name := warned.FindString(line); name != "" {
					facts = append(facts, name)
				} else if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
					t.Errorf("beside it the log warns: %s", line)
				}
			}
			if want := []string{`fact="` + fact, `over="` + fact}; !slices.Equal(facts, want) {
				t.Errorf("the log says %q, want %q:\n%s", facts, want, log.String()[before:])
			}
		})
	}
}
