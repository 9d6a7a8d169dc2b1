package github_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/githubtest"
)

// TestWebhooksAgainstTheSimulator takes what the simulator sends and signs.
func TestWebhooksAgainstTheSimulator(t *testing.T) {
	const secret = "hush"
	var mu sync.Mutex
	var events []github.Event
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if _, err := github.VerifySignature([][]byte{[]byte(secret)}, [][]byte{body}, r.Header.Get("X-Hub-Signature-256")); err != nil {
			t.Error(err)
		}
		payload, err := github.Payload(r.Header.Get("Content-Type"), body)
		if err != nil {
			t.Error(err)
		}
		e, err := github.ParseEvent(r.Header.Get("X-GitHub-Event"), payload)
		if err != nil {
			t.Errorf("%v in %s", err, payload)
		}
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}))
	defer sink.Close()
	w := newWorld(t, githubtest.Options{})
	hook := w.AddHook(repo, sink.URL, secret)
	other := w.AddRepo("acme/other", githubtest.RepoSpec{})
	w.AddHook("acme/other", sink.URL, secret)
	ctx := background(t)
	n := w.repo.Open("octocat", githubtest.IssueSpec{Title: "a", Body: "x"})
	w.repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "b" })
	w.repo.Label(n, "octocat", "c#")
	sub := w.repo.Open("octocat", githubtest.IssueSpec{Title: "s"})
	w.repo.AddSubIssue(n, sub)
	w.repo.Comment(n, "octocat", "hi")
	to := w.repo.Transfer(sub, "acme/other")
	w.RenameRepo(repo, "acme/site")
	if err := w.Idle(ctx); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	find := func(name, action string) *github.Event {
		for i := range events {
			if events[i].Name == name && events[i].Action == action {
				return &events[i]
			}
		}
		t.Fatalf("no %s %s among %d events", name, action, len(events))
		return nil
	}
	if e := find("issues", "edited"); *e.Changes.TitleFrom != "a" || e.Issue.Title != "b" || e.Issue.Editor != "octocat" || e.Changes.BodyFrom != nil {
		t.Errorf("edited: %+v", e)
	}
	if e := find("issues", "labeled"); e.Label != "c#" || e.RepoID != w.repo.ID() || e.Issue.RepoID != e.RepoID {
		t.Errorf("labeled: %+v", e)
	}
	if e := find("sub_issues", "sub_issue_added"); e.Parent.Number != n || e.SubIssue.Number != sub {
		t.Errorf("sub-issue: %+v", e)
	}
	if e := find("issue_comment", "created"); e.Comment.Body != "hi" || e.Issue.Number != n {
		t.Errorf("comment: %+v", e)
	}
	if e := find("issues", "transferred"); e.Changes.NewIssue.Number != to || e.Changes.NewRepo != "acme/other" {
		t.Errorf("transferred: %+v", e)
	}
	if e := find("repository", "renamed"); e.Changes.OldRepo != repo || e.Repo != "acme/site" {
		t.Errorf("renamed: %+v", e)
	}
	for _, e := range events {
		if e.Action == "opened" && e.Changes.OldIssue != nil && e.Issue.ID != other.Issue(to).ID {
			t.Errorf("opened by transfer: %+v", e)
		}
	}
	checkDeliveries(t, w, hook)
}

// checkDeliveries reads the deliveries API back and redelivers one.
func checkDeliveries(t *testing.T, w *world, hook int64) {
	c, ctx := w.client(t), background(t)
	list := must[[]github.Delivery](t)(c.Deliveries(ctx, "acme/site", hook, time.Time{}))
	if len(list) < 6 || list[0].StatusCode != 200 || list[0].GUID == "" {
		t.Fatalf("deliveries are %+v", list)
	}
	if err := c.Redeliver(ctx, "acme/site", hook, list[0].ID); err != nil {
		t.Error(err)
	}
	if err := w.Idle(ctx); err != nil {
		t.Fatal(err)
	}
	again := must[[]github.Delivery](t)(c.Deliveries(ctx, "acme/site", hook, time.Time{}))
	if len(again) != len(list)+1 || !again[0].Redelivery || again[0].GUID != list[0].GUID {
		t.Errorf("after the redelivery: %+v", again)
	}
	hooks := must[[]github.Hook](t)(c.ListHooks(ctx, "acme/site"))
	if len(hooks) != 1 || hooks[0].ID != hook || !hooks[0].Active {
		t.Errorf("hooks are %+v", hooks)
	}
}
