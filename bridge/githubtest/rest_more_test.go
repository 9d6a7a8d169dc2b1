package githubtest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestComments(t *testing.T) {
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	w := newWorld(t, Options{Clock: func() time.Time { return at }})
	w.open("one")
	w.hooked("issue_comment")
	const comments = "/repos/acme/web/issues/1/comments"
	o := w.do("POST", comments, fields{"body": "first"}).want(201).obj()
	one := fmt.Sprintf("/repos/acme/web/issues/comments/%.0f", o["id"])
	equal(t, "url", o["url"], w.s.URL()+one)
	w.s.Advance(time.Hour)
	w.r.Comment(1, "bob", "second")
	equal(t, "list", w.get(comments).want(200).list("body"), []string{"first", "second"})
	equal(t, "since", w.get(comments+"?since=2026-01-02T00:30:00Z").want(200).list("body"), []string{"second"})
	equal(t, "pages", w.get(w.get(comments+"?per_page=1").want(200).next()).want(200).list("body"), []string{"second"})
	w.do("PATCH", one, fields{"body": "edited"}).want(200)
	equal(t, "get", w.get(one).want(200).obj()["body"], "edited")
	got := w.expect("issue_comment.created", "issue_comment.created", "issue_comment.edited")
	equal(t, "from", got[2].at("changes", "body", "from"), "first")
	equal(t, "touches the issue", w.r.Issue(1).UpdatedAt, at.Add(time.Hour))

	w.do("POST", comments, fields{"body": " "}).want(422)
	w.do("POST", comments, fields{"body": strings.Repeat("x", 65537)}).want(422)
	w.do("PATCH", one, fields{"body": ""}).want(422)
	w.do("PATCH", one, fields{"body": "x"}, "Authorization", "Bearer "+weakToken).want(403)
	w.do("DELETE", one, nil, "Authorization", "Bearer "+weakToken).want(403)
	w.do("DELETE", one, nil).want(204)
	w.expect("issue_comment.deleted")
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		w.do(method, one, fields{"body": "x"}).want(404)
	}
	equal(t, "count", w.get("/repos/acme/web/issues/1").want(200).obj()["comments"], 1)
	w.r.Lock(1)
	w.do("POST", comments, fields{"body": "x"}, "Authorization", "Bearer "+weakToken).want(403)
	w.do("POST", comments, fields{"body": "x"}).want(201)
}

func TestEventsAndTimeline(t *testing.T) {
	w := newWorld(t, Options{})
	w.do("POST", "/repos/acme/web/milestones", fields{"title": "M"}).want(201)
	w.open("one", "bug")
	w.open("child")
	w.r.Edit(1, "bob", func(e *IssueEdit) { e.Title, e.Milestone = "two", 1 })
	w.r.Assign(1, "bob", "alice")
	w.r.Close(1, "bob", "not_planned")
	w.r.Comment(1, "bob", "hi")
	w.r.AddSubIssue(1, 2)
	events := w.get("/repos/acme/web/issues/1/events").want(200)
	equal(t, "events", events.list("event"), []string{"labeled", "renamed", "milestoned", "assigned", "closed"})
	equal(t, "rename", events.list("rename")[1], fields{"from": "one", "to": "two"})
	equal(t, "label", events.list("label")[0], fields{"name": "bug", "color": "ededed"})
	equal(t, "milestone", events.list("milestone")[2], fields{"title": "M"})
	equal(t, "reason", events.list("state_reason")[4], "not_planned")
	all := w.get("/repos/acme/web/issues/1/timeline?per_page=100").want(200).list("event")
	for _, kind := range []string{"commented", "sub_issue_added"} {
		if !strings.Contains(fmt.Sprint(all), kind) {
			t.Errorf("timeline %v has no %s", all, kind)
		}
	}
	equal(t, "child's", w.get("/repos/acme/web/issues/2/timeline").want(200).list("event"), []string{"parent_issue_added"})
}

func TestSubIssuesByAPI(t *testing.T) {
	w := newWorld(t, Options{})
	for _, title := range []string{"parent", "child", "other"} {
		w.open(title)
	}
	w.hooked("sub_issues")
	id := func(n int) int64 { return w.r.Issue(n).ID }
	const subs, sub = "/repos/acme/web/issues/1/sub_issues", "/repos/acme/web/issues/1/sub_issue"
	w.get("/repos/acme/web/issues/2/parent").want(404)
	equal(t, "answers the parent", w.do("POST", subs, fields{"sub_issue_id": id(2)}).want(201).obj()["number"], 1)
	equal(t, "summary", w.get("/repos/acme/web/issues/1").want(200).obj("sub_issues_summary")["total"], 1)
	got := w.expect("sub_issues.sub_issue_added", "sub_issues.parent_issue_added")
	equal(t, "sender", got[0].at("sender", "login"), bot)
	equal(t, "list", w.get(subs).want(200).list("number"), []int{2})
	equal(t, "parent", w.get("/repos/acme/web/issues/2/parent").want(200).obj()["number"], 1)
	w.do("POST", subs, fields{"sub_issue_id": id(2)}).want(422)                                  // there already
	w.do("POST", subs, fields{"sub_issue_id": id(1)}).want(422)                                  // itself
	w.do("POST", "/repos/acme/web/issues/2/sub_issues", fields{"sub_issue_id": id(1)}).want(422) // a circle
	w.do("POST", subs, fields{"sub_issue_id": 2}).want(404)                                      // a number is no id
	w.do("POST", "/repos/acme/web/issues/3/sub_issues", fields{"sub_issue_id": id(2)}).want(422)
	w.do("POST", "/repos/acme/web/issues/3/sub_issues", fields{"sub_issue_id": id(2), "replace_parent": true}).want(201)
	equal(t, "moved", w.r.Issue(2).Parent, 3)
	w.do("DELETE", sub, fields{"sub_issue_id": id(2)}).want(404)
	w.do("DELETE", "/repos/acme/web/issues/3/sub_issue", fields{"sub_issue_id": id(2)}).want(200)
	equal(t, "parted", w.r.Issue(2).Parent, 0)
	for method, path := range map[string]string{"POST": subs, "DELETE": sub} {
		w.do(method, path, fields{"sub_issue_id": id(2)}, "Authorization", "Bearer "+weakToken).want(403)
		w.do(method, path, "x").want(400)
	}
	w.s.SetTraits(func(x *Traits) { x.NoSubIssues = true })
	w.get(subs).want(404)
	w.get("/repos/acme/web/issues/2/parent").want(404)
	w.do("POST", subs, fields{"sub_issue_id": id(2)}).want(404)
	w.do("DELETE", sub, fields{"sub_issue_id": id(2)}).want(404)
}

