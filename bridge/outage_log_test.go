package bridge_test

import (
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/session"
	admin "planbridge/bridge/status"
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
			w := newLoggedWorld(t, bridgetest.Options{})
			c.down(w.TestWorld, true)
			c.edit(w.TestWorld)
			w.Await("the outage is noticed, and a key waits", func() bool {
				queues, err := w.App.Operator().Overview(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return len(queues["web"].Waiting) > 0 && w.log.Lines("requests to a service fail") > 0
			})
			c.down(w.TestWorld, false)
			w.Await("it follows", func() bool { return w.Project.Cards()[0].Title == "two" && w.Repo.Issue(1).Title == "two" })
			var facts, others []string
			for line := range strings.Lines(w.written()) {
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
	w := newLoggedWorld(t, bridgetest.Options{})
	writes := w.Planning.Fault(planningtest.Fault{Kind: planningtest.Before, Times: -1, Match: func(method, _ string) bool { return method != http.MethodGet }})
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "two" })
	w.Await("some writes fail", func() bool { return writes.Count() >= 10 })
	writes.Remove()
	w.Await("it follows", func() bool { return w.Project.Cards()[0].Title == "two" })
	w.AwaitSettled()
	w.expectOne("requests to a service fail")
}

// TestAStoreThatIsAwayIsOneFact: while Redis is away, failed claims, polls, catch-ups and deliveries are
// one line at the beginning and one at the end. A restart that lost nothing is a warning.
func TestAStoreThatIsAwayIsOneFact(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	w := newLoggedWorld(t, bridgetest.Options{Store: r.URL, CatchUp: time.Second})
	began := time.Now()
	r.Stop()
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "two" })
	w.Await("the outage is noticed", func() bool { return w.log.Lines(`fact="the store is away"`) > 0 })
	w.Await("its session ends", func() bool { return time.Since(began) > session.Lasts })
	r.Restart()
	w.Await("it follows", func() bool { return w.Project.Cards()[0].Title == "two" })
	w.awaitOver("the store is away")
	w.Await("the restart is told", func() bool { return w.log.Lines(restarted) > 0 })
	w.AwaitSettled()
	if n := w.log.Lines(restarted); n != 1 {
		t.Errorf("the log says %d times that the servers restarted:\n%s", n, w.written())
	}
	// Creates wait for the poll that follows a restart, with a line of their own.
	w.expectOne("the store is away", restarted, `="nothing is created yet"`)
	if n := w.log.Lines("level=WARN msg=\"nothing is created yet"); n > 0 {
		t.Errorf("%d warnings that nothing is created yet", n)
	}
}

// TestALostStoreIsOneFact: that Redis lost what it held is an error, and over once everything that
// is marked was looked at.
func TestALostStoreIsOneFact(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	w := newLoggedWorld(t, bridgetest.Options{Store: r.URL, CatchUp: time.Second})
	r.Flush()
	w.awaitOver("the store was lost")
	if n := w.log.Lines("level=ERROR"); n != 1 || w.log.Lines("level=ERROR msg=\"the store is not the one it was: everything marked is looked at") != 1 || w.log.Lines(restarted) > 0 {
		t.Errorf("%d errors, of which one names the loss:\n%s", n, w.written())
	}
	if n := w.log.Lines("the store has a new epoch") + w.log.Lines("was seen after it was claimed"); n > 0 {
		t.Errorf("%d lines tell of what follows from the loss:\n%s", n, w.written())
	}
}

// TestAStoreThatIsFullIsOneFact: while Redis has no room for a write, whatever needs one is one
// error, which ends once writes go through.
func TestAStoreThatIsFullIsOneFact(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	w := newLoggedWorld(t, bridgetest.Options{Store: r.URL, CatchUp: time.Second})
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
	w.awaitOver("the store is full")
	w.expectOne("the store is full")
	if n := w.log.Lines("level=ERROR"); n != 1 {
		t.Errorf("%d errors, want 1:\n%s", n, w.written())
	}
}

// restarted is the line of a restart of the store's servers.
const restarted = `level=WARN msg="the store's servers restarted`

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
			w := newLoggedWorld(t, bridgetest.Options{CatchUp: 300 * time.Millisecond})
			fault.Times, fault.Kind = -1, githubtest.Status
			h := w.GitHub.Fault(fault)
			w.Project.EditCard(w.Project.Cards()[0].ID, "alice", func(e *planningtest.CardEdit) { e.Title = "two" })
			w.Await("it is met", func() bool { return strings.Contains(w.log.String()[w.before:], "fact=") })
			h.Remove()
			w.Await("it follows", func() bool { return w.Repo.Issue(1).Title == "two" })
			w.awaitOver(fact)
			w.AwaitSettled()
			w.expectOne(fact)
		})
	}
}

