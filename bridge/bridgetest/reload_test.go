package bridgetest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

// TestReloadAddsAProject: a second project and its route take part without a restart, and a changed
// policy holds at once. A new card there does not wait for the next catch-up.
func TestReloadAddsAProject(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{CatchUp: time.Hour})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "there before"})
	api := w.GitHub.AddRepo("acme/api", githubtest.RepoSpec{Private: true})
	w.GitHub.AddHook("acme/api", w.WebhookURL(), bridgetest.WebhookSecret)
	second := w.Planning.AddProject(planningtest.ProjectSpec{Title: "API", Members: []string{bridgetest.BridgeUser}, Buckets: []string{"Inbox"}})

	text := strings.Replace(w.YAML(), "users: {", fmt.Sprintf("    api: {id: %s, secret: env:API_SECRET, username: %s}\nusers: {", second.ID(), bridgetest.BridgeUser), 1)
	text += "    conflicts: {default: github}\n  - repository: acme/api\n    project: api\n    bucket: Inbox\n"
	w.reload(text, second)
	api.Open("octocat", githubtest.IssueSpec{Title: "over there"})
	w.Await("a card in the new project", func() bool {
		cards := second.Cards()
		return len(cards) == 1 && cards[0].Title == "over there" && cards[0].Bucket == "Inbox"
	})
	second.NewCard("Inbox", "alice", planningtest.CardSpec{Title: "of planning"})
	w.Await("an issue in the new repository", func() bool {
		issues := api.Issues()
		return len(issues) == 2 && issues[1].Title == "of planning"
	})
	w.collide(n, card, "octocat's", "alice's")
	w.Await("GitHub's title on both sides, by the new policy", func() bool {
		return w.Project.Card(card).Title == "octocat's" && w.Repo.Issue(n).Title == "octocat's"
	})
}

// TestReloadWhileTheStoreIsAway: the new configuration holds at once. A new route takes in people's
// changes from then on, once the store is back.
func TestReloadWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	w := start(t, bridgetest.Options{Store: r.URL})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "there before"})
	w.AwaitSettled()
	api := w.GitHub.AddRepo("acme/api", githubtest.RepoSpec{Private: true})
	r.Kill()
	w.reload(w.YAML() + "    conflicts: {default: github}\n  - repository: acme/api\n    project: web\n    bucket: Bugs\n")
	api.Open("octocat", githubtest.IssueSpec{Title: "over there"})
	r.Restart()
	w.Await("a card by the new route", func() bool {
		cards := w.Project.Cards()
		return len(cards) == 2 && cards[1].Title == "over there" && cards[1].Bucket == "Bugs"
	})
	w.collide(n, card, "octocat's", "alice's")
	w.Await("GitHub's title on both sides, by the new policy", func() bool {
		return w.Project.Card(card).Title == "octocat's" && w.Repo.Issue(n).Title == "octocat's"
	})
}

// TestReloadAllowsPublic: values withheld from a repository that became public are shown once the
// route allows that.
func TestReloadAllowsPublic(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "Title"})
	w.AwaitSettled()
	w.Repo.Publish(true)
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Of planning" })
	w.Await("a key that is parked", func() bool {
		parked, err := w.App.Operator().Failures(t.Context())
		return err == nil && len(parked) == 1
	})
	if got := w.Repo.Issue(n).Title; got != "Title" {
		t.Fatalf("published %q", got)
	}
	w.reload(w.YAML() + "    allow_public: true\n")
	w.Await("planning's title on the issue", func() bool { return w.Repo.Issue(n).Title == "Of planning" })
}

// TestReloadTakesUpWhatFailed: an issue that was given up for its route's bucket gets its card once
// a reload corrects that.
func TestReloadTakesUpWhatFailed(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{Config: func(yaml string) string {
		return strings.Replace(fewAttempts(yaml), "bucket: Incoming", "bucket: Incomming", 1)
	}})
	w.Await("the first polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Title"})
	w.Await("a key that is parked", func() bool {
		parked, err := w.App.Operator().Failures(t.Context())
		return err == nil && len(parked) == 1
	})
	w.reload(strings.Replace(w.YAML(), "bucket: Incomming", "bucket: Incoming", 1))
	w.Await("a card in the bucket that there is", func() bool {
		cards := w.Project.Cards()
		return len(cards) == 1 && cards[0].Bucket == "Incoming"
	})
}
