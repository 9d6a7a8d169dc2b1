package githubtest

import (
	"fmt"
	"strings"
	"testing"
)

func TestLabelsOfAnIssue(t *testing.T) {
	w := newWorld(t, Options{})
	w.open("one")
	w.hooked("issues")
	const labels = "/repos/acme/web/issues/1/labels"
	equal(t, "add", w.do("POST", labels, fields{"labels": []string{"Bug", "a/b"}}).want(200).list("name"), []string{"Bug", "a/b"})
	equal(t, "add bare", w.do("POST", labels, []string{"bug", "50%", "c#"}).want(200).list("name"), []string{"Bug", "a/b", "50%", "c#"})
	equal(t, "get", w.get(labels+"?per_page=2&page=2").want(200).list("name"), []string{"50%", "c#"})
	equal(t, "remove with a slash", w.do("DELETE", labels+"/a%2Fb", nil).want(200).list("name"), []string{"Bug", "50%", "c#"})
	equal(t, "remove with a percent", w.do("DELETE", labels+"/50%25", nil).want(200).list("name"), []string{"Bug", "c#"})
	equal(t, "remove with a hash", w.do("DELETE", labels+"/c%23", nil).want(200).list("name"), []string{"Bug"})
	equal(t, "words", w.do("DELETE", labels+"/c%23", nil).want(404).obj()["message"], "Label does not exist")
	w.events()
	equal(t, "set", w.do("PUT", labels, fields{"labels": []string{"x", "y"}}).want(200).list("name"), []string{"x", "y"})
	got := w.expect("issues.unlabeled", "issues.labeled", "issues.labeled")
	equal(t, "sender", got[0].at("sender", "login"), bot)
	w.do("DELETE", labels, nil).want(204)
	equal(t, "cleared", len(w.r.Issue(1).Labels), 0)
	for _, method := range []string{"PUT", "DELETE"} {
		w.do(method, labels, []string{}, "Authorization", "Bearer "+weakToken).want(403)
	}
	w.do("DELETE", labels+"/x", nil, "Authorization", "Bearer "+weakToken).want(403)
}

func TestAtMostAHundredLabels(t *testing.T) {
	w := newWorld(t, Options{})
	w.open("one")
	var many []string
	for n := range 100 {
		many = append(many, fmt.Sprint("label ", n))
	}
	w.do("POST", "/repos/acme/web/issues/1/labels", many).want(200)
	w.do("POST", "/repos/acme/web/issues/1/labels", []string{"LABEL 1"}).want(200)
	w.do("POST", "/repos/acme/web/issues/1/labels", []string{"one more"}).want(422)
	w.do("PUT", "/repos/acme/web/issues/1/labels", []string{strings.Repeat("ü", 51)}).want(422)
	w.do("POST", "/repos/acme/web/issues/1/labels", fields{"labels": "bug"}).want(422)
	equal(t, "unchanged", len(w.r.Issue(1).Labels), 100)
}

func TestLabelsOfARepository(t *testing.T) {
	w := newWorld(t, Options{}).hooked("label", "issues")
	const labels = "/repos/acme/web/labels"
	o := w.do("POST", labels, fields{"name": "plan:Done", "color": "00FF00", "description": "done in planning"}).want(201).obj()
	equal(t, "url is escaped", o["url"], w.s.URL()+labels+"/plan:Done")
	equal(t, "code", w.do("POST", labels, fields{"name": "PLAN:done"}).want(422).obj()["errors"].([]any)[0].(fields)["code"], "already_exists")
	w.do("POST", labels, fields{"name": "x", "color": "greenish"}).want(422)
	w.do("POST", labels, fields{"name": ""}).want(422)
	w.do("POST", labels, fields{"name": "x", "description": strings.Repeat("x", 101)}).want(422)
	w.do("POST", labels, fields{"name": "x"}, "Authorization", "Bearer "+weakToken).want(403)
	equal(t, "get", w.get(labels + "/plan:done").want(200).obj()["color"], "00FF00")
	w.get(labels + "/none").want(404)
	n := w.open("one", "plan:Done")
	w.events()
	w.do("PATCH", labels+"/plan:Done", fields{"new_name": "plan:Finished", "color": "112233"}).want(200)
	got := w.expect("label.edited")
	equal(t, "from", got[0].at("changes", "name", "from"), "plan:Done")
	equal(t, "issues show the new name", w.r.Issue(n).Labels, []string{"plan:Finished"})
	w.do("PATCH", labels+"/plan:Finished", fields{"new_name": "PLAN:finished"}).want(200) // its own name
	w.open("two", "other")
	w.do("PATCH", labels+"/other", fields{"new_name": "Plan:Finished"}).want(422)
	w.do("PATCH", labels+"/none", fields{"new_name": "x"}).want(404)
	equal(t, "list", w.get(labels).want(200).list("name"), []string{"PLAN:finished", "other"})
	w.events()
	w.do("DELETE", labels+"/other", nil).want(204)
	w.do("DELETE", labels+"/other", nil).want(404)
	got = w.expect("issues.unlabeled", "label.deleted")
	equal(t, "no label in it", got[0].at("label"), nil)
	equal(t, "state", w.r.Labels(), []LabelState{{"PLAN:finished", "112233", "done in planning"}})
}