// TestARefusedTokenIsNoFactOfEachLabel: labels that GitHub refuses to add with the token belong to
// the one error that the token is refused. They are there once the token is accepted again.
func TestARefusedTokenIsNoFactOfEachLabel(t *testing.T) {
	t.Parallel()
	w := newLoggedWorld(t, bridgetest.Options{CatchUp: time.Second})
	// The order of an event and our own write is not known within a second: the issue would be read.
	w.Await("the second of its last change is over", func() bool { return time.Since(w.Repo.Issue(1).UpdatedAt) > 2*time.Second })
	h := w.GitHub.Fault(githubtest.Fault{Times: -1, Kind: githubtest.Status, Code: http.StatusUnauthorized, Body: `{"message": "Bad credentials"}`})
	w.Repo.Unlabel(1, "octocat", "bucket:Incoming")
	w.Await("the label is refused", func() bool { return strings.Contains(w.written(), `what="labels in acme/web"`) })
	h.Remove()
	w.Await("the label is back", func() bool { return slices.Contains(w.Repo.Issue(1).Labels, "bucket:Incoming") })
	w.awaitOver(factlog.Refused)
	w.AwaitSettled()
	w.expectOne(factlog.Refused)
	if n := w.log.Lines("level=ERROR"); n != 1 {
		t.Errorf("%d errors, want 1:\n%s", n, w.written())
	}
}

// TestARefusedSecretIsOneFact: a service refuses polls or catch-ups, and the proof of the
// configuration. That is one line at the beginning and one at the end, and one problem of the page.
func TestARefusedSecretIsOneFact(t *testing.T) {
	t.Parallel()
	for service, refuse := range map[string]func(w *loggedWorld) (mend func()){
		"github": func(w *loggedWorld) func() {
			return w.GitHub.Fault(githubtest.Fault{Times: -1, Kind: githubtest.Status, Code: http.StatusUnauthorized, Body: `{"message": "Bad credentials"}`}).Remove
		},
		"planning": func(w *loggedWorld) func() {
			return w.Planning.Fault(planningtest.Fault{Times: -1, Kind: planningtest.Before, Status: http.StatusUnauthorized}).Remove
		},
	} {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			w := newLoggedWorld(t, bridgetest.Options{CatchUp: 300 * time.Millisecond, Prove: 300 * time.Millisecond})
			mend := refuse(w)
			if err := w.App.Reload(t.Context(), load(t, w.World, same)); err != nil {
				t.Fatal(err)
			}
			health := func() admin.Health { return askFor[admin.Health](t, w.World, "/api/v1/health") }
			w.Await("the proof and a request meet it", func() bool {
				h := health()
				return len(h.Configuration) > 0 && slices.ContainsFunc(h.Services, func(s admin.ServiceHealth) bool { return s.State == admin.ServiceRefused })
			})
			if says := pageProblems(t, w.World); len(says) != 1 || !strings.Contains(says[0], "does not take the "+map[string]string{"github": "token", "planning": "secret"}[service]) {
				t.Errorf("the page has the problems %q", says)
			}
			mend()
			w.awaitOver("a service refuses the secret")
			w.Await("the proof succeeds", func() bool { return len(health().Configuration) == 0 })
			w.AwaitSettled()
			w.expectOne("a service refuses the secret", "has not been reached yet") // of the start, which the reload tells
		})
	}
}

// pageProblems are the problems on the status page.
func pageProblems(t *testing.T, w *bridgetest.World) (says []string) {
	t.Helper()
	r, err := http.Get(w.AdminURL() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close() //nolint:errcheck // it was read
	page, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range problemOfPage.FindAllSubmatch(page, -1) {
		says = append(says, string(m[1]))
	}
	return says
}

var problemOfPage = regexp.MustCompile(`<li class="(?:bad|hint)">([^<]*)`)

// loggedWorld is a world with an issue that has its card, and its log from then on.
type loggedWorld struct {
	*bridgetest.TestWorld
	log    logtest.Text
	logger *slog.Logger
	before int // of the log
}

func newLoggedWorld(t *testing.T, o bridgetest.Options) *loggedWorld {
	t.Helper()
	w := &loggedWorld{}
	w.logger = slog.New(factlog.NewHandler(slog.NewTextHandler(&w.log, nil), clock.Runtime{}))
	o.Logger = w.logger
	w.TestWorld = bridgetest.StartIn(t, o)
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "one"})
	w.Await("its card", func() bool { return len(w.Project.Cards()) == 1 })
	w.AwaitSettled()
	w.before = len(w.written())
	return w
}

// written is what the log says, with the ends that are withheld.
func (w *loggedWorld) written() string {
	factlog.Flush(w.T.Context(), w.logger)
	return w.log.String()[w.before:]
}

// awaitOver waits until the log says that a fact is over.
func (w *loggedWorld) awaitOver(fact string) {
	w.T.Helper()
	w.Await("it is over", func() bool { return strings.Contains(w.written(), `over="`+fact+`"`) })
}

// expectOne expects that the log has one fact, by a line when it begins and one when it ends. Other
// warnings have to contain certain texts.
func (w *loggedWorld) expectOne(fact string, beside ...string) {
	w.T.Helper()
	text := w.written()
	var facts []string
	for line := range strings.Lines(text) {
		switch name := named.FindString(line); {
		case slices.ContainsFunc(beside, func(text string) bool { return strings.Contains(line, text) }):
		case name != "":
			facts = append(facts, name)
		case strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR"):
			w.T.Errorf("beside it the log warns: %s", line)
		}
	}
	if want := []string{`fact="` + fact + `"`, `over="` + fact + `"`}; !slices.Equal(facts, want) {
		w.T.Errorf("the log says %q, want %q:\n%s", facts, want, text)
	}
}

// named is what of a line says that a fact begins, or that it ends.
var named = regexp.MustCompile(`(fact|over)="[^"]+"`)
