package github

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/mapping"
)

var appKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// appFake is a GitHub with an App that is installed on acme (1) and beta (2),
// listed on two pages.
func appFake(t *testing.T) (*fake, *Client) {
	f := newFake(t)
	f.mux.HandleFunc("GET /app/installations", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ey") {
			write(w, 401, `{"message":"A JSON web token could not be decoded"}`)
			return
		}
		if r.URL.Query().Get("page") == "2" {
			write(w, 200, `[{"id":2,"account":{"login":"beta"}}]`)
			return
		}
		write(w, 200, `[{"id":1,"account":{"login":"Acme"},"permissions":{"issues":"write"}}]`,
			"Link", fmt.Sprintf(`<%s/app/installations?page=2>; rel="next"`, f.URL))
	})
	var made atomic.Int64
	f.mux.HandleFunc("POST /app/installations/{id}/access_tokens", func(w http.ResponseWriter, r *http.Request) {
		write(w, 201, fmt.Sprintf(`{"token":"ghs_%s_%d","expires_at":%q}`,
			r.PathValue("id"), made.Add(1), time.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
	})
	f.on("GET /app", 200, `{"slug":"planbridge-acme"}`)
	return f, f.client(t, func(o *Options) { o.Token, o.App = "", &App{ID: 42, PrivateKey: appKey()} })
}

func (f *fake) auths(path string) (list []string) {
	for _, r := range f.requests() {
		if r.path == path {
			list = append(list, r.auth)
		}
	}
	return list
}

func TestAppUsesTheInstallationOfTheOwner(t *testing.T) {
	f, c := appFake(t)
	for _, repo := range []string{"acme/web", "beta/api"} {
		f.on("/repos/"+repo, 200, `{"id":1}`)
	}
	for _, repo := range []string{"acme/web", "beta/api", "acme/web"} {
		if _, err := c.Repository(within(t), repo); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, f.auths("/repos/acme/web"), []string{"Bearer ghs_1_1", "Bearer ghs_1_1"})
	equal(t, f.auths("/repos/beta/api"), []string{"Bearer ghs_2_2"})
	equal(t, len(f.auths("/app/installations")), 2) // two pages, once
}

func TestAppConcurrently(t *testing.T) {
	f, c := appFake(t)
	f.on("/repos/", 200, `{"id":1}`)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := c.Repository(within(t), []string{"acme/web", "beta/api"}[i%2]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestAppWritesAndGraphQLToo(t *testing.T) {
	f, c := appFake(t)
	f.on("PATCH /repos/acme/web/issues/1", 200, issueJSON(f.URL, "acme/web", 1, nil))
	f.on("POST /graphql", 200, `{"data":{"node":{}}}`)
	if _, err := c.EditIssue(within(t), "acme/web", 1, IssueEdit{Title: new("t")}); err != nil {
		t.Error(err)
	}
	if _, err := c.UserContentEdits(within(t), "beta/api", "I_1"); err != nil {
		t.Error(err)
	}
	equal(t, f.auths("/graphql"), []string{"Bearer ghs_2_2"})
	equal(t, f.requests()[len(f.requests())-1].path, "/graphql")
}

func TestRevokedInstallationTokenIsReplaced(t *testing.T) {
	f, c := appFake(t)
	f.mux.HandleFunc("/repos/acme/web", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("Authorization"), "_1") {
			write(w, 401, `{"message":"Bad credentials"}`)
			return
		}
		write(w, 200, `{"id":1}`)
	})
	_, err := c.Repository(within(t), "acme/web")
	wantKind(t, err, "unauthorized")
	if _, err := c.Repository(within(t), "acme/web"); err != nil {
		t.Error(err)
	}
}

// TestAppNotInstalled: an uninstalled App must not look like deleted issues.
func TestAppNotInstalled(t *testing.T) {
	_, c := appFake(t)
	_, err := c.Issue(within(t), "gamma/x", 1)
	wantKind(t, err, "forbidden")
	_, err = c.EditIssue(within(t), "gamma/x", 1, IssueEdit{})
	wantKind(t, err, "forbidden")
	_, err = c.Access(within(t), "gamma")
	wantKind(t, err, "forbidden")
}

// TestTokenRequestFails: whichever error the App's own requests meet, the request they were made
// for was not sent.
func TestTokenRequestFails(t *testing.T) {
	for _, at := range []string{"/app/installations", "/app/installations/1/access_tokens"} {
		for _, tc := range []struct {
			status  int
			body    string
			headers []string
			kind    string
		}{
			{500, ``, nil, "unavailable"},
			{401, `{"message":"Integration not found"}`, nil, "unauthorized"},
			{403, `{"message":"This installation has been suspended"}`, nil, "forbidden"},
			{404, `{"message":"Not Found"}`, nil, "forbidden"},
			{422, `{}`, nil, "forbidden"},
			{200, `garbage`, nil, "unavailable"},
			{403, `{}`, []string{"Retry-After", "9"}, "limited"},
		} {
			f := newFake(t)
			f.on(at, tc.status, tc.body, tc.headers...)
			if at != "/app/installations" {
				f.on("/app/installations", 200, `[{"id":1,"account":{"login":"acme"}}]`)
			}
			c := f.client(t, func(o *Options) { o.Token, o.App = "", &App{ID: 42, PrivateKey: appKey()} })
			_, err := c.CreateIssue(within(t), "acme/web", NewIssue{Title: "t"})
			wantKind(t, err, tc.kind)
		}
	}
}

func TestTokenRequestIsCut(t *testing.T) {
	f := newFake(t)
	f.mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	c := f.client(t, func(o *Options) { o.Token, o.App = "", &App{ID: 42, PrivateKey: appKey()} })
	_, err := c.CreateIssue(within(t), "acme/web", NewIssue{Title: "t"})
	wantKind(t, err, "unavailable")
}

func TestViewerOfAnApp(t *testing.T) {
	_, c := appFake(t)
	login, err := c.Viewer(within(t))
	if err != nil || login != "planbridge-acme[bot]" {
		t.Errorf("viewer %q, %v", login, err)
	}
	if err := c.Probe(within(t)); err != nil {
		t.Error(err)
	}
}

func TestViewerOfAUserIsAskedOnce(t *testing.T) {
	f := newFake(t)
	f.on("/user", 200, `{"login":"Bridge","type":"User"}`)
	c := f.client(t, func(o *Options) { o.FormerAccounts = []string{"old-bot[bot]", "older"} })
	equal(t, c.Authorship("bridge"), mapping.Unknown)
	for range 2 {
		if login, err := c.Viewer(within(t)); err != nil || login != "Bridge" {
			t.Errorf("viewer %q, %v", login, err)
		}
	}
	equal(t, len(f.requests()), 1)
	equal(t, c.Learn("octocat"), false) // GitHub's own word counts
	for login, whose := range map[string]mapping.Authorship{
		"bridge": mapping.Named, "BRIDGE": mapping.Named, "bridge[bot]": mapping.Theirs, "OLD-bot[bot]": mapping.Named, "old-bot": mapping.Theirs,
		"older": mapping.Named, "octocat": mapping.Theirs, "": mapping.Theirs,
	} {
		if got := c.Authorship(login); got != whose {
			t.Errorf("Authorship(%q) is %v", login, got)
		}
	}
}

// TestViewerOfAnInstallationToken: /user is not for it.
func TestViewerOfAnInstallationToken(t *testing.T) {
	for _, status := range []int{403, 404} {
		f := newFake(t)
		f.on("/user", status, `{"message":"Resource not accessible by integration"}`)
		f.on("/graphql", 200, `{"data":{"viewer":{"login":"github-actions[bot]"}}}`)
		login, err := f.client(t).Viewer(within(t))
		if err != nil || login != "github-actions[bot]" {
			t.Errorf("/user answers %d: viewer %q, %v", status, login, err)
		}
	}
}

func TestViewerFailures(t *testing.T) {
	f := newFake(t)
	f.on("/user", 401, `{"message":"Bad credentials"}`)
	c := f.client(t)
	_, err := c.Viewer(within(t))
	wantKind(t, err, "unauthorized")

	f = newFake(t)
	f.on("/user", 403, `{}`)
	f.on("/graphql", 200, `{"data":{"viewer":{"login":""}}}`)
	c = f.client(t)
	_, err = c.Viewer(within(t))
	wantKind(t, err, "unavailable")
	equal(t, c.Authorship(""), mapping.Unknown)
}

// TestViewerThatNobodyTells: an answer to a write of ours names the account.
func TestViewerThatNobodyTells(t *testing.T) {
	for _, c := range []struct{ user, graphql int }{{404, 404}, {403, 501}, {501, 404}, {404, 500}, {500, 404}} {
		f := newFake(t)
		var told atomic.Bool
		f.mux.HandleFunc("/user", func(w http.ResponseWriter, _ *http.Request) {
			if told.Load() {
				write(w, 200, `{"login":"octocat"}`)
			} else {
				write(w, c.user, `{}`)
			}
		})
		f.on("/graphql", c.graphql, `{}`)
		client := f.client(t, func(o *Options) { o.FormerAccounts = []string{"older"} })
		_, err := client.Viewer(within(t))
		equal(t, mapping.Refused(err), c.user != 500 && c.graphql != 500)
		for _, login := range []string{"bridge", "octocat", ""} {
			equal(t, client.Authorship(login), mapping.Unknown)
		}
		equal(t, len(client.Accounts()), 0)
		equal(t, client.Learn(""), false)
		equal(t, client.Learn("Bridge"), true)
		equal(t, client.Learn("bridge"), false)
		for login, whose := range map[string]mapping.Authorship{
			"bridge": mapping.Answered, "older": mapping.Named, "octocat": mapping.Theirs, "": mapping.Unknown,
		} {
			equal(t, client.Authorship(login), whose)
		}
		told.Store(true)
		if login, err := client.Viewer(within(t)); login != "octocat" || err != nil {
			t.Errorf("viewer %q, %v", login, err)
		}
		equal(t, client.Authorship("bridge"), mapping.Theirs)
	}
}

func TestAccess(t *testing.T) {
	_, c := appFake(t)
	a, err := c.Access(within(t), "ACME")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, a, Access{Kind: "app", Permissions: map[string]string{"issues": "write"}})

	for _, tc := range []struct {
		header *string
		want   Access
	}{
		{new("repo, admin:repo_hook"), Access{Kind: "classic", Scopes: []string{"repo", "admin:repo_hook"}}},
		{new(""), Access{Kind: "classic"}},
		{nil, Access{Kind: "fine-grained"}},
	} {
		f := newFake(t)
		var headers []string
		if tc.header != nil {
			headers = []string{"X-OAuth-Scopes", *tc.header}
		}
		f.on("/rate_limit", 200, `{}`, headers...)
		a, err := f.client(t).Access(within(t), "acme")
		if err != nil {
			t.Fatal(err)
		}
		equal(t, a, tc.want)
	}
}

func TestGraphQLFaults(t *testing.T) {
	for _, tc := range []struct{ body, kind string }{
		{`{"errors":[{"type":"NOT_FOUND","message":"m"}]}`, "not found"},
		{`{"errors":[{"type":"FORBIDDEN","message":"m"}]}`, "forbidden"},
		{`{"errors":[{"type":"INSUFFICIENT_SCOPES","message":"m"}]}`, "forbidden"},
		{`{"errors":[{"type":"RATE_LIMITED","message":"m"}]}`, "limited"},
		{`{"errors":[{"type":"UNPROCESSABLE","message":"m"}]}`, "rejected"},
		{`{"errors":[{"message":"Something went wrong while executing your query"}]}`, "unavailable"},
		{`{}`, "unavailable"},
		{`{"data":[]}`, "unavailable"},
		{`garbage`, "unavailable"},
	} {
		f := newFake(t)
		f.on("/graphql", 200, tc.body)
		_, err := f.client(t).UserContentEdits(within(t), "acme/web", "I_1")
		wantKind(t, err, tc.kind)
	}
	_, err := newFake(t).client(t).UserContentEdits(within(t), "acme", "I_1")
	wantKind(t, err, "rejected")
}
