package github

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRepositoriesOfAnOrganisationAndOfAUser(t *testing.T) {
	f := newFake(t)
	f.on("/orgs/acme/repos", 200, `[{"id":1,"full_name":"acme/web","private":false},{"id":2,"full_name":"acme/api","private":false,"has_issues":false}]`)
	f.on("/orgs/octocat/repos", 404, `{"message":"Not Found"}`)
	f.on("/users/octocat/repos", 200, `[{"id":3,"full_name":"octocat/x"}]`)
	c := f.client(t)
	repos, err := c.OrgRepositories(within(t), "acme")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, repos, []Repository{{ID: 1, FullName: "acme/web", HasIssues: true}, {ID: 2, FullName: "acme/api"}})
	repos, err = c.OrgRepositories(within(t), "octocat")
	if err != nil || len(repos) != 1 || repos[0].ID != 3 {
		t.Errorf("repositories %+v, %v", repos, err)
	}
	_, err = c.OrgRepositories(within(t), "nobody")
	wantKind(t, err, "not found")
}

func TestRepositoriesOfAnInstallation(t *testing.T) {
	f, c := appFake(t)
	f.mux.HandleFunc("/installation/repositories", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "2" {
			write(w, 200, `{"total_count":2,"repositories":[{"id":2,"full_name":"acme/api"}]}`)
			return
		}
		write(w, 200, `{"total_count":2,"repositories":[{"id":1,"full_name":"acme/web"}]}`,
			"Link", `<`+f.URL+`/installation/repositories?page=2>; rel="next"`)
	})
	repos, err := c.OrgRepositories(within(t), "acme")
	if err != nil || len(repos) != 2 || repos[1].FullName != "acme/api" {
		t.Errorf("repositories %+v, %v", repos, err)
	}
}

func TestListHooks(t *testing.T) {
	f, app := appFake(t)
	const hooks = `[{"id":5,"active":true,"events":["issues","sub_issues"],"config":{"url":"https://b/webhooks/github","content_type":"json","secret":"********"}}]`
	f.on("/repos/acme/web/hooks", 200, hooks)
	f.on("/orgs/acme/hooks", 200, hooks)
	f.on("/app/hook/config", 200, `{"url":"https://b/webhooks/github","content_type":"form"}`)
	want := []Hook{{ID: 5, URL: "https://b/webhooks/github", ContentType: "json", Events: []string{"issues", "sub_issues"}, Active: true}}
	for _, owner := range []string{"acme/web", "acme"} {
		got, err := app.ListHooks(within(t), owner)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, want)
	}
	got, err := app.ListHooks(within(t), "")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, []Hook{{URL: "https://b/webhooks/github", ContentType: "form", Active: true}})
	if auth := f.auths("/app/hook/config"); !strings.HasPrefix(auth[0], "Bearer ey") {
		t.Errorf("the App's hook was asked for with %s", auth[0])
	}
}

func TestDeliveries(t *testing.T) {
	for owner, path := range map[string]string{
		"acme/web": "/repos/acme/web/hooks/5/deliveries", "acme": "/orgs/acme/hooks/5/deliveries", "": "/app/hook/deliveries",
	} {
		f, c := appFake(t)
		f.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			const one = `{"id":%d,"guid":"g-%d","delivered_at":%q,"redelivery":%v,"status_code":502,"event":"issues","action":null,"repository_id":77}`
			if r.URL.Query().Get("cursor") == "" {
				write(w, 200, fmt.Sprintf("["+one+"]", int64(1)<<60, 2, "2026-01-02T03:04:07.123Z", true),
					"Link", `<`+f.URL+path+`?cursor=v1_2>; rel="next"`)
				return
			}
			write(w, 200, fmt.Sprintf("["+one+","+one+"]", 2, 2, "2026-01-02T03:04:05Z", false, 1, 1, "2026-01-02T03:04:04Z", false),
				"Link", `<`+f.URL+path+`?cursor=too-old>; rel="next"`)
		})
		f.on("POST "+path+"/2/attempts", 202, `{}`)

		list, err := c.Deliveries(within(t), owner, 5, serverNow)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 2 {
			t.Fatalf("%q: deliveries %+v", owner, list)
		}
		equal(t, list[0], Delivery{
			ID: 1 << 60, GUID: "g-2", Event: "issues", Redelivery: true, StatusCode: 502, RepoID: 77,
			DeliveredAt: time.Date(2026, 1, 2, 3, 4, 7, 123e6, time.UTC),
		})
		if err := c.Redeliver(within(t), owner, 5, 2); err != nil { // 202 is a success
			t.Errorf("%q: %v", owner, err)
		}
		wantKind(t, c.Redeliver(within(t), owner, 5, 3), "not found")
	}
}

func TestDeliveriesThatCannotBeListed(t *testing.T) {
	f := newFake(t)
	f.on("/repos/acme/web/hooks/5/", 403, `{"message":"Must have admin rights"}`)
	_, err := f.client(t).Deliveries(within(t), "acme/web", 5, time.Time{})
	wantKind(t, err, "forbidden")
	_, err = f.client(t).ListHooks(within(t), "")
	wantKind(t, err, "not found")
}

func TestRenamedEvents(t *testing.T) {
	f := newFake(t)
	f.on("/repos/acme/web/issues/12/events", 200, `[
		{"id":1,"event":"labeled","actor":{"login":"x"},"label":{"name":"bug"},"created_at":"2026-01-02T03:04:05Z"},
		{"id":2,"event":"renamed","actor":{"login":"octocat"},"rename":{"from":"a","to":"b"},"created_at":"2026-01-02T03:04:05Z"},
		{"id":3,"event":"renamed","actor":null,"rename":{"from":"b","to":"c"},"created_at":"2026-01-02T03:04:05Z"}]`)
	got, err := f.client(t).RenamedEvents(within(t), "acme/web", 12)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, []Renamed{{2, serverNow, "octocat", "a", "b"}, {3, serverNow, "", "b", "c"}})
	_, err = f.client(t).RenamedEvents(within(t), "acme/web", 404)
	wantKind(t, err, "not found")
}

func TestUserContentEdits(t *testing.T) {
	f := newFake(t)
	f.on("POST /graphql", 200, `{"data":{"node":{"userContentEdits":{"nodes":[
		{"editedAt":"2026-01-02T03:04:05Z","diff":"new body","editor":{"__typename":"Bot","login":"planbridge"}},
		{"editedAt":"2026-01-02T03:04:05Z","diff":"old body","editor":{"__typename":"User","login":"octocat"}},
		{"editedAt":"2026-01-02T03:04:05Z","diff":null,"editor":null}]}}}}`)
	got, err := f.client(t).UserContentEdits(within(t), "acme/web", "I_1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, []Edit{{serverNow, "planbridge[bot]", "new body"}, {serverNow, "octocat", "old body"}, {At: serverNow}})
	equal(t, sent(t, f.requests()[0])["variables"], map[string]any{"id": "I_1"})

	f = newFake(t)
	f.on("/graphql", 200, `{"data":{"node":null}}`)
	got, err = f.client(t).UserContentEdits(within(t), "acme/web", "I_1")
	if err != nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}
