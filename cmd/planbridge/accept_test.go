package main

import (
	"log/slog"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
)

// The present owner of a name is accepted by the running service, and in the store where none runs.
func TestAccept(t *testing.T) {
	for _, running := range []bool{true, false} {
		name := map[bool]string{true: "running", false: "store"}[running]
		t.Run(name, func(t *testing.T) {
			var log logtest.Text
			op := newOperator(t, bridgetest.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, nil)
			if err := op.world.StartBridge(); err != nil {
				t.Fatal(err)
			}
			op.admin()
			op.world.Repo.Open("octocat", githubtest.IssueSpec{Title: "Old"})
			op.until("the issue is linked", func() bool { return strings.Contains(op.fine("links", "--state", "linked"), "acme/web#1 ") })
			op.world.GitHub.DeleteRepo("acme/web")
			again := op.world.GitHub.AddRepo("acme/web", githubtest.RepoSpec{Private: true})
			op.world.GitHub.AddHook("acme/web", op.world.WebhookURL(), bridgetest.WebhookSecret)
			again.Open("mallory", githubtest.IssueSpec{Title: "New"})
			op.until("the other repository is noticed", func() bool { return strings.Contains(log.String(), "planbridge accept repository acme/web") })
			if !running {
				if err := op.world.StopBridge(); err != nil {
					t.Fatal(err)
				}
			}
			if got := op.fine("accept", "repository", "acme/web", "-o", "json"); !strings.Contains(got, `"accepted": "acme/web"`) {
				t.Errorf("accept: %q", got)
			}
			for want, words := range map[int][]string{
				exitFailure: {"accept", "repository", "acme/web"}, // there is no other any more
				exitUsage:   {"accept", "planet", "mars"},
			} {
				if r := op.run(words...); r.status != want {
					t.Errorf("%v: %+v", words, r)
				}
			}
			if r := op.run("accept", "account", "nobody"); r.status != exitUsage || !strings.Contains(r.stderr, "account nobody: not found") {
				t.Errorf("an account that nobody met: %+v", r)
			}
			if !running {
				if err := op.world.StartBridge(); err != nil {
					t.Fatal(err)
				}
				op.admin()
			}
			op.until("its issue has a card", func() bool {
				for _, c := range op.world.Project.Cards() {
					if c.Title == "New" {
						return true
					}
				}
				return false
			})
		})
	}
}
