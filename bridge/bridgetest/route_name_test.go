package bridgetest_test

import (
	"strings"
	"testing"
	"time"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store/redisstore/redistest"
)

// renaming is how a route gets another name.
type renaming struct {
	before, after func(yaml string) string
	meanwhile     func(*world)
	name          string // that it has then
	// With cards, new cards become issues by it under both names. With delivered, GitHub's
	// deliveries with the former name of the repository are taken.
	cards, delivered bool
}

func renamings() map[string]renaming {
	const exact, glob = "repository: acme/web", "repository: 'acme/*'\n    name: all"
	change := func(from, to string) func(string) string {
		return func(yaml string) string { return strings.Replace(yaml, from, to, 1) }
	}
	return map[string]renaming{
		"another name": {change("", ""), change(exact, exact+"\n    name: site"), nil, "site", true, true},
		"the repository is corrected": {change("", ""), change(exact, "repository: acme/site"), func(w *world) {
			w.GitHub.RenameRepo(bridgetest.RepoName, "acme/site")
		}, "acme/site", true, false},
		"exact in the place of glob": {change(exact, glob), change("", ""), nil, "acme/web", false, true},
	}
}

// rename begins with a route. People make an issue and a card that the bridge does not see before
// the route has its other name.
func (c *renaming) rename(t *testing.T, how string, before func(*world)) *world {
	text := c.before
	w := start(t, bridgetest.Options{Config: func(yaml string) string { return text(yaml) }, CatchUp: time.Hour})
	w.OpenIssue(githubtest.IssueSpec{Title: "there before"})
	w.AwaitSettled()
	before(w)
	w.GitHub.PauseDeliveries()
	goOn := func() {}
	if how == "reload" {
		goOn = w.Planning.Hold()
	} else if err := w.StopBridge(); err != nil {
		t.Fatal(err)
	}
	made := w.Repo.Issue(w.Repo.Open("octocat", githubtest.IssueSpec{Title: "of octocat"})).UpdatedAt
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "of alice"})
	w.Await("the second after", func() bool { return time.Now().Unix() > made.Unix() })
	if c.meanwhile != nil {
		c.meanwhile(w)
	}
	if text = c.after; how == "reload" {
		w.reload(w.YAML())
	} else if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	goOn()
	w.GitHub.ReleaseDeliveries()
	return w
}

// TestARouteWithAnotherNameGoesOn: people's items from just before a route got another name cross
// by that: it began to run when it did under its former name.
func TestARouteWithAnotherNameGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range renamings() {
		for _, how := range []string{"reload", "restart"} {
			t.Run(name+" by "+how, func(t *testing.T) {
				t.Parallel()
				w := c.rename(t, how, func(*world) {})
				if c.delivered || how == "restart" { // else a catch-up finds it
					w.Await("a card of the issue", func() bool { return w.hasCard("of octocat") })
				}
				if c.cards {
					w.Await("an issue of the card", func() bool { return w.hasIssue("of alice") })
				}
				w.Await("links by the other name", func() bool {
					links := 0
					err := w.App.Operator().Links(t.Context(), c.name, func(l *mapping.Link) error {
						links++
						return nil
					})
					return err == nil && links == len(w.states())
				})
				w.AwaitSettled()
				if cards := len(w.Project.Cards()); cards > 3 {
					t.Errorf("%d cards", cards)
				}
			})
		}
	}
}

func (w *world) hasCard(title string) (has bool) {
	for _, c := range w.Project.Cards() {
		has = has || c.Title == title
	}
	return has
}

func (w *world) hasIssue(title string) (has bool) {
	for _, i := range w.Repo.Issues() {
		has = has || i.Title == title
	}
	return has
}

// TestAPauseStaysWithItsRoute: a route that is paused is paused under its other name, too, and is
// resumed by that. Waiting keys go on then.
func TestAPauseStaysWithItsRoute(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"reload", "restart"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c := renamings()["another name"]
			w := c.rename(t, how, func(w *world) {
				if err := w.App.Operator().Pause(t.Context(), "acme/web"); err != nil {
					t.Fatal(err)
				}
			})
			w.Await("all keys that wait for the route", func() bool { return w.waiting("somebody to resume route site") == 3 })
			if since, err := w.App.Operator().PausedSince(t.Context(), "site"); err != nil || since.IsZero() || w.hasCard("of octocat") {
				t.Errorf("paused since %v, %v", since, err)
			}
			if err := w.App.Operator().Resume(t.Context(), "site"); err != nil {
				t.Fatal(err)
			}
			w.Await("all on both sides", func() bool { return w.hasCard("of octocat") && w.hasIssue("of alice") })
		})
	}
}

// waiting counts the keys that wait for what people read so.
func (w *world) waiting(words string) (n int) {
	w.T.Helper()
	all, err := w.App.Operator().Standings(w.T.Context(), 100)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, s := range all {
		if w.App.Operator().ServiceWords(s.Service) == words {
			n++
		}
	}
	return n
}

// TestAPauseStaysWithReplicasOfTheFormerName: while some replicas use the former name of a paused
// route, none of them works it. Either name resumes it for all.
func TestAPauseStaysWithReplicasOfTheFormerName(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	w := start(t, bridgetest.Options{Store: redis.URL})
	former, err := w.AddReplica(nil)
	if err != nil {
		t.Fatal(err)
	}
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "Title"})
	w.AwaitSettled()
	if err := w.App.Operator().Pause(t.Context(), "acme/web"); err != nil {
		t.Fatal(err)
	}
	w.reload(strings.Replace(w.YAML(), "repository: acme/web", "repository: acme/web\n    name: site", 1))
	for name, app := range map[string]*bridge.App{"acme/web": former, "site": w.App} {
		if since, err := app.Operator().PausedSince(t.Context(), name); err != nil || since.IsZero() {
			t.Errorf("%s is not paused, %v", name, err)
		}
	}
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Edited" })
	w.Await("a key that waits", func() bool { return w.waiting("somebody to resume route site") > 0 })
	polls := w.Planning.Calls(planningtest.OpBacklogItems)
	w.Await("polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > polls+5 })
	if got := w.Project.Card(card).Title; got != "Title" {
		t.Errorf("the card says %q though its route is paused", got)
	}
	if err := former.Operator().Resume(t.Context(), "acme/web"); err != nil {
		t.Fatal(err)
	}
	w.Await("the title on the card", func() bool { return w.Project.Card(card).Title == "Edited" })
}
