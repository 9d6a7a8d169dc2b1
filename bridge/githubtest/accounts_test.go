package githubtest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"testing"
	"time"
)

func TestViewerScopesAndLimits(t *testing.T) {
	w := newWorld(t, Options{})
	got := w.get("/user").want(200)
	equal(t, "login", got.obj()["login"], bot)
	equal(t, "scopes", got.header.Get("X-OAuth-Scopes"), "repo, admin:repo_hook")
	equal(t, "limit", got.header.Get("X-RateLimit-Limit"), "5000")
	equal(t, "remaining", got.header.Get("X-RateLimit-Remaining"), "4999")
	equal(t, "scheme token", w.get("/user", "Authorization", "token "+botToken).want(200).obj()["login"], bot)
	w.get("/user", "Authorization", "").want(401)
	free := w.get("/rate_limit").want(200)
	equal(t, "rate_limit is free", free.obj("resources", "core")["remaining"], 4998)
	w.get("/rate_limit", "Authorization", "").want(200)
	w.s.AddToken("fine", "fine", Scopes())
	equal(t, "fine-grained", len(w.get("/user", "Authorization", "Bearer fine").want(200).header["X-Oauth-Scopes"]), 0)
	w.s.RevokeToken(botToken)
	w.get("/user").want(401)
}

func TestUsersAndOrganizations(t *testing.T) {
	w := newWorld(t, Options{})
	w.s.AddUser("solo")
	w.s.AddOrg("initech")
	w.s.AddRepo("solo/notes", RepoSpec{Private: true})
	w.s.AddRepo("acme/api", RepoSpec{Description: "the API"})
	equal(t, "org's", w.get("/orgs/acme/repos").want(200).list("full_name"), []string{"acme/web", "acme/api"})
	equal(t, "user's", w.get("/users/solo/repos").want(200).list("full_name"), []string{"solo/notes"})
	equal(t, "private hidden", w.get("/users/solo/repos", "Authorization", "").want(200).list("full_name"), []string{})
	w.get("/orgs/solo/repos").want(404)
	w.get("/users/nobody/repos").want(404)
	equal(t, "type", w.get("/users/solo").want(200).obj()["type"], "User")
	w.get("/users/nobody").want(404)
	equal(t, "org", w.get("/orgs/initech").want(200).obj()["login"], "initech")
	w.get("/orgs/solo").want(404)
	repo := w.get("/repos/acme/api").want(200)
	equal(t, "repository", []any{repo.obj()["description"], repo.obj("permissions")["push"]}, []any{"the API", true})
	equal(t, "by name", w.s.Repo("ACME/api").Name(), "acme/api")
}

func TestPermissionOfACollaborator(t *testing.T) {
	w := newWorld(t, Options{})
	w.s.AddRepo("acme/secret", RepoSpec{Private: true, Collaborators: []string{"carol"}, Contributors: []string{"dave"}})
	for login, want := range map[string]string{bot: "write", "carol": "write", "acme": "admin", "dave": "none", "stranger": "none"} {
		equal(t, login, w.get("/repos/acme/secret/collaborators/" + login + "/permission").want(200).obj()["permission"], want)
	}
	equal(t, "public", w.get("/repos/acme/web/collaborators/x/permission").want(200).obj()["permission"], "read")
	w.get("/repos/acme/web/collaborators/x/permission", "Authorization", "Bearer "+weakToken).want(403)
	for login, want := range map[string]string{"carol": "COLLABORATOR", "dave": "CONTRIBUTOR", "acme": "OWNER"} {
		n := w.s.Repo("acme/secret").Open(login, IssueSpec{Title: "x"})
		equal(t, login, w.get(fmt.Sprintf("/repos/acme/secret/issues/%d", n)).want(200).obj()["author_association"], want)
	}
}

