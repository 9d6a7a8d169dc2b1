package github

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

func TestIssueAsGitHubGaveIt(t *testing.T) {
	f := newFake(t)
	f.on("/repos/acme/web/issues/12", 200, issueJSON(f.URL, "acme/web", 12, map[string]any{
		"title": "Tïtle  ", "body": "a\r\nb\n \u2028", "state": "closed", "state_reason": "not_planned",
		"locked": true, "updated_at": "2026-01-03T04:04:05+01:00",
	}))
	got, err := f.client(t).Issue(within(t), "acme/web", 12)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, mapping.Issue{
		ID: 1012, NodeID: "I_1", Repo: "acme/web", Number: 12, Title: "Tïtle  ", Body: "a\r\nb\n \u2028",
		State: "closed", StateReason: "not_planned", Labels: []string{"bug", "c#"}, Assignees: []string{"octocat"},
		Milestone: 4, Author: "hubot", Association: "MEMBER", Locked: true,
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), UpdatedAt: time.Date(2026, 1, 3, 3, 4, 5, 0, time.UTC),
	})
}

func TestIssueWithNulls(t *testing.T) {
	f := newFake(t)
	f.on("/", 200, `{"id":1,"number":12,"title":"t","body":null,"state":"open","labels":["plain",{"name":"object"},{"name":null}],
		"assignees":null,"milestone":null,"user":null,"pull_request":null,"closed_at":null,"updated_at":null,"created_at":1767323045}`)
	got, err := f.client(t).Issue(within(t), "acme/web", 12)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, mapping.Issue{
		ID: 1, Repo: "acme/web", Number: 12, Title: "t", State: "open",
		Labels: []string{"plain", "object"}, CreatedAt: serverNow,
	})
}

func TestPullRequestIsTold(t *testing.T) {
	f := newFake(t)
	f.on("/", 200, issueJSON(f.URL, "acme/web", 12, map[string]any{"pull_request": map[string]any{"url": "x"}}))
	got, err := f.client(t).Issue(within(t), "acme/web", 12)
	if err != nil || !got.PullRequest {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCreateIssue(t *testing.T) {
	f := newFake(t)
	// No right to push: labels, assignees and milestone are dropped silently.
	f.on("POST /repos/acme/web/issues", 201, issueJSON(f.URL, "acme/web", 13,
		map[string]any{"labels": []any{}, "assignees": []any{}, "milestone": nil}))
	got, err := f.client(t).CreateIssue(within(t), "acme/web", NewIssue{
		Title: "t", Body: "<b> & @x", Labels: []string{"bug"}, Assignees: []string{"octocat"}, Milestone: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Number != 13 || got.Labels != nil || got.Assignees != nil || got.Milestone != 0 {
		t.Errorf("issue is %+v", got)
	}
	equal(t, sent(t, f.requests()[0]), map[string]any{
		"title": "t", "body": "<b> & @x",
		"labels": []any{"bug"}, "assignees": []any{"octocat"}, "milestone": 4.0,
	})
}

func sent(t *testing.T, r request) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(r.body), &m); err != nil {
		t.Fatalf("%s %s sent %q", r.method, r.path, r.body)
	}
	return m
}

func TestEditSendsWhatChangesAndNeverLabels(t *testing.T) {
	for _, tc := range []struct {
		edit IssueEdit
		want map[string]any
	}{
		{IssueEdit{}, map[string]any{}},
		{IssueEdit{Title: new("t")}, map[string]any{"title": "t"}},
		{IssueEdit{Body: new("")}, map[string]any{"body": ""}},
		{
			IssueEdit{State: new("closed"), StateReason: new("not_planned")},
			map[string]any{"state": "closed", "state_reason": "not_planned"},
		},
		{IssueEdit{Milestone: new(7)}, map[string]any{"milestone": 7.0}},
		{IssueEdit{Milestone: new(0)}, map[string]any{"milestone": nil}},
		{IssueEdit{Assignees: new([]string{"octocat"})}, map[string]any{"assignees": []any{"octocat"}}},
		{IssueEdit{Assignees: new([]string(nil))}, map[string]any{"assignees": []any{}}},
	} {
		f := newFake(t)
		f.on("PATCH /repos/acme/web/issues/12", 200, issueJSON(f.URL, "acme/web", 12, nil))
		got, err := f.client(t).EditIssue(within(t), "acme/web", 12, tc.edit)
		if err != nil || got.ID != 1012 {
			t.Errorf("issue %+v, %v", got, err)
		}
		equal(t, sent(t, f.requests()[0]), tc.want)
	}
}

// TestLabelNamesAreEscaped: go-github sends c# as "c" and a/b as two segments.
func TestLabelNamesAreEscaped(t *testing.T) {
	for name, path := range map[string]string{
		"c#": "c%23", "a/b": "a%2Fb", "50%": "50%25", "a b?": "a%20b%3F", "plan:To Do": "plan:To%20Do",
		"..": "%2E%2E", ".": "%2E", "é🙂": "%C3%A9%F0%9F%99%82", "%2F": "%252F",
	} {
		f := newFake(t)
		f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := r.URL.EscapedPath(); got != "/repos/acme/web/issues/12/labels/"+path {
				t.Errorf("%q went to %s", name, got)
			}
			write(w, 200, `[]`)
		})
		if _, err := f.client(t).RemoveLabel(within(t), "acme/web", 12, name); err != nil {
			t.Error(err)
		}
	}
}

