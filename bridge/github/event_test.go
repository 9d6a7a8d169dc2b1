package github

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The vector of GitHub's documentation.
const (
	vectorSecret = "It's a Secret to Everybody"
	vectorBody   = "Hello, World!"
	vectorDigest = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
)

func TestVerifySignature(t *testing.T) {
	right, wrong := []byte(vectorSecret), []byte("another")
	for _, tc := range []struct {
		name    string
		secrets [][]byte
		body    string
		header  string
		ok      bool
	}{
		{"GitHub's vector", [][]byte{right}, vectorBody, "sha256=" + vectorDigest, true},
		{"capitals", [][]byte{right}, vectorBody, "sha256=" + strings.ToUpper(vectorDigest), true},
		{"the second secret", [][]byte{wrong, right}, vectorBody, "sha256=" + vectorDigest, true},
		{"wrong secret", [][]byte{wrong}, vectorBody, "sha256=" + vectorDigest, false},
		{"no secret", nil, vectorBody, "sha256=" + vectorDigest, false},
		{"another body", [][]byte{right}, vectorBody + "\n", "sha256=" + vectorDigest, false},
		{"no header", [][]byte{right}, vectorBody, "", false},
		{"no prefix", [][]byte{right}, vectorBody, vectorDigest, false},
		{"SHA-1", [][]byte{right}, vectorBody, "sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59", false},
		{"half of it", [][]byte{right}, vectorBody, "sha256=" + vectorDigest[:32], false},
		{"not hexadecimal", [][]byte{right}, vectorBody, "sha256=zz", false},
		// HMAC of the body under the empty key, which anybody can make.
		{"empty secret", [][]byte{{}}, "", "sha256=b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad", false},
	} {
		_, err := VerifySignature(tc.secrets, [][]byte{[]byte(tc.body)}, tc.header)
		if (err == nil) != tc.ok || (err != nil && !errors.Is(err, ErrSignature)) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestPayload(t *testing.T) {
	const doc = `{"a":"b & c=d+e"}`
	form := "payload=" + url.QueryEscape(doc)
	for _, tc := range []struct{ kind, body, want string }{
		{"application/json", doc, doc},
		{"application/json; charset=utf-8", doc, doc},
		{"Application/JSON", doc, doc},
		{"application/x-www-form-urlencoded", form, doc},
		{"application/x-www-form-urlencoded; charset=UTF-8", form, doc},
		{"application/x-www-form-urlencoded", "other=1", ""},
		{"application/x-www-form-urlencoded", "payload=%zz", ""},
		{"text/plain", doc, ""},
		{"", doc, ""},
		{";", doc, ""},
	} {
		got, err := Payload(tc.kind, []byte(tc.body))
		if tc.want == "" {
			if !errors.Is(err, ErrPayload) {
				t.Errorf("%q %q: error %v", tc.kind, tc.body, err)
			}
		} else if err != nil || string(got) != tc.want {
			t.Errorf("%q %q: %q, %v", tc.kind, tc.body, got, err)
		}
	}
}

func parse(t *testing.T, name, payload string) Event {
	t.Helper()
	e, err := ParseEvent(name, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// example parses one of GitHub's own payloads; its file is named event.action.
func example(t *testing.T, file string) Event {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(file, ".")
	return parse(t, name, string(b))
}

func TestRealPayloads(t *testing.T) {
	e := example(t, "issues.labeled")
	if e.Action != "labeled" || e.Label == "" || e.Issue.Repo != "Codertocat/Hello-World" || e.Issue.RepoID != e.RepoID ||
		e.RepoID == 0 || e.Issue.Number != 1 || e.Issue.Editor != "Codertocat" || e.SenderType != "User" ||
		e.Issue.UpdatedAt.IsZero() || e.Issue.Association != "OWNER" || e.Issue.PullRequest {
		t.Errorf("labeled: %+v\n%+v", e, e.Issue)
	}
	e = example(t, "issues.edited")
	if e.Changes.TitleFrom != nil || e.Changes.BodyFrom != nil || e.Issue.Title == "" {
		t.Errorf("edited: %+v", e)
	}
	e = example(t, "issues.transferred")
	if n := e.Changes.NewIssue; n == nil || n.Repo != e.Changes.NewRepo || n.RepoID == 0 || n.RepoID == e.RepoID ||
		n.ID == e.Issue.ID || n.Editor != "" {
		t.Errorf("transferred: %+v to %+v", e, n)
	}
	e = example(t, "issues.opened.transfer")
	if o := e.Changes.OldIssue; o == nil || o.Repo != e.Changes.OldRepo || o.RepoID == 0 || o.ID == e.Issue.ID {
		t.Errorf("opened by transfer: %+v from %+v", e, o)
	}
	e = example(t, "issue_comment.edited")
	if e.Comment == nil || e.Comment.Author == "" || e.Comment.ID == 0 || e.Changes.BodyFrom != nil || e.Issue.Editor != "" {
		t.Errorf("comment: %+v", e)
	}
	e = example(t, "repository.renamed")
	if e.Changes.RepoNameFrom != "Hello-World" || e.RepoID == 0 {
		t.Errorf("renamed: %+v", e)
	}
	e = example(t, "repository.transferred")
	if !strings.HasPrefix(e.Changes.OldRepo, "octocat/") || e.Changes.RepoNameFrom != "" {
		t.Errorf("repository transferred: %+v", e)
	}
	if e = example(t, "ping"); e.Name != "ping" || e.Repo == "" || e.Issue != nil {
		t.Errorf("ping: %+v", e)
	}
	if e = example(t, "installation.created"); e.Action != "created" || e.Sender == "" {
		t.Errorf("installation: %+v", e)
	}
}

const (
	repo77 = `"repository":{"id":77,"full_name":"acme/web","private":true,"archived":true}`
	issue1 = `{"id":1,"number":5,"title":"new","body":"b","repository_url":"https://api.github.com/repos/acme/web"}`
)

func TestEdited(t *testing.T) {
	for changes, want := range map[string]Changes{
		`{}`:                            {},
		`{"title":{"from":"old"}}`:      {TitleFrom: new("old")},
		`{"body":{"from":"old\r\n"}}`:   {BodyFrom: new("old\r\n")},
		`{"body":{"from":null}}`:        {BodyFrom: new("")},
		`{"body":{}}`:                   {BodyFrom: new("")},
		`{"title":null,"body":null}`:    {},
		`{"field":{"from":1,"to":"x"}}`: {},
	} {
		e := parse(t, "issues", `{"action":"edited","issue":`+issue1+`,"changes":`+changes+`,`+repo77+`,"sender":{"login":"x[bot]","type":"Bot"}}`)
		equal(t, e.Changes, want)
		if e.Issue.Editor != "x[bot]" || e.SenderType != "Bot" || !e.RepoPrivate || !e.Archived || e.Issue.RepoID != 77 {
			t.Errorf("%+v", e)
		}
	}
}

func TestRepositoryChanges(t *testing.T) {
	for changes, want := range map[string]Changes{
		`{"repository":{"name":{"from":"old"}}}`:                        {RepoNameFrom: "old", OldRepo: "acme/old"},
		`{"owner":{"from":{"user":{"login":"octocat"}}}}`:               {OldRepo: "octocat/web"},
		`{"owner":{"from":{"organization":{"login":"o"},"user":null}}}`: {OldRepo: "o/web"},
		`{"description":{"from":"x"}}`:                                  {},
		`null`:                                                          {},
	} {
		e := parse(t, "repository", `{"action":"x","changes":`+changes+`,`+repo77+`}`)
		equal(t, e.Changes, want)
	}
}

// TestUnlabeledByDeletingTheLabel has no label.
func TestUnlabeledByDeletingTheLabel(t *testing.T) {
	e := parse(t, "issues", `{"action":"unlabeled","issue":`+issue1+`,`+repo77+`}`)
	if e.Label != "" || e.Action != "unlabeled" {
		t.Errorf("%+v", e)
	}
}

func TestEventOfAPullRequest(t *testing.T) {
	e := parse(t, "issues", `{"action":"labeled","issue":{"id":1,"number":5,"pull_request":{}},`+repo77+`}`)
	if !e.Issue.PullRequest || e.Issue.Repo != "acme/web" {
		t.Errorf("%+v", e.Issue)
	}
}

func TestSubIssueEvents(t *testing.T) {
	const sub = `{"id":2,"number":6,"repository_url":"https://api.github.com/repos/acme/api"}`
	for _, tc := range []struct{ name, repo string }{
		{"sub_issue_added", `"sub_issue_repo":{"id":88,"full_name":"acme/api"},` + repo77},
		{"parent_issue_added", `"parent_issue_repo":{"id":77,"full_name":"acme/web"},"repository":{"id":88,"full_name":"acme/api"}`},
	} {
		e := parse(t, "sub_issues", `{"action":"`+tc.name+`","parent_issue_id":1,"parent_issue":`+issue1+
			`,"sub_issue_id":2,"sub_issue":`+sub+`,`+tc.repo+`,"sender":{"login":"octocat"}}`)
		if e.Action != tc.name || e.Parent.Number != 5 || e.Parent.RepoID != 77 || e.SubIssue.Number != 6 ||
			e.SubIssue.RepoID != 88 || e.SubIssue.Repo != "acme/api" || e.SubIssue.Editor != "" {
			t.Errorf("%s: %+v %+v", tc.name, e.Parent, e.SubIssue)
		}
	}
}

func TestUnknownEventsAndActionsAreNoError(t *testing.T) {
	for name, payload := range map[string]string{
		"issues":    `{"action":"field_added","issue":` + issue1 + `,"something":{"new":[1]}}`,
		"workflow":  `{"action":"requested"}`,
		"odd":       `{"action":7,"issue":"x","repository":[],"sender":0,"changes":"y","label":[],"comment":1,"sub_issue":false}`,
		"nulls":     `{"action":null,"issue":null,"repository":null,"sender":null,"changes":null,"label":null,"comment":null}`,
		"null":      `null`,
		"milestone": `{"action":"edited","changes":{"title":{"from":"x"}}}`,
	} {
		e := parse(t, name, payload)
		if e.Name != name || e.Changes.TitleFrom != nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestEventWithoutAnIssue: the reader does not interpret the fields of an unknown action.
func TestEventWithoutAnIssue(t *testing.T) {
	for _, payload := range []string{`{}`, `{"action":"polished"}`, `{"action":"polished","issue":null}`} {
		if e := parse(t, "issues", payload); e.Issue != nil {
			t.Errorf("%s: %+v", payload, e)
		}
	}
}

func TestMalformedPayloads(t *testing.T) {
	for _, tc := range [][2]string{
		{"issues", ``},
		{"issues", `[]`},
		{"issues", `{`},
		{"issues", `{"issue":{"id":"x"}}`},
		{"issues", `{"issue":` + issue1 + `,"repository":7}`},
		{"issues", `{"issue":{"id":1,"updated_at":"yesterday"}}`},
		{"sub_issues", `{"sub_issue":7}`},
		{"repository", `{"changes":7}`},
		{"ping", `"x"`},
	} {
		if _, err := ParseEvent(tc[0], []byte(tc[1])); !errors.Is(err, ErrPayload) {
			t.Errorf("%s %s: error %v", tc[0], tc[1], err)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		f.Add(name, b)
	}
	f.Add("sub_issues", []byte(`{"parent_issue":`+issue1+`,"sub_issue":`+issue1+`}`))
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		e, err := ParseEvent(name, payload)
		if err != nil {
			if !errors.Is(err, ErrPayload) {
				t.Errorf("error is %v", err)
			}
			return
		}
		if e.Name != name {
			t.Errorf("event is %+v", e)
		}
		if !json.Valid(payload) {
			t.Error("took what is no JSON")
		}
	})
}
