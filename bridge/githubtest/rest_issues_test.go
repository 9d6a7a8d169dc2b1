package githubtest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestCreateIssue(t *testing.T) {
	w := newWorld(t, Options{}).hooked("issues")
	w.do("POST", "/repos/acme/web/milestones", fields{"title": "Sprint 1"}).want(201)
	got := w.do("POST", "/repos/acme/web/issues", fields{
		"title": "One", "body": "text\r\nkept", "labels": []any{"bug", fields{"name": "web"}},
		"assignees": []string{"alice"}, "milestone": 1,
	}).want(201)
	o := got.obj()
	equal(t, "number", o["number"], 1)
	equal(t, "body as sent", o["body"], "text\r\nkept")
	equal(t, "author", got.obj("user")["login"], bot)
	equal(t, "milestone", got.obj("milestone")["open_issues"], 1)
	equal(t, "html_url", o["html_url"], "https://github.com/acme/web/issues/1")
	equal(t, "Location", got.header.Get("Location"), w.s.URL()+"/repos/acme/web/issues/1")
	e := w.expect("issues.opened", "issues.labeled", "issues.labeled", "issues.assigned", "issues.milestoned")
	equal(t, "echo's sender", e[0].at("sender", "login"), bot)
	i := w.r.Issue(1)
	equal(t, "state", []any{i.Labels, i.Assignees, i.Milestone, i.Author}, []any{[]string{"bug", "web"}, []string{"alice"}, 1, bot})
	equal(t, "by the API", w.r.History(1, "body")[0].ByAPI, true)
}

func TestIssueWithoutBodyAnswersNull(t *testing.T) {
	w := newWorld(t, Options{})
	o := w.do("POST", "/repos/acme/web/issues", fields{"title": "One"}).want(201).obj()
	if v, there := o["body"]; !there || v != nil {
		t.Errorf("body %v %v", v, there)
	}
	equal(t, "state_reason", o["state_reason"], nil)
}

func TestLimitsOfTexts(t *testing.T) {
	w := newWorld(t, Options{})
	w.open("one")
	long, most := strings.Repeat("ü", 257), strings.Repeat("ü", 256)
	tall, full := strings.Repeat("ü", 65537), strings.Repeat("ü", 65536)
	for _, x := range []struct {
		body   fields
		status int
		field  string
	}{
		{fields{"title": most, "body": full}, 200, ""},
		{fields{"title": long}, 422, "title"},
		{fields{"body": tall}, 422, "body"},
		{fields{"title": ""}, 422, "title"},
		{fields{"title": "  "}, 422, "title"},
		{fields{"state": "done"}, 422, "state"},
		{fields{"state": "closed", "state_reason": "because"}, 422, "state_reason"},
		{fields{"milestone": 7}, 422, "milestone"},
		{fields{"labels": []string{strings.Repeat("x", 51)}}, 422, "name"},
		{fields{"labels": []string{"a,b"}}, 422, "name"},
	} {
		before := w.r.Issue(1)
		got := w.do("PATCH", "/repos/acme/web/issues/1", x.body).want(x.status)
		if x.status == 200 {
			continue
		}
		o := got.obj()
		equal(t, "message", o["message"], "Validation Failed")
		if o["documentation_url"] == nil {
			t.Error("no documentation_url")
		}
		equal(t, "field", o["errors"].([]any)[0].(fields)["field"], x.field)
		equal(t, "nothing changed", w.r.Issue(1), before)
	}
	w.do("POST", "/repos/acme/web/issues", fields{"title": long}).want(422)
	w.do("POST", "/repos/acme/web/issues", fields{"body": "no title"}).want(422)
	w.do("POST", "/repos/acme/web/issues", fields{"title": "x", "milestone": 9}).want(422)
	w.do("POST", "/repos/acme/web/issues", "no object").want(400)
}

