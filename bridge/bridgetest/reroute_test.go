package bridgetest_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/catchup"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// TestLinksFollowTheirIssues: a link follows the route that takes its issue now, after a reload and
// after a restart. That route keeps its sides the same.
func TestLinksFollowTheirIssues(t *testing.T) {
	t.Parallel()
	const exact, glob = "repository: acme/web", "repository: 'acme/*'\n    name: all"
	change := func(from, to string) func(string) string {
		return func(yaml string) string { return strings.Replace(yaml, from, to, 1) }
	}
	beside := func(yaml string) string {
		return change(exact, glob)(yaml) + "  - repository: acme/web\n    project: web\n    bucket: Bugs\n    tasks: none\n"
	}
	for name, c := range map[string]struct {
		before, after func(string) string
		meanwhile     func(*world)
		want          string
	}{
		"the route is renamed":       {change("", ""), change(exact, exact+"\n    name: site"), nil, "site"},
		"exact in the place of glob": {change(exact, glob), change("", ""), nil, "acme/web"},
		"glob in the place of exact": {change("", ""), change(exact, glob), nil, "all"},
		"exact beside the glob":      {change(exact, glob), beside, nil, "acme/web"},
		"the repository is corrected": {change("", ""), change(exact, "repository: acme/site"), func(w *world) {
			w.GitHub.RenameRepo(bridgetest.RepoName, "acme/site")
		}, "acme/site"},
	} {
		for _, how := range []string{"reload", "restart"} {
			t.Run(name+" by "+how, func(t *testing.T) {
				t.Parallel()
				text := c.before
				w := start(t, bridgetest.Options{Config: func(yaml string) string { return text(yaml) }})
				n, card := w.OpenIssue(githubtest.IssueSpec{Title: "Title"})
				w.AwaitSettled()
				if how == "restart" {
					if err := w.StopBridge(); err != nil {
						t.Fatal(err)
					}
				}
				if c.meanwhile != nil {
					c.meanwhile(w)
				}
				if text = c.after; how == "restart" {
					if err := w.StartBridge(); err != nil {
						t.Fatal(err)
					}
				} else {
					w.reload(w.YAML())
				}
				w.Await("the link by its new route", func() bool {
					l, err := w.App.Operator().Find(t.Context(), card)
					return err == nil && l.Route == c.want && l.State == mapping.Linked
				})
				w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Edited" })
				w.Await("the title on the issue", func() bool { return w.Repo.Issue(n).Title == "Edited" })
			})
		}
	}
}

// TestARenameThatIsToldLate: the configuration names a repository as it is called now before
// GitHub's event says so, or before GitHub calls it that. The links follow it.
func TestARenameThatIsToldLate(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, o bridgetest.Options) (w *world, n int, card string, corrected string) {
		w = start(t, o)
		n, card = w.OpenIssue(githubtest.IssueSpec{Title: "Title"})
		w.AwaitSettled()
		return w, n, card, strings.Replace(w.YAML(), "repository: acme/web", "repository: acme/site", 1)
	}
	follows := func(w *world, n int, card string) {
		w.Await("the link by its new route", func() bool {
			l, err := w.App.Operator().Find(w.T.Context(), card)
			return err == nil && l.Route == "acme/site" && l.State == mapping.Linked
		})
		w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Edited" })
		w.Await("the title on the issue", func() bool { return w.Repo.Issue(n).Title == "Edited" })
	}
	t.Run("no event", func(t *testing.T) {
		t.Parallel()
		w, n, card, corrected := begin(t, bridgetest.Options{})
		w.GitHub.PauseDeliveries()
		w.GitHub.RenameRepo(bridgetest.RepoName, "acme/site")
		w.reload(corrected)
		follows(w, n, card)
	})
	t.Run("another replica has followed", func(t *testing.T) {
		t.Parallel()
		const prefix = "followed"
		redis := redistest.Start(t)
		w, n, card, corrected := begin(t, bridgetest.Options{Store: redis.URL, Prefix: prefix})
		other, err := redisstore.Open(t.Context(), redisstore.Options{URL: redis.URL, Prefix: prefix, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Close() }()
		w.GitHub.PauseDeliveries()
		w.GitHub.RenameRepo(bridgetest.RepoName, "acme/site")
		if err := catchup.Rename(t.Context(), other, bridgetest.RepoName, "acme/site"); err != nil {
			t.Fatal(err)
		}
		w.reload(corrected)
		follows(w, n, card)
	})
	t.Run("corrected before", func(t *testing.T) {
		t.Parallel()
		w, n, card, corrected := begin(t, bridgetest.Options{})
		w.reload(corrected)
		w.Await("a dormant link", func() bool { return slices.Equal(w.states(), []mapping.LinkState{mapping.Dormant}) })
		w.GitHub.RenameRepo(bridgetest.RepoName, "acme/site")
		follows(w, n, card)
	})
}

// TestLinksWithoutARoute: links that no route takes become dormant, with one line that counts
// them, and all go on when one takes them.
func TestLinksWithoutARoute(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	w := start(t, bridgetest.Options{
		Logger: slog.New(slog.NewTextHandler(log, nil)),
		Config: func(yaml string) string {
			return strings.Replace(yaml, "repository: acme/web", "repository: 'acme/*'\n    name: all", 1)
		},
	})
	w.OpenIssue(githubtest.IssueSpec{Title: "One"})
	w.OpenIssue(githubtest.IssueSpec{Title: "Two"})
	w.AwaitSettled()
	all := func(state mapping.LinkState) func() bool {
		return func() bool {
			states := w.states()
			return len(states) == 2 && states[0] == state && states[1] == state
		}
	}
	w.reload(w.YAML() + "    exclude: [acme/web]\n")
	w.Await("two dormant links", all(mapping.Dormant))
	if n := log.Lines("no route takes these links: they are dormant until one does\" links=2 routes=[all]"); n != 1 {
		t.Errorf("%d lines say that 2 links are dormant", n)
	}
	w.reload(w.YAML())
	w.Await("two links that go on", all(mapping.Linked))
	w.OpenIssue(githubtest.IssueSpec{Title: "Three"}) // the log has one line a minute of what is alike
	w.AwaitSettled()
	second := w.Planning.AddProject(planningtest.ProjectSpec{Title: "API", Members: []string{bridgetest.BridgeUser}, Buckets: []string{bridgetest.Bucket}})
	text := strings.Replace(w.YAML(), "users: {", "    api: {id: "+second.ID()+", secret: env:GITHUB_TOKEN, username: "+bridgetest.BridgeUser+"}\nusers: {", 1)
	w.reload(strings.Replace(text, "    name: all\n    project: web", "    name: other\n    project: api", 1))
	if n := log.Lines("no route takes these links: they are dormant until one does\" links=3 routes=[all]"); n != 1 {
		t.Errorf("%d lines say that 3 links are dormant, when no route has their project", n)
	}
}