func TestAddAndRemoveLabels(t *testing.T) {
	f := newFake(t)
	f.on("POST /repos/acme/web/issues/12/labels", 200, `[{"name":"bug"}]`) // the other one was dropped
	f.on("DELETE /repos/acme/web/issues/12/labels/bug", 200, `[{"name":"c#"}]`)
	c := f.client(t)
	now, err := c.AddLabels(within(t), "acme/web", 12, []string{"bug", "new"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, now, []string{"bug"})
	equal(t, sent(t, f.requests()[0]), map[string]any{"labels": []any{"bug", "new"}})
	now, err = c.RemoveLabel(within(t), "acme/web", 12, "bug")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, now, []string{"c#"})
}

func TestRemoveLabelThatIsNotThere(t *testing.T) {
	f := newFake(t)
	f.on("DELETE /", 404, `{"message":"Label does not exist"}`)
	f.on("GET /repos/acme/web/issues/12/labels", 200, `[{"name":"Bug"}]`)
	f.on("GET /repos/acme/web/issues/404/labels", 404, `{"message":"Not Found"}`)
	c := f.client(t)
	now, err := c.RemoveLabel(within(t), "acme/web", 12, "c#")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, now, []string{"Bug"})
	_, err = c.RemoveLabel(within(t), "acme/web", 404, "c#")
	wantKind(t, err, "not found")
	_, err = c.RemoveLabel(within(t), "acme/web", 12, "bug") // it is there all the same
	wantKind(t, err, "uncertain")
}

func TestEnsureLabel(t *testing.T) {
	f := newFake(t)
	f.on("GET /repos/acme/web/labels/there", 200, `{"name":"There"}`)
	f.on("GET /repos/acme/web/labels/broken", 500, ``)
	f.on("GET /", 404, `{"message":"Not Found"}`)
	f.mux.HandleFunc("POST /repos/acme/web/labels", func(w http.ResponseWriter, r *http.Request) {
		var l struct{ Name string }
		if err := json.NewDecoder(r.Body).Decode(&l); err != nil {
			t.Error(err)
		}
		switch l.Name {
		case "raced":
			write(w, 422, `{"message":"Validation Failed","errors":[{"resource":"Label","code":"already_exists","field":"name"}]}`)
		case "long":
			write(w, 422, `{"message":"Validation Failed","errors":[{"resource":"Label","code":"invalid","field":"name"}]}`)
		default:
			write(w, 201, `{}`)
		}
	})
	c := f.client(t)
	for name, kind := range map[string]string{"there": "", "raced": "", "new": "", "long": "rejected", "broken": "unavailable"} {
		err := c.EnsureLabel(within(t), "acme/web", name, "#aabbcc", "d")
		if kind == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		} else if kind != "" {
			wantKind(t, err, kind)
		}
	}
	for _, r := range f.requests() {
		if r.method == http.MethodPost {
			equal(t, sent(t, r)["color"], "aabbcc")
		}
	}
	equal(t, len(f.requests()), 8) // five lookups, three creates
}

func TestComments(t *testing.T) {
	f := newFake(t)
	f.mux.HandleFunc("GET /repos/acme/web/issues/12/comments", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "2" {
			write(w, 200, `[{"id":2,"body":null,"user":null,"created_at":"2026-01-02T03:04:05Z"}]`)
			return
		}
		write(w, 200, `[{"id":1,"body":"a","user":{"login":"octocat"},"created_at":"2026-01-02T03:04:05Z"}]`,
			"Link", `<`+f.URL+`/repos/acme/web/issues/12/comments?page=2>; rel="next"`)
	})
	f.on("POST /repos/acme/web/issues/12/comments", 201, `{"id":3,"body":"b","user":{"login":"bridge"},"created_at":"2026-01-02T03:04:05Z"}`)
	c := f.client(t)
	list, err := c.Comments(within(t), "acme/web", 12, serverNow)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, list, []Comment{{ID: 1, Author: "octocat", Body: "a", CreatedAt: serverNow}, {ID: 2, CreatedAt: serverNow}})
	equal(t, f.requests()[0].query, "per_page=100&since=2026-01-02T03%3A04%3A05Z")
	made, err := c.CreateComment(within(t), "acme/web", 12, "b")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, made, Comment{ID: 3, Author: "bridge", Body: "b", CreatedAt: serverNow})
	if _, err := c.Comments(within(t), "acme/web", 404, time.Time{}); !errors.Is(err, mapping.ErrNotFound) {
		t.Errorf("error is %v", err)
	}
}