func TestPatchChangesEverythingAtOnce(t *testing.T) {
	w := newWorld(t, Options{})
	w.do("POST", "/repos/acme/web/milestones", fields{"title": "Sprint 1"}).want(201)
	w.open("one", "a", "b")
	w.hooked("issues")
	got := w.do("PATCH", "/repos/acme/web/issues/1", fields{
		"title": "two", "body": nil, "labels": []string{"B", "c"},
		"assignees": []string{"bob"}, "milestone": 1, "state": "closed", "state_reason": "duplicate",
	}).want(200)
	equal(t, "answer", got.obj()["state_reason"], "duplicate")
	equal(t, "closed by", got.obj("closed_by")["login"], bot)
	i := w.r.Issue(1)
	equal(t, "state", []any{i.Title, i.Body, i.Labels, i.Assignees, i.Milestone, i.State},
		[]any{"two", "", []string{"b", "c"}, []string{"bob"}, 1, "closed"})
	w.expect("issues.edited", "issues.unlabeled", "issues.labeled", "issues.assigned", "issues.milestoned", "issues.closed")
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"milestone": nil, "state": "open"}).want(200)
	w.expect("issues.demilestoned", "issues.reopened")
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"title": nil}).want(200)
	equal(t, "a null title is none", w.r.Issue(1).Title, "two")
}

func TestStateReasonCountsOnlyWhereTheStateChanges(t *testing.T) {
	w := newWorld(t, Options{})
	w.open("one")
	patch := func(body fields) any {
		t.Helper()
		return w.do("PATCH", "/repos/acme/web/issues/1", body).want(200).obj()["state_reason"]
	}
	equal(t, "while open", patch(fields{"state_reason": "not_planned"}), nil)
	equal(t, "closing", patch(fields{"state": "closed", "state_reason": "not_planned"}), "not_planned")
	equal(t, "closed already", patch(fields{"state": "closed", "state_reason": "completed"}), "not_planned")
	equal(t, "reopening", patch(fields{"state": "open"}), "reopened")
	equal(t, "closing without", patch(fields{"state": "closed"}), "completed")
}

func TestConditionalRequests(t *testing.T) {
	w := newWorld(t, Options{})
	w.open("one")
	first := w.get("/repos/acme/web/issues/1").want(200)
	tag := first.header.Get("ETag")
	again := w.get("/repos/acme/web/issues/1", "If-None-Match", tag).want(304)
	equal(t, "no body", len(again.raw), 0)
	equal(t, "free", again.header.Get("X-RateLimit-Remaining"), first.header.Get("X-RateLimit-Remaining"))
	w.r.Label(1, "bob", "bug")
	w.get("/repos/acme/web/issues/1", "If-None-Match", tag).want(200)
	list := w.get("/repos/acme/web/issues").want(200).header.Get("ETag")
	w.get("/repos/acme/web/issues", "If-None-Match", list).want(304)
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"title": "x"}, "If-Match", tag).want(400)
	equal(t, "not written", w.r.Issue(1).Title, "one")
	calls := w.s.Journal()
	equal(t, "journalled", calls[1].Status, 304)
}

func TestNoPushDropsInSilence(t *testing.T) {
	w := newWorld(t, Options{})
	as := []string{"Authorization", "token " + weakToken}
	o := w.do("POST", "/repos/acme/web/issues", fields{"title": "mine", "labels": []string{"bug"}, "assignees": []string{"bob"}}, as...).want(201).obj()
	equal(t, "labels", o["labels"], []any{})
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"body": "x", "labels": []string{"bug"}}, as...).want(200)
	equal(t, "dropped", len(w.r.Issue(1).Labels), 0)
	equal(t, "the rest is written", w.r.Issue(1).Body, "x")
	w.do("POST", "/repos/acme/web/issues/1/labels", fields{"labels": []string{"bug"}}, as...).want(403)
	w.open("another's")
	w.do("PATCH", "/repos/acme/web/issues/2", fields{"title": "x"}, as...).want(403)
	w.s.SetTraits(func(x *Traits) { x.NoPush = true })
	w.do("POST", "/repos/acme/web/issues", fields{"title": "bot's", "labels": []string{"bug"}}).want(201)
	equal(t, "trait", len(w.r.Issue(3).Labels), 0)
	equal(t, "permissions", w.get("/repos/acme/web").want(200).obj("permissions")["push"], false)
}

