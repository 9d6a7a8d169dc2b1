package githubtest

import (
	"strings"
	"testing"
	"time"
)

func TestOpeningSendsOpenedThenOneEventForEachLabelAndAssignee(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	n := w.r.Open("alice", IssueSpec{Title: "Login fails", Body: "always", Labels: []string{"bug", "Web"}, Assignees: []string{"bob"}})
	got := w.expect("issues.opened", "issues.labeled", "issues.labeled", "issues.assigned")
	opened := got[0]
	equal(t, "title", opened.at("issue", "title"), "Login fails")
	equal(t, "body", opened.at("issue", "body"), "always")
	equal(t, "author", opened.at("issue", "user", "login"), "alice")
	equal(t, "association", opened.at("issue", "author_association"), "MEMBER")
	equal(t, "sender", opened.at("sender", "login"), "alice")
	equal(t, "repository", opened.at("repository", "full_name"), "acme/web")
	equal(t, "repository id", opened.at("repository", "id"), w.r.ID())
	equal(t, "organization", opened.at("organization", "login"), "acme")
	equal(t, "labels in opened", len(opened.at("issue", "labels").([]any)), 2)
	equal(t, "label", got[1].at("label", "name"), "bug")
	equal(t, "assignee", got[3].at("assignee", "login"), "bob")
	i := w.r.Issue(n)
	equal(t, "state", []any{i.Number, i.State, i.Labels, i.Assignees, i.Author}, []any{1, "open", []string{"bug", "Web"}, []string{"bob"}, "alice"})
	equal(t, "labels made", len(w.r.Labels()), 2)
}

func TestEditTellsWhatWasBefore(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	n := w.open("one")
	w.events()
	w.r.Edit(n, "bob", func(e *IssueEdit) { e.Title, e.Body = "two", "a\nb"; e.CRLF = true })
	got := w.expect("issues.edited")
	equal(t, "title from", got[0].at("changes", "title", "from"), "one")
	equal(t, "body from", got[0].at("changes", "body", "from"), "body of one")
	equal(t, "body", w.r.Issue(n).Body, "a\r\nb")
	w.r.Edit(n, "bob", func(*IssueEdit) {})
	w.expect()

	w.s.SetTraits(func(x *Traits) { x.SplitEdits, x.WebCRLF = true, true })
	w.r.Edit(n, "bob", func(e *IssueEdit) { e.Title, e.Body = "three", "c\nd" })
	got = w.expect("issues.edited", "issues.edited")
	equal(t, "first has no body", got[0].at("changes", "body"), nil)
	equal(t, "second has no title", got[1].at("changes", "title"), nil)
	equal(t, "trait CRLF", w.r.Issue(n).Body, "c\r\nd")
	equal(t, "opened with CRLF", w.r.Issue(w.r.Open("bob", IssueSpec{Title: "x", Body: "a\nb"})).Body, "a\r\nb")
}

func TestClosingAndReopening(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	n := w.open("one")
	w.events()
	w.r.Close(n, "bob", "not_planned")
	got := w.expect("issues.closed")
	equal(t, "reason", got[0].at("issue", "state_reason"), "not_planned")
	w.r.Close(n, "bob", "completed") // no change of state: nothing
	equal(t, "reason kept", w.r.Issue(n).StateReason, "not_planned")
	w.r.Reopen(n, "bob")
	got = w.expect("issues.reopened")
	equal(t, "closed_at", got[0].at("issue", "closed_at"), nil)
	equal(t, "reason", w.r.Issue(n).StateReason, "reopened")
	w.r.Close(n, "bob", "")
	equal(t, "default reason", w.r.Issue(n).StateReason, "completed")
	var held []string
	for _, v := range w.r.History(n, "state") {
		held = append(held, v.Value)
	}
	equal(t, "history", held, []string{"open", "closed/not_planned", "open", "closed/completed"})
}

func TestLabelsOfPeople(t *testing.T) {
	w := newWorld(t, Options{}).hooked("issues")
	n := w.open("one")
	w.events()
	w.r.Label(n, "bob", "Bug")
	w.r.Label(n, "bob", "bug") // the same label
	w.r.Unlabel(n, "bob", "none")
	w.r.Unlabel(n, "bob", "BUG")
	got := w.expect("issues.labeled", "issues.unlabeled")
	equal(t, "unlabeled names it", got[1].at("label", "name"), "Bug")
	w.r.Label(n, "bob", "Bug")
	w.events()
	w.r.DeleteLabel("bob", "bug")
	got = w.expect("issues.unlabeled")
	equal(t, "a deleted label is not named", got[0].at("label"), nil)
	equal(t, "labels left", len(w.r.Labels()), 0)
}

