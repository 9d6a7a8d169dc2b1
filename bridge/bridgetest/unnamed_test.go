package bridgetest_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
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