func TestListFilters(t *testing.T) {
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	w := newWorld(t, Options{Clock: func() time.Time { return at }})
	w.do("POST", "/repos/acme/web/milestones", fields{"title": "M"}).want(201)
	w.open("one", "bug") // 00:00
	w.s.Advance(time.Hour)
	w.r.Open("alice", IssueSpec{Title: "two", Labels: []string{"Bug", "web"}, Milestone: 1, Assignees: []string{"bob"}}) // 01:00
	w.s.Advance(time.Hour)
	w.open("three")
	w.r.Close(3, "bob", "") // 02:00
	w.s.Advance(time.Hour)
	w.r.Comment(1, "bob", "moves updated_at") // 03:00
	for query, want := range map[string]string{
		"":                                     "2 1",
		"state=all":                            "3 2 1",
		"state=closed":                         "3",
		"state=all&sort=updated&direction=asc": "2 3 1",
		"state=all&sort=comments":              "1 3 2",
		"state=all&since=2026-01-02T02:00:00Z": "3 1",
		"creator=alice":                        "2",
		"labels=bug":                           "2 1",
		"labels=bug,WEB":                       "2",
		"milestone=1":                          "2",
		"milestone=*":                          "2",
		"milestone=none":                       "1",
		"milestone=4":                          "",
		"assignee=bob":                         "2",
		"state=all&per_page=2":                 "3 2",
		"state=all&per_page=2&page=2":          "1",
		"state=all&page=9":                     "",
	} {
		got := strings.Trim(fmt.Sprint(w.get("/repos/acme/web/issues?"+query).want(200).list("number")), "[]")
		equal(t, query, got, want)
	}
	w.get("/repos/acme/web/issues?since=yesterday").want(422)
}

func TestPagesByLink(t *testing.T) {
	for name, traits := range map[string]Traits{"page": {}, "cursor": {CursorPages: true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Options{Traits: traits})
			for n := range 7 {
				w.open(fmt.Sprint("issue ", n))
			}
			var seen []any
			page := "/repos/acme/web/issues?state=all&sort=updated&direction=asc&per_page=3"
			for page != "" {
				got := w.get(page).want(200)
				seen = append(seen, got.list("number")...)
				page = got.next()
				if u, _ := url.Parse(page); page != "" && u.Query().Has("after") != traits.CursorPages {
					t.Errorf("Link %s", page)
				}
			}
			equal(t, "all", seen, []int{1, 2, 3, 4, 5, 6, 7})
		})
	}
}

func TestCursorPagesRefusePageNumbers(t *testing.T) {
	w := newWorld(t, Options{Traits: Traits{CursorPages: true}})
	w.get("/repos/acme/web/issues?page=2").want(422)
	w.get("/repos/acme/web/issues?after=nonsense").want(422)
	w.get("/repos/acme/web/issues?page=1").want(200)
}

func TestCursorSurvivesWhatChangesBehindIt(t *testing.T) {
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	w := newWorld(t, Options{Clock: func() time.Time { return at }, Traits: Traits{CursorPages: true}})
	for n := range 4 {
		w.open(fmt.Sprint("issue ", n))
	}
	first := w.get("/repos/acme/web/issues?sort=updated&direction=asc&per_page=2").want(200)
	w.s.Advance(time.Second)
	w.r.Comment(1, "bob", "moves to the end")
	second := w.get(first.next()).want(200)
	equal(t, "nothing skipped", second.list("number"), []int{3, 4})
	equal(t, "and the moved one again", w.get(second.next()).want(200).list("number"), []int{1})
}

func TestMissingThings(t *testing.T) {
	w := newWorld(t, Options{})
	w.s.AddRepo("acme/hidden", RepoSpec{Private: true})
	w.s.AddRepo("acme/noissues", RepoSpec{NoIssues: true})
	w.s.AddToken("narrow", "narrow", OnlyRepos("acme/web"))
	w.get("/repos/acme/web/issues/1").want(404)
	w.get("/repos/acme/none/issues/1").want(404)
	w.get("/repos/acme/hidden").want(200)
	w.get("/repos/acme/hidden", "Authorization", "").want(404)
	w.get("/repos/acme/hidden", "Authorization", "Bearer narrow").want(404)
	w.get("/repos/acme/noissues/issues").want(410)
	w.get("/nothing/here").want(404)
	equal(t, "unknown endpoint", w.s.Calls("unknown"), 1)
	w.get("/repos/acme/web/issues/x").want(404)
	w.get("/user", "Authorization", "Bearer wrong").want(401)
	w.do("POST", "/repos/acme/web/issues", fields{"title": "x"}, "Authorization", "").want(401)
}