func TestLimitsOfFamilies(t *testing.T) {
	w := newWorld(t, Options{})
	for n := range 102 {
		w.open(fmt.Sprint(n))
	}
	for n := 2; n <= 101; n++ {
		w.r.AddSubIssue(1, n)
	}
	w.do("POST", "/repos/acme/web/issues/1/sub_issues", fields{"sub_issue_id": w.r.Issue(102).ID}).want(422)
	for n := 2; n <= 101; n++ {
		w.r.RemoveSubIssue(1, n)
	}
	for n := 1; n < 8; n++ {
		w.do("POST", fmt.Sprintf("/repos/acme/web/issues/%d/sub_issues", n), fields{"sub_issue_id": w.r.Issue(n + 1).ID}).want(201)
	}
	w.do("POST", "/repos/acme/web/issues/8/sub_issues", fields{"sub_issue_id": w.r.Issue(9).ID}).want(422)
}

func TestUserContentEdits(t *testing.T) {
	w := newWorld(t, Options{})
	w.open("one")
	id := w.r.Issue(1).NodeID
	ask := func(query string, variables fields) result {
		return w.do("POST", w.s.GraphQLURL(), fields{"query": query, "variables": variables}).want(200)
	}
	const query = `query($id: ID!) { node(id: $id) { ... on Issue { userContentEdits(first: 10) { nodes { diff editor { login } } } } } }`
	equal(t, "never edited", ask(query, fields{"id": id}).obj("data", "node", "userContentEdits")["totalCount"], 0)
	w.r.Edit(1, "bob", func(e *IssueEdit) { e.Body = "by bob" })
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"body": "by the bot"}).want(200)
	nodes := ask(query, fields{"id": id}).obj("data", "node", "userContentEdits")["nodes"].([]any)
	var got []any
	for _, n := range nodes {
		got = append(got, n.(fields)["diff"], n.(fields)["editor"].(fields)["login"])
	}
	equal(t, "newest first, the original last", got, []string{"by the bot", bot, "by bob", "bob", "body of one", "octocat"})
	inline := ask(fmt.Sprintf(`{ node(id: %q) { ... on Issue { userContentEdits(last: 5) { totalCount } } } }`, id), nil)
	equal(t, "inline", inline.obj("data", "node", "userContentEdits")["totalCount"], 3)
	if ask(query, fields{"id": "I_kwDOnone"}).obj()["errors"] == nil || ask("{ rateLimit { cost } }", nil).obj()["errors"] == nil {
		t.Error("no errors")
	}
	const viewer = "{ viewer { login } }"
	equal(t, "viewer", ask(viewer, nil).obj("data", "viewer")["login"], bot)
	w.s.SetTraits(func(t *Traits) { t.NoViewer = 403 })
	w.do("POST", w.s.GraphQLURL(), fields{"query": viewer}).want(403)
	w.do("GET", "/user", nil).want(403)
	w.do("POST", w.s.GraphQLURL(), fields{"query": query}, "Authorization", "").want(401)
	equal(t, "no write", w.s.Writes(), 1)
}

func TestEnterprisePaths(t *testing.T) {
	w := newWorld(t, Options{Enterprise: true})
	w.open("one")
	w.open("two")
	if !strings.HasSuffix(w.s.URL(), "/api/v3") || !strings.HasSuffix(w.s.GraphQLURL(), "/api/graphql") {
		t.Errorf("URLs %s %s", w.s.URL(), w.s.GraphQLURL())
	}
	got := w.get("/repos/acme/web/issues?per_page=1").want(200)
	equal(t, "next page", w.get(got.next()).want(200).list("number"), []int{1})
	equal(t, "version", w.get("/meta").want(200).obj()["installed_version"], "3.17.0")
	host := strings.TrimSuffix(w.s.URL(), "/api/v3")
	w.get(host + "/repos/acme/web").want(404)
	w.do("POST", w.s.GraphQLURL(), fields{"query": "{userContentEdits}"}).want(200)
	w.s.RenameRepo("acme/web", "acme/site")
	to := w.get("/repos/acme/web/issues/1").want(301).header.Get("Location")
	equal(t, "redirect", w.get(to).want(200).obj()["number"], 1)
}
