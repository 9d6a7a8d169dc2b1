package bridgetest_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
)

// TestALateDeliveryUnderAFormerName: the configuration names a renamed repository as it is called
// now, so that nothing remembers the rename. A delivery with the former name is late: its edit
// reaches the card, and the issue that it opens gets one.
func TestALateDeliveryUnderAFormerName(t *testing.T) {
	t.Parallel()
	groups := func(yaml string) string {
		return strings.Replace(yaml, "webhook_secrets: [env:GITHUB_WEBHOOK_SECRET]", "webhooks: [{repositories: [acme/web], secrets: [env:GITHUB_WEBHOOK_SECRET]}]", 1)
	}
	for name, config := range map[string]func(string) string{"one secret for all": nil, "a secret of its own": groups} {
		for _, how := range []string{"reload", "restart"} {
			t.Run(name+" by "+how, func(t *testing.T) {
				t.Parallel()
				var corrected func(string) string
				log := &logtest.Text{}
				w := start(t, bridgetest.Options{Logger: slog.New(slog.NewTextHandler(log, nil)), CatchUp: time.Hour, Redeliver: time.Hour, Config: func(yaml string) string {
					if config != nil {
						yaml = config(yaml)
					}
					if corrected != nil {
						yaml = corrected(yaml)
					}
					return yaml
				}})
				n, card := w.OpenIssue(githubtest.IssueSpec{Title: "Title"})
				w.AwaitSettled()
				var late []string
				w.GitHub.SetDelivery(func(d *githubtest.Delivery) {
					if d.Event == "issues" && !d.Redelivery {
						d.Drop, late = true, append(late, d.GUID)
					}
				})
				w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Edited late" })
				w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Opened late"})
				w.GitHub.RenameRepo(bridgetest.RepoName, "acme/site")
				w.Await("the route follows", func() bool { return log.Lines("a repository was renamed: its route follows it") == 1 })
				corrected = func(yaml string) string { return strings.ReplaceAll(yaml, "acme/web", "acme/site") }
				if how == "restart" {
					if err := w.StopBridge(); err != nil {
						t.Fatal(err)
					}
					if err := w.StartBridge(); err != nil {
						t.Fatal(err)
					}
				} else {
					w.reload(w.YAML())
				}
				w.AwaitSettled()
				for _, guid := range late {
					w.GitHub.Redeliver(guid)
				}
				w.Await("the late edit on the card", func() bool { return w.Project.Card(card).Title == "Edited late" })
				w.Await("a card of the issue that was opened late", func() bool { return w.hasCard("Opened late") })
			})
		}
	}
}
