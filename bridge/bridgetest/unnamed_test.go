package bridgetest_test

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/clock"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// TestProjectIsTakenOut: a project with links is taken out of the file, its repository's route
// leads to another one meanwhile, and then it is given back. An issue of it keeps its one card,
// and one whose texts were erased stays out.
func TestProjectIsTakenOut(t *testing.T) {
	t.Parallel()
	for _, erased := range []bool{false, true} {
		t.Run(fmt.Sprintf("erased %t", erased), func(t *testing.T) {
			t.Parallel()
			w := start(t, bridgetest.Options{})
			second := w.Planning.AddProject(planningtest.ProjectSpec{Title: "API", Members: []string{bridgetest.BridgeUser}, Buckets: []string{"Incoming", "Bugs"}})
			n, card := w.OpenIssue(githubtest.IssueSpec{Title: "there before"})
			w.AwaitSettled()

			named := w.YAML()
			unnamed := strings.NewReplacer("    web:\n", "    api:\n", "project: web", "project: api", w.Project.ID(), second.ID(),
				"PLANNING_WEB_SECRET", "API_SECRET").Replace(named)
			w.reload(unnamed, second)
			if got := w.states(); len(got) != 1 || got[0] != mapping.Dormant {
				t.Errorf("the links are %v; want one that is dormant", got)
			}
			if erased {
				if _, err := w.App.Operator().Erase(t.Context(), status.EraseAsk{Item: fmt.Sprintf("acme/web#%d", n)}); err != nil {
					t.Fatal(err)
				}
			}
			w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "edited meanwhile" })
			fresh := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "new meanwhile"})
			w.Await("the new issue's card", func() bool { return len(second.Cards()) > 0 })
			w.reload(named, second)
			w.AwaitSettled()

			if got := second.Cards(); len(got) != 1 || got[0].Title != "new meanwhile" {
				t.Errorf("the other project has the cards %v; want that of issue %d alone", got, fresh)
			}
			title := "edited meanwhile"
			if erased {
				title = "there before"
			}
			if got := w.Project.Card(card).Title; got != title {
				t.Errorf("the card is %q; want %q", got, title)
			}
		})
	}
}

// TestDormantKeysAreShown: the keys of a project that is taken out are listed as dormant, those
// that are due, too. Its links count as dormant.
func TestDormantKeysAreShown(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{})
	second := w.Planning.AddProject(planningtest.ProjectSpec{Title: "API", Members: []string{bridgetest.BridgeUser}, Buckets: []string{"Incoming", "Bugs"}})
	n, _ := w.OpenIssue(githubtest.IssueSpec{Title: "there before"})
	w.AwaitSettled()
	w.Planning.Down(true)
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "edited" })
	w.Await("its key waits", func() bool { return strings.Contains(w.asked("/api/v1/queue"), `"state":"waiting"`) })
	w.reload(strings.NewReplacer("    web:\n", "    api:\n", "project: web", "project: api", w.Project.ID(), second.ID(),
		"PLANNING_WEB_SECRET", "API_SECRET").Replace(w.YAML()), second)
	w.Planning.Down(false)

	why := "planning.projects does not name its project " + w.Project.ID()
	for path, want := range map[string]string{
		"/api/v1/queue":   `"state":"dormant","reason":"` + why,
		"/waiting":        why,
		"/explain?item=1": why,
		"/":               "1 link is dormant: planning.projects does not name its project.",
		"/metrics":        `planbridge_links{route="acme/web",state="dormant"} 1`,
		"/api/v1/links":   `"state":"dormant"`,
	} {
		if got := w.asked(path); !strings.Contains(got, want) {
			t.Errorf("%s lacks %q:\n%.3000s", path, want, got)
		}
	}
}

// asked is what the admin listener answers.
func (w *world) asked(path string) string {
	w.T.Helper()
	resp, err := w.Client().Get(w.AdminURL() + path)
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return string(body)
}