func TestCommentAssignLock(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	n := w.open("one")
	w.events()
	id := w.r.Comment(n, "bob", "hello")
	w.r.Assign(n, "bob", "carol", "dave")
	w.r.Assign(n, "bob", "dave")
	w.r.Lock(n)
	w.r.Lock(n)
	w.r.Unlock(n)
	got := w.expect("issue_comment.created", "issues.assigned", "issues.assigned", "issues.unassigned",
		"issues.locked", "issues.unlocked")
	equal(t, "comment", got[0].at("comment", "body"), "hello")
	equal(t, "comment's issue", got[0].at("issue", "number"), n)
	equal(t, "unassigned", got[3].at("assignee", "login"), "carol")
	i := w.r.Issue(n)
	equal(t, "comment id", i.Comments[0].ID, id)
	equal(t, "assignees", i.Assignees, []string{"dave"})
}

func TestDeleteAnswers410(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	n := w.open("one")
	w.events()
	w.r.Delete(n)
	w.expect("issues.deleted")
	w.get("/repos/acme/web/issues/1").want(410)
	equal(t, "gone", w.r.Issue(n).Number, 0)
	equal(t, "listed", len(w.r.Issues()), 0)
	equal(t, "history remains", len(w.r.History(n, "title")), 1)
}

func TestTransferChangesIdentityAndRedirects(t *testing.T) {
	w := newWorld(t, Options{})
	other := w.s.AddRepo("acme/api", RepoSpec{})
	other.Open("bob", IssueSpec{Title: "first", Labels: []string{"bug"}})
	w.hooked()
	second := newReceiver(t)
	w.s.AddHook("acme/api", second.URL, "")
	w.idle()
	second.take()
	n := w.open("one", "bug", "only here")
	old := w.r.Issue(n)
	w.events()
	moved := w.r.Transfer(n, "acme/api")
	got := w.expect("issues.transferred")
	now := other.Issue(moved)
	equal(t, "number", moved, 2)
	if now.ID == old.ID || now.NodeID == old.NodeID {
		t.Error("the id was kept")
	}
	equal(t, "labels the target knows", now.Labels, []string{"bug"})
	equal(t, "new issue", got[0].at("changes", "new_issue", "id"), now.ID)
	equal(t, "new repository", got[0].at("changes", "new_repository", "full_name"), "acme/api")
	arrived := second.take()
	equal(t, "target's event", names(arrived), []string{"issues.opened"})
	equal(t, "old issue", arrived[0].at("changes", "old_issue", "id"), old.ID)
	equal(t, "old repository", arrived[0].at("changes", "old_repository", "full_name"), "acme/web")

	moved301 := w.get("/repos/acme/web/issues/1").want(301)
	equal(t, "followed", w.get(moved301.header.Get("Location")).want(200).obj()["id"], now.ID)
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"title": "x"}).want(301)
	w.s.SetTraits(func(x *Traits) { x.Redirect307 = true })
	to := w.do("PATCH", "/repos/acme/web/issues/1?a=b", fields{"title": "x"}).want(307).header.Get("Location")
	if !strings.HasSuffix(to, "/issues/2?a=b") {
		t.Errorf("Location %s", to)
	}
	w.do("PATCH", to, fields{"title": "x"}).want(200)
	equal(t, "written", other.Issue(moved).Title, "x")
}

func TestRenameRedirectsAndTellsTheFormerName(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	w.open("one")
	w.events()
	w.s.RenameRepo("acme/web", "acme/site")
	got := w.expect("repository.renamed")
	equal(t, "from", got[0].at("changes", "repository", "name", "from"), "web")
	equal(t, "name", w.r.Name(), "acme/site")
	to := w.get("/repos/acme/web/issues/1?x=y").want(301).header.Get("Location")
	equal(t, "followed", w.get(to).want(200).obj()["title"], "one")
	equal(t, "repository itself", w.get(w.get("/repos/acme/web").want(301).header.Get("Location")).want(200).obj()["full_name"], "acme/site")
	w.s.RenameRepo("acme/site", "initech/site")
	got = w.expect("repository.transferred")
	equal(t, "from owner", got[0].at("changes", "owner", "from", "organization", "login"), "acme")
	w.s.AddRepo("acme/web", RepoSpec{}) // takes the former name
	w.get("/repos/acme/web/issues/1").want(404)
}

