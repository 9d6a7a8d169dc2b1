package github

import (
	"errors"
	"net/http"
	"strconv"
	"testing"

	"planbridge/mapping"
)

// TestWritesFollowNoRedirect: net/http would replay the PATCH as a GET, get a
// 200 with the old issue, and the write would be lost.
func TestWritesFollowNoRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			f := newFake(t)
			f.on("/repos/acme/old/", status, ``, "Location", f.URL+"/repos/acme/new/issues/7")
			f.on("/repos/acme/new/", 200, issueJSON(f.URL, "acme/new", 7, nil))
			c := f.client(t)
			_, err := c.EditIssue(within(t), "acme/old", 12, IssueEdit{Title: new("t")})
			wantKind(t, err, "moved")
			var m *MovedError
			if !errors.As(err, &m) || m.Repo != "acme/new" || m.Number != 7 {
				t.Errorf("moved is %+v", m)
			}
			_, err = c.AddLabels(within(t), "acme/old", 12, []string{"x"})
			wantKind(t, err, "moved")
			_, err = c.RemoveLabel(within(t), "acme/old", 12, "x")
			wantKind(t, err, "moved")
			for _, r := range f.requests() {
				if r.path == "/repos/acme/new/issues/7" {
					t.Errorf("%s was sent after the redirect", r.method)
				}
			}
		})
	}
}

func TestReadOfMovedIssueTellsWhereItIs(t *testing.T) {
	f := newFake(t)
	f.on("/repos/acme/old/issues/12", 301, ``, "Location", f.URL+"/repositories/77/issues/3")
	f.on("/repositories/77/issues/3", 200, issueJSON(f.URL, "acme/new", 3, nil))
	_, err := f.client(t).Issue(within(t), "acme/old", 12)
	wantKind(t, err, "moved")
	var m *MovedError
	if !errors.As(err, &m) || m.Repo != "acme/new" || m.Number != 3 || m.Issue == nil || m.Issue.ID != 1003 {
		t.Errorf("moved is %+v", m)
	}
}

func TestOtherCaseIsNotMoved(t *testing.T) {
	f := newFake(t)
	f.on("/repos/ACME/Web/issues/12", 200, issueJSON(f.URL, "acme/web", 12, nil))
	i, err := f.client(t).Issue(within(t), "ACME/Web", 12)
	if err != nil || i.Repo != "acme/web" {
		t.Errorf("issue %+v, error %v", i, err)
	}
}

// TestMovedOutOfSight: a transfer to where the token may not look is no proof
// that the issue is gone.
func TestMovedOutOfSight(t *testing.T) {
	f := newFake(t)
	f.on("/repos/acme/old/issues/12", 301, ``, "Location", "/repos/other/secret/issues/3")
	f.on("/repos/other/", 404, `{"message":"Not Found"}`)
	_, err := f.client(t).Issue(within(t), "acme/old", 12)
	wantKind(t, err, "moved")
}

func TestTokenNeverGoesToAnotherHost(t *testing.T) {
	evil := newFake(t)
	evil.on("/", 200, issueJSON(evil.URL, "acme/web", 12, nil))
	f := newFake(t)
	f.on("/repos/acme/web/issues/12", 302, ``, "Location", evil.URL+"/repos/acme/web/issues/12")
	f.on("/repos/acme/web/issues", 200, `[]`, "Link", "<"+evil.URL+`/next>; rel="next"`)
	c := f.client(t)
	_, err := c.Issue(within(t), "acme/web", 12)
	wantKind(t, err, "moved")
	_, err = c.ListIssues(within(t), "acme/web", ListOptions{}, ignorePage)
	wantKind(t, err, "unavailable")
	if n := len(evil.requests()); n != 0 {
		t.Errorf("the other host saw %d requests", n)
	}
}

func TestRedirectLoopEnds(t *testing.T) {
	f := newFake(t)
	f.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"x", http.StatusMovedPermanently)
	})
	_, err := f.client(t).Repository(within(t), "acme/web")
	if !errors.Is(err, mapping.ErrMoved) {
		t.Errorf("error is %v", err)
	}
	if n := len(f.requests()); n > 8 {
		t.Errorf("%d requests were made", n)
	}
}

func TestRepositoryFollowsItsRename(t *testing.T) {
	f := newFake(t)
	f.on("/repos/acme/old", 301, ``, "Location", f.URL+"/repositories/77")
	f.on("/repositories/77", 200, `{"id":77,"full_name":"acme/new","private":true,"archived":true,"has_issues":false,
		"permissions":{"push":true,"admin":false}}`)
	r, err := f.client(t).Repository(within(t), "acme/old")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, r, Repository{
		ID: 77, FullName: "acme/new", Private: true, Archived: true,
		Permissions: map[string]bool{"push": true, "admin": false},
	})
}

// TestVisibility: a repository is public where GitHub says so.
func TestVisibility(t *testing.T) {
	for said, want := range map[string]bool{
		`"private":true`: true, `"private":false`: false, `"visibility":"public"`: false,
		`"visibility":"internal"`: true, `"private":false,"visibility":"private"`: false, `"private":null`: true,
	} {
		f := newFake(t)
		f.on("/repos/acme/web", 200, `{"id":77,"full_name":"acme/web",`+said+`}`)
		if r, err := f.client(t).Repository(within(t), "acme/web"); err != nil || r.Private != want {
			t.Errorf("%s: private %v, %v", said, r.Private, err)
		}
	}
}