// TestPollsEndWithTheirProject: a project that a reload removes is polled no more and has no
// metrics. One line ends its facts in the log. It is polled again when it is back.
func TestPollsEndWithTheirProject(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"healthy": "", "refused": "ffffffffffffffffffffffff"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &logtest.Text{}
			w := start(t, bridgetest.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
			second := w.Planning.AddProject(planningtest.ProjectSpec{Title: "API", Members: []string{bridgetest.BridgeUser}, Buckets: []string{"Incoming"}})
			if id == "" {
				id = second.ID()
			}
			calls := func(project string) (n int) {
				for _, c := range w.Planning.Journal() {
					if strings.Contains(c.Path, project) {
						n++
					}
				}
				return n
			}
			series := `planbridge_poll_last_success_timestamp_seconds{project="api"}`
			of := "service=planning:" + id
			one := w.YAML()
			both := strings.Replace(one, "    web:\n", "    api: {id: "+id+", secret: env:API_SECRET, username: bridge}\n    web:\n", 1)
			polled := func() bool { return strings.Contains(w.asked("/metrics"), series+" 1") }
			if id != second.ID() {
				polled = func() bool { return log.Lines("level=ERROR") > 0 && strings.Contains(w.asked("/metrics"), series+" 0") }
			}
			w.reload(both, second)
			w.Await("the second project is polled", polled)

			w.reload(one)
			w.Planning.ResetJournal()
			for line := range strings.Lines(w.asked("/metrics")) {
				if strings.Contains(line, `project="api"`) {
					t.Errorf("a series of the project stays: %s", line)
				}
			}
			ends := 0
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, of) && strings.Contains(line, "over=") {
					ends++
				}
			}
			if facts := log.Lines("level=ERROR"); ends != min(facts, 1) {
				t.Errorf("%d lines end %d of the facts of the project:\n%s", ends, facts, log)
			}
			told := log.Lines(of)
			w.Await("a request that was under way has come", func() bool { return calls(w.Project.ID()) > 5 })
			w.Planning.ResetJournal()
			w.Await("the first project is polled on", func() bool { return calls(w.Project.ID()) > 20 })
			if n := calls(id); n > 0 || log.Lines(of) != told {
				t.Errorf("the project that was taken out is asked %d times:\n%s", n, log)
			}

			w.reload(both, second)
			w.Await("it is polled again", func() bool { return calls(id) > 0 && polled() })
		})
	}
}

// TestStoreIsLostWhereNoRouteLeads: the route of a pair was pointed at another project, and then
// the store is lost. No issue gets a second card before the first project was seen whole.
func TestStoreIsLostWhereNoRouteLeads(t *testing.T) {
	t.Parallel()
	memory := memstore.New(memstore.Options{Clock: clock.Runtime{}, QueueLimit: 1000})
	w := start(t, bridgetest.Options{OpenStore: func() store.Store { return memory.Open(nil) }})
	second := w.Planning.AddProject(planningtest.ProjectSpec{Title: "API", Members: []string{bridgetest.BridgeUser}, Buckets: []string{bridgetest.Bucket}})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "there before"})
	w.AwaitSettled()
	w.reload(strings.NewReplacer("users: {", fmt.Sprintf("    api: {id: %s, secret: env:API_SECRET, username: %s}\nusers: {", second.ID(), bridgetest.BridgeUser),
		"\n    project: web", "\n    project: api").Replace(w.YAML()), second)
	w.AwaitSettled()
	secret := w.Project.Secret()
	w.Project.RevokeSecret(secret) // so that it is not seen
	memory.Restore(memstore.Snapshot{})
	w.Repo.Label(n, "octocat", "bug")
	w.polls(10)
	w.Project.AddSecret(secret)
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "edited" })
	w.Await("the title on the issue", func() bool { return w.Repo.Issue(n).Title == "edited" || len(second.Cards()) > 0 })
	if got := second.Cards(); len(got) > 0 {
		t.Errorf("the other project has the card %+v", got[0])
	}
}