func TestMilestones(t *testing.T) {
	w := newWorld(t, Options{}).hooked("milestone", "issues")
	const stones = "/repos/acme/web/milestones"
	o := w.do("POST", stones, fields{"title": "Sprint 1", "description": "first", "due_on": "2012-10-09T23:39:01Z"}).want(201).obj()
	equal(t, "floored to Pacific time", o["due_on"], "2012-10-09T07:00:00Z")
	o = w.do("POST", stones, fields{"title": "Sprint 2", "due_on": "2026-01-15T03:00:00Z"}).want(201).obj()
	equal(t, "the day before there", o["due_on"], "2026-01-14T08:00:00Z")
	o = w.do("POST", stones, fields{"title": "Sprint 3", "due_on": "2026-01-15T12:00:00Z"}).want(201).obj()
	equal(t, "noon is safe", o["due_on"], "2026-01-15T08:00:00Z")
	w.do("POST", stones, fields{"title": "Someday"}).want(201)
	equal(t, "code", w.do("POST", stones, fields{"title": "Sprint 1"}).want(422).obj()["errors"].([]any)[0].(fields)["code"], "already_exists")
	w.do("POST", stones, fields{}).want(422)
	w.do("POST", stones, fields{"title": "x", "due_on": "tomorrow"}).want(422)
	w.do("POST", stones, fields{"title": "x", "state": "gone"}).want(422)
	w.do("POST", stones, fields{"title": "x"}, "Authorization", "Bearer "+weakToken).want(403)
	w.expect("milestone.created", "milestone.created", "milestone.created", "milestone.created")

	w.do("PATCH", stones+"/1", fields{"state": "closed"}).want(200)
	w.do("PATCH", stones+"/2", fields{"title": "Sprint two", "due_on": nil, "description": "x"}).want(200)
	got := w.expect("milestone.closed", "milestone.edited")
	equal(t, "from", got[1].at("changes", "title", "from"), "Sprint 2")
	equal(t, "open ones by date", w.get(stones).want(200).list("number"), []int{3, 2, 4})
	equal(t, "all", w.get(stones+"?state=all&direction=desc").want(200).list("number"), []int{4, 2, 3, 1})
	w.do("PATCH", stones+"/2", fields{"title": "Sprint 3"}).want(422)
	w.do("PATCH", stones+"/9", fields{"title": "x"}).want(404)
	equal(t, "get", w.get(stones + "/2").want(200).obj()["due_on"], nil)

	w.r.Open("bob", IssueSpec{Title: "one", Milestone: 3})
	w.events()
	w.do("DELETE", stones+"/3", nil).want(204)
	w.expect("issues.demilestoned", "milestone.deleted")
	w.get(stones + "/3").want(404)
	w.do("DELETE", stones+"/3", nil).want(404)
	st := w.r.Milestones()
	equal(t, "state", []any{len(st), st[0].State, st[1].Title, st[1].DueOn.IsZero()}, []any{3, "closed", "Sprint two", true})
}

func TestAPersonSetsAMilestone(t *testing.T) {
	w := newWorld(t, Options{})
	equal(t, "number", w.r.NewMilestone("bob", "M"), 1)
	w.open("one")
	w.hooked("issues")
	w.r.Edit(1, "bob", func(e *IssueEdit) { e.Milestone = 1 })
	w.r.Edit(1, "bob", func(e *IssueEdit) { e.Title = "two" }) // keeps it
	w.expect("issues.milestoned", "issues.edited")
	equal(t, "milestone", w.r.Issue(1).Milestone, 1)
}