func TestArchivedIsReadOnly(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	w.open("one")
	w.events()
	w.r.Archive(true)
	w.expect("repository.archived")
	w.get("/repos/acme/web/issues/1").want(200)
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"title": "two"}).want(403)
	w.r.Archive(false)
	w.expect("repository.unarchived")
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"title": "two"}).want(200)
	w.events()
	w.r.Publish(false)
	w.expect("repository.privatized")
	w.get("/repos/acme/web", "Authorization", "").want(404)
	w.r.Publish(true)
	w.expect("repository.publicized")
	w.get("/repos/acme/web", "Authorization", "").want(200)
}

func TestPullRequestsAndDiscussionsTakeNumbers(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	w.open("one")
	w.events()
	if n := w.r.NewDiscussion(); n != 2 {
		t.Errorf("discussion %d", n)
	}
	pr := w.r.OpenPR("bob", IssueSpec{Title: "a change"})
	w.expect() // comes as pull_request, which is not simulated
	w.get("/repos/acme/web/issues/2").want(404)
	if w.get("/repos/acme/web/issues/3").want(200).obj()["pull_request"] == nil {
		t.Error("no pull_request key")
	}
	w.r.Comment(pr, "bob", "hi")
	got := w.expect("issue_comment.created")
	if got[0].at("issue", "pull_request") == nil {
		t.Error("comment's issue is no pull request")
	}
	equal(t, "listed too", len(w.get("/repos/acme/web/issues").want(200).list("id")), 2)
}

func TestSubIssuesOfPeople(t *testing.T) {
	w := newWorld(t, Options{}).hooked("sub_issues")
	parent, child := w.open("parent"), w.open("child")
	w.r.AddSubIssue(parent, child)
	got := w.expect("sub_issues.sub_issue_added", "sub_issues.parent_issue_added")
	for _, e := range got {
		equal(t, "parent", e.at("parent_issue", "title"), "parent")
		equal(t, "sub issue", e.at("sub_issue", "title"), "child")
		equal(t, "sub issue id", e.at("sub_issue_id"), w.r.Issue(child).ID)
	}
	equal(t, "parent's children", w.r.Issue(parent).SubIssues, []int{child})
	equal(t, "child's parent", w.r.Issue(child).Parent, parent)
	w.r.RemoveSubIssue(parent, child)
	w.expect("sub_issues.sub_issue_removed", "sub_issues.parent_issue_removed")
	w.r.AddSubIssue(parent, child)
	w.r.Delete(parent)
	equal(t, "an orphan", w.r.Issue(child).Parent, 0)
}

func TestHistorySaysWhoWroteWhat(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 999, time.UTC)
	w := newWorld(t, Options{Clock: func() time.Time { return at }})
	n := w.open("one", "bug")
	w.s.Advance(time.Minute)
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"title": "two"}).want(200)
	history := w.r.History(n, "title")
	first := history[0].Order
	if second := history[1].Order; second <= first {
		t.Errorf("orders %d, %d: the later value has not the higher one", first, second)
	}
	for i := range history {
		history[i].Order = 0
	}
	equal(t, "history", history, []Value{
		{Value: "one", User: "octocat", Time: at.Truncate(time.Second)},
		{Value: "two", User: bot, Time: at.Truncate(time.Second).Add(time.Minute), ByAPI: true},
	})
	equal(t, "labels", w.r.History(n, "labels")[0].Value, "bug")
	equal(t, "updated_at", w.r.Issue(n).UpdatedAt, at.Truncate(time.Second).Add(time.Minute))
	equal(t, "unknown", len(w.r.History(9, "title")), 0)
}

func TestActsOnWhatIsNotThereAreErrorsOfTheTest(t *testing.T) {
	w := newWorld(t, Options{})
	for name, act := range map[string]func(){
		"missing issue":   func() { w.r.Close(9, "bob", "") },
		"long title":      func() { w.r.Open("bob", IssueSpec{Title: strings.Repeat("x", 257)}) },
		"empty title":     func() { w.r.Open("bob", IssueSpec{}) },
		"same repository": func() { w.s.AddRepo("ACME/web", RepoSpec{}) },
		"no owner":        func() { w.s.AddRepo("web", RepoSpec{}) },
		"hook of nothing": func() { w.s.AddHook("acme/none", "http://127.0.0.1:1", "") },
		"target missing":  func() { w.r.Transfer(w.open("x"), "acme/none") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			act()
		})
	}
	w.open("the server still works")
}
