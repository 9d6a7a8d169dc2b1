package main

import (
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
)

// TestLinksOfRenamedRepository: the present name of a repository finds its links. So does the
// former name, until another repository is accepted under it. From then on the old name means the
// other one's issues, one of which may have the same number.
func TestLinksOfRenamedRepository(t *testing.T) {
	for _, tt := range []struct {
		name           string
		running, event bool // the service runs as it is asked; an event tells of the other repository
	}{
		{"running", true, true},
		{"store", false, true},
		{"no event", true, false},
	} {
		running := tt.running
		t.Run(tt.name, func(t *testing.T) {
			op := newOperator(t, bridgetest.Options{}, nil)
			start := func() {
				if err := op.world.StartBridge(); err != nil {
					t.Fatal(err)
				}
				op.admin()
			}
			stop := func() {
				if err := op.world.StopBridge(); err != nil {
					t.Fatal(err)
				}
			}
			cardOf := func(title string) (id string) {
				for _, c := range op.world.Project.Cards() {
					if c.Title == title {
						id = c.ID
					}
				}
				return id
			}
			// means says of which card an issue's name speaks.
			means := func(name, card string) {
				t.Helper()
				if r := op.run("explain", name); r.status != exitOK || !strings.Contains(r.out, card) {
					t.Errorf("%s does not mean card %s: %+v", name, card, r)
				}
			}
			start()
			op.world.Repo.Open("octocat", githubtest.IssueSpec{Title: "Ours"})
			op.until("the issue is linked", func() bool { return strings.Contains(op.fine("links", "--state", "linked"), "acme/web#1 ") })
			ours := cardOf("Ours")
			op.world.GitHub.RenameRepo("acme/web", "acme/site")
			second := op.world.Repo.Open("octocat", githubtest.IssueSpec{Title: "Second"})
			op.until("the route follows", func() bool { return cardOf("Second") != "" && second == 2 })
			if !running {
				stop()
			}
			means("acme/site#1", ours)
			means("acme/web#1", ours)
			if !running {
				start()
			}
			other := op.world.GitHub.AddRepo("acme/web", githubtest.RepoSpec{Private: true})
			if tt.event {
				op.world.GitHub.AddHook("acme/web", op.world.WebhookURL(), bridgetest.WebhookSecret)
			}
			other.Open("mallory", githubtest.IssueSpec{Title: "Theirs"})
			op.until("the other repository is believed", func() bool { return op.run("accept", "repository", "acme/web").status == exitOK })
			op.until("its issue is linked", func() bool {
				return cardOf("Theirs") != "" && strings.Contains(op.fine("links", "--state", "linked"), "acme/web#1 ")
			})
			theirs := cardOf("Theirs")
			if !running {
				stop()
			}
			means("acme/web#1", theirs)
			means("acme/site#1", ours)
		})
	}
}