func TestParent(t *testing.T) {
	f := newFake(t)
	f.on("/repos/acme/web/issues/1/parent", 200, issueJSON(f.URL, "acme/other", 9, nil))
	f.on("/repos/acme/web/issues/2/parent", 404, `{"message":"Not Found"}`)
	f.on("/repos/acme/web/issues/3/parent", 200, `null`)
	f.on("/repos/acme/web/issues/4/parent", 502, ``)
	c := f.client(t)
	p, err := c.Parent(within(t), "acme/web", 1)
	if err != nil || p == nil || p.Repo != "acme/other" || p.Number != 9 {
		t.Errorf("parent %+v, %v", p, err)
	}
	for _, n := range []int{2, 3} {
		if p, err := c.Parent(within(t), "acme/web", n); p != nil || err != nil {
			t.Errorf("parent of %d: %+v, %v", n, p, err)
		}
	}
	_, err = c.Parent(within(t), "acme/web", 4)
	wantKind(t, err, "unavailable")
}

func TestSubIssues(t *testing.T) {
	f := newFake(t)
	f.on("GET /repos/acme/web/issues/1/sub_issues", 200, "["+issueJSON(f.URL, "acme/web", 2, nil)+","+issueJSON(f.URL, "acme/api", 3, nil)+"]")
	f.on("POST /repos/acme/web/issues/1/sub_issues", 201, `{}`)
	f.on("POST /repos/acme/web/issues/2/sub_issues", 422, `{"message":"An error occurred while adding the sub-issue to the parent issue. Priority has already been taken"}`)
	f.on("DELETE /repos/acme/web/issues/1/sub_issue", 200, `{}`)
	c := f.client(t)
	list, err := c.SubIssues(within(t), "acme/web", 1)
	if err != nil || len(list) != 2 || list[0].Number != 2 || list[1].Repo != "acme/api" {
		t.Errorf("sub-issues %+v, %v", list, err)
	}
	if err := c.AddSubIssue(within(t), "acme/web", 1, 1<<40); err != nil {
		t.Error(err)
	}
	if err := c.RemoveSubIssue(within(t), "acme/web", 1, 77); err != nil {
		t.Error(err)
	}
	equal(t, f.requests()[1].body, "{\"sub_issue_id\":1099511627776}\n")
	equal(t, f.requests()[2].body, "{\"sub_issue_id\":77}\n")
	err = c.AddSubIssue(within(t), "acme/web", 2, 77)
	wantKind(t, err, "rejected")
	if !strings.Contains(err.Error(), "Priority") {
		t.Errorf("error is %v", err)
	}
}

func TestMilestones(t *testing.T) {
	f := newFake(t)
	// GitHub floors due_on to midnight in Los Angeles.
	f.on("GET /repos/acme/web/milestones", 200, `[
		{"number":1,"title":"winter","state":"open","description":null,"due_on":"2026-01-15T08:00:00Z"},
		{"number":2,"title":"summer","state":"closed","description":"d","due_on":"2026-07-15T07:00:00Z"},
		{"number":3,"title":"never","state":"open","due_on":null}]`)
	f.on("POST /repos/acme/web/milestones", 201, `{"number":4,"title":"new","state":"open","due_on":"2026-07-15T07:00:00Z"}`)
	f.on("PATCH /repos/acme/web/milestones/4", 200, `{"number":4,"title":"newer","state":"closed"}`)
	c := f.client(t)
	list, err := c.Milestones(within(t), "acme/web")
	if err != nil {
		t.Fatal(err)
	}
	day := func(m time.Month) time.Time { return time.Date(2026, m, 15, 0, 0, 0, 0, time.UTC) }
	equal(t, list, []Milestone{
		{1, "winter", "", "open", day(1)}, {2, "summer", "d", "closed", day(7)}, {3, "never", "", "open", time.Time{}},
	})

	made, err := c.PutMilestone(within(t), "acme/web", Milestone{Title: "new", DueOn: day(7)})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, made, Milestone{4, "new", "", "open", day(7)})
	_, err = c.PutMilestone(within(t), "acme/web", Milestone{Title: "undated"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.PutMilestone(within(t), "acme/web", Milestone{Number: 4, Title: "newer", State: "closed"}); err != nil {
		t.Fatal(err)
	}
	rs := f.requests()
	equal(t, sent(t, rs[1]), map[string]any{"title": "new", "description": "", "due_on": "2026-07-15T12:00:00Z"})
	equal(t, sent(t, rs[2]), map[string]any{"title": "undated", "description": ""})
	equal(t, sent(t, rs[3]), map[string]any{"title": "newer", "description": "", "state": "closed", "due_on": nil})
}