// jwt is what an App signs its requests with.
func jwt(t *testing.T, a *App, lifetime time.Duration) string {
	t.Helper()
	block, _ := pem.Decode(a.PrivateKey)
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString(encode(v)) }
	text := part(fields{"alg": "RS256"}) + "." + part(fields{"iss": fmt.Sprint(a.ID), "exp": time.Now().Add(lifetime).Unix()})
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func TestApp(t *testing.T) {
	w := newWorld(t, Options{})
	w.s.AddRepo("other/repo", RepoSpec{Private: true})
	a := w.s.AddApp("planbridge", "acme")
	as := []string{"Authorization", "Bearer " + jwt(t, a, time.Minute)}
	equal(t, "app", w.get("/app", as...).want(200).obj()["slug"], "planbridge")
	equal(t, "installations", w.get("/app/installations", as...).want(200).list("id"), []int64{a.Installation})
	equal(t, "of the repository", w.get("/repos/acme/web/installation", as...).want(200).obj()["id"], a.Installation)
	equal(t, "of the organization", w.get("/orgs/acme/installation", as...).want(200).obj()["id"], a.Installation)
	w.get("/orgs/other/installation", as...).want(404)
	w.get("/app", "Authorization", "Bearer "+jwt(t, a, -time.Minute)).want(401)
	w.get("/app", "Authorization", "Bearer a.b.c").want(401)
	w.get("/app").want(401)
	w.get("/app/installations").want(401)
	w.do("POST", "/app/installations/1/access_tokens", nil, as...).want(404)
	w.do("POST", "/repos/acme/web/issues", fields{"title": "x"}, as...).want(401) // needs a token

	path := fmt.Sprintf("/app/installations/%d/access_tokens", a.Installation)
	token := w.do("POST", path, nil, as...).want(201).obj()["token"]
	with := []string{"Authorization", fmt.Sprint("token ", token)}
	w.get("/user", with...).want(403)
	o := w.get("/installation/repositories", with...).want(200).obj()
	equal(t, "repositories", o["total_count"], 1)
	w.get("/installation/repositories").want(403)
	w.get("/repos/other/repo", with...).want(404)
	w.do("POST", "/repos/acme/web/issues", fields{"title": "x", "labels": []string{"bug"}}, with...).want(201)
	equal(t, "author", w.r.Issue(1).Author, "planbridge[bot]")
	equal(t, "pushes", w.r.Issue(1).Labels, []string{"bug"})
	equal(t, "type", w.get("/repos/acme/web/issues/1").want(200).obj("user")["type"], "Bot")
	w.s.Advance(61 * time.Minute)
	w.get("/installation/repositories", with...).want(401) // expired
}

func TestPrimaryLimitIsKept(t *testing.T) {
	w := newWorld(t, Options{Traits: Traits{RateLimit: 2}})
	w.get("/user").want(200)
	w.get("/user").want(200)
	over := w.get("/user").want(403)
	equal(t, "remaining", over.header.Get("X-RateLimit-Remaining"), "0")
	w.s.Advance(time.Hour)
	w.get("/user").want(200)
}

func TestContentLimitIsKept(t *testing.T) {
	w := newWorld(t, Options{Traits: Traits{ContentPerMinute: 2}})
	open := func() result { return w.do("POST", "/repos/acme/web/issues", fields{"title": "x"}) }
	open().want(201)
	open().want(201)
	if open().want(403).header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.get("/user").want(200)
	w.s.Advance(time.Minute)
	open().want(201)
	equal(t, "made", len(w.r.Issues()), 3)
	w.s.SetTraits(func(t *Traits) { t.ContentPerHour = 3 })
	w.s.Advance(time.Minute)
	open().want(403)
	w.do("POST", "/repos/acme/web/issues/1/labels", fields{"labels": []string{"bug"}}).want(200) // makes no content
	w.s.Advance(time.Hour)
	open().want(201)
}

func TestPointsAreKept(t *testing.T) {
	w := newWorld(t, Options{Traits: Traits{PointsPerMinute: 7}})
	w.do("POST", "/repos/acme/web/issues", fields{"title": "x"}).want(201)
	w.get("/user").want(200)
	w.get("/user").want(200)
	equal(t, "Retry-After", w.get("/user").want(403).header.Get("Retry-After") != "", true)
	w.s.Advance(time.Minute)
	w.get("/user").want(200)
}
