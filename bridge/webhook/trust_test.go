package webhook_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/webhook"
	"planbridge/mapping"
)

// parted is a world in which acme/web, all of beta, and the rest have secrets of their own.
func parted(t *testing.T, change ...func(*options)) *world {
	return newWorld(t, append([]func(*options){func(o *options) {
		o.Routes = routes(route("web", "acme/web", web), route("api", "beta/api", web), route("rest", "gamma/x", web))
		o.Trust = func() *webhook.Trust {
			return webhook.NewTrust([]webhook.SecretGroup{
				{Repositories: []string{"Acme/Web"}, Secrets: [][]byte{[]byte("of web"), []byte("of web, older")}},
				{Repositories: []string{"beta/*"}, Secrets: [][]byte{[]byte("of beta")}},
			}, [][]byte{[]byte("of the rest")}, map[string]string{"acme/web": "acme/website"})
		}
	}}, change...)...)
}

// signedBy is a delivery that a secret signs.
func (w *world) signedBy(secret, name string, ev webhook.Event) *http.Request {
	w.t.Helper()
	body := encoded(w.t, ev)
	r := w.raw(name, body)
	r.Header.Set("X-Hub-Signature-256", sign([]byte(secret), body))
	return r
}

func in(repo string, id int64, change ...func(*mapping.Issue)) webhook.Event {
	return event("opened", issue(id, append(change, func(i *mapping.Issue) { i.Repo = repo })...))
}

// TestSecretCoversItsRepositories: a repository that a group names is believed with that
// group's secrets only, all others with those for the rest.
func TestSecretCoversItsRepositories(t *testing.T) {
	for _, tc := range []struct {
		secret, repo string
		status       int
		result       string
	}{
		{"of web", "acme/web", 202, "stored"},
		{"of web, older", "acme/WEB", 202, "stored"},
		{"of beta", "beta/api", 202, "stored"},
		{"of the rest", "gamma/x", 202, "stored"},
		{"of web", "acme/website", 202, "ignored"}, // its name of now, of which no route is
		{"of the rest", "acme/web", 401, "forged"},
		{"of beta", "acme/web", 401, "forged"},
		{"of web", "beta/api", 401, "forged"},
		{"of web", "gamma/x", 401, "forged"},
		{"of the rest", "beta/api", 401, "forged"},
		{"of web", "acme/other", 202, "foreign"},
		{"of beta", "delta/x", 202, "foreign"},
		{"of the rest", "beta/unrouted", 202, "foreign"},
	} {
		w := parted(t)
		t.Log(tc)
		told := ""
		w.options.Visible = func(_ context.Context, repo string, public bool) bool { told = repo; return public }
		w.intake = w.options.intake()
		ev := in(tc.repo, 1)
		ev.VisibilityKnown = true
		w.serve(w.signedBy(tc.secret, "issues", ev), tc.status, tc.result)
		if stored := tc.result == "stored"; stored != (len(w.links(web)) == 1) {
			t.Errorf("%v: %d links", tc, len(w.links(web)))
		}
		if believed := tc.result == "stored" || tc.result == "ignored"; believed != (told != "") {
			t.Errorf("%v: whether it can be read was told of %q", tc, told)
		}
	}
}

// TestSecretCoversFormerNames: an event under a former name is of the repository with its id. The
// secrets of that one are believed, and no secret reaches it under the name of another repository.
func TestSecretCoversFormerNames(t *testing.T) {
	const id = 77
	for _, tc := range []struct {
		secret, repo string
		status       int
		result       string
	}{
		{"of web", "acme/old", 202, "stored"},
		{"of web", "acme/web", 202, "stored"},
		{"of the rest", "acme/old", 401, "forged"},
		{"of beta", "beta/api", 401, "forged"},
		{"of beta", "acme/old", 202, "foreign"},
	} {
		w := parted(t, func(o *options) { o.Names = map[int64]string{id: "acme/web"} })
		ev := in(tc.repo, 1)
		ev.RepoID, ev.Issue.RepoID, ev.Issue.Page = id, id, "https://github.com/"+tc.repo+"/issues/1"
		w.serve(w.signedBy(tc.secret, "issues", ev), tc.status, tc.result)
		links := w.links(web)
		if tc.result != "stored" {
			if len(links) != 0 {
				t.Errorf("%v: %d links", tc, len(links))
			}
			continue
		}
		if l := w.onlyLink(web); l.Issue.Repo != "acme/web" {
			t.Errorf("%v: the link is of %s", tc, l.Issue.Repo)
		}
	}
}

// TestTwoRepositoriesOneCovered: of a delivery that names two repositories only that
// half acts which its secret covers.
func TestTwoRepositoriesOneCovered(t *testing.T) {
	t.Run("transferred in", func(t *testing.T) {
		w := parted(t)
		w.serve(w.signedBy("of web", "issues", in("acme/web", 1)), 202, "stored")
		ev := in("beta/api", 2)
		ev.OldIssue = issue(1)
		w.serve(w.signedBy("of beta", "issues", ev), 202, "stored")
		if n := len(w.links(web)); n != 2 {
			t.Errorf("%d links, want the old one and one of its own", n)
		}
		for _, l := range w.links(web) {
			if l.Issue.ID == 1 && len(w.claim(l).Events) > 1 {
				t.Error("the other repository's link was told that it moved")
			}
		}
	})
	t.Run("transferred away", func(t *testing.T) {
		w := parted(t)
		w.serve(w.signedBy("of web", "issues", in("acme/web", 1)), 202, "stored")
		l := w.onlyLink(web)
		w.work(l, nil)
		ev := in("acme/web", 1)
		ev.Action, ev.NewIssue = "transferred", issue(2, func(i *mapping.Issue) { i.Repo = "beta/api" })
		w.serve(w.signedBy("of web", "issues", ev), 202, "stored")
		c := w.claim(l)
		if len(c.Events) != 1 || strings.Contains(string(c.Events[0]), "beta/api") {
			t.Errorf("events %q", c.Events)
		}
	})
	t.Run("an issue of another repository than the event's", func(t *testing.T) {
		w := parted(t)
		ev := in("acme/web", 1)
		ev.Repo = "beta/api"
		w.serve(w.signedBy("of beta", "issues", ev), 401, "forged")
	})
	t.Run("renamed", func(t *testing.T) {
		var told []string
		w := parted(t, func(o *options) {
			o.Renamed = func(_ context.Context, from, to string) error { told = append(told, from+" is "+to); return nil }
		})
		for _, tc := range []struct {
			secret, from, to string
			status           int
			result           string
		}{
			{"of beta", "acme/web", "beta/web", 401, "forged"},
			{"of web", "acme/web", "beta/api", 401, "forged"},
			{"of web", "acme/web", "gamma/x", 401, "forged"},
			{"of web", "acme/web", "acme/site", 202, "stored"},
			{"of beta", "beta/api", "beta/two", 202, "stored"},
		} {
			ev := webhook.Event{Action: "renamed", Repo: tc.to, OldRepo: tc.from}
			w.serve(w.signedBy(tc.secret, "repository", ev), tc.status, tc.result)
		}
		if len(told) != 2 || told[0] != "acme/web is acme/site" {
			t.Errorf("believed: %q", told)
		}
	})
	t.Run("a parent elsewhere", func(t *testing.T) {
		w := parted(t)
		w.serve(w.signedBy("of web", "issues", in("acme/web", 1)), 202, "stored")
		l := w.onlyLink(web)
		w.work(l, nil)
		sub := webhook.Event{
			Action: "sub_issue_added", Repo: "beta/api", Private: true, Parent: issue(1),
			SubIssue: issue(2, func(i *mapping.Issue) { i.Repo = "beta/api" }),
		}
		w.serve(w.signedBy("of beta", "sub_issues", sub), 202, "stored")
		if c, _, err := w.store.Claim(t.Context(), web, time.Minute); err != nil || c != nil && c.Link.ID == l.ID {
			t.Errorf("the parent's link was told: %+v, %v", c, err)
		}
		sub.Repo = "acme/web"
		w.serve(w.signedBy("of web", "sub_issues", sub), 202, "foreign")
	})
}

// TestIDsOfOthers: anybody can copy an issue's id and a marker. They do not lead a delivery to the
// link of a repository that its secret does not cover.
func TestIDsOfOthers(t *testing.T) {
	w := parted(t)
	w.serve(w.signedBy("of web", "issues", in("acme/web", 1)), 202, "stored")
	l := w.onlyLink(web)
	w.work(l, nil)
	untouched := func(what string) {
		t.Helper()
		if c, _, err := w.store.Claim(t.Context(), web, time.Minute); err != nil || c != nil && c.Link.ID == l.ID {
			t.Fatalf("%s: the other repository's link is due: %+v, %v", what, c, err)
		}
	}
	w.serve(w.signedBy("of beta", "issues", in("beta/api", 1)), 202, "foreign")
	untouched("its id")
	mark := mapping.Marker{Kind: mapping.MarkIssue, Link: l.ID, Nonce: l.Nonce, Partner: "5447406088d6f6a94d0001e4"}
	copied := func(i *mapping.Issue) { i.Author, i.Body = bot, keys.AppendComment("A body", mark) }
	w.serve(w.signedBy("of beta", "issues", in("beta/api", 3, copied)), 202, "foreign")
	untouched("its marker")

	gone := in("beta/api", 7)
	gone.Action = "deleted"
	w.serve(w.signedBy("of beta", "issues", gone), 202, "ignored")
	w.serve(w.signedBy("of web", "issues", in("acme/web", 7)), 202, "stored") // though beta called its id deleted
}

// TestOthersSuppressNothing: a delivery that another secret signed under the same hook and
// GUID does not make the true one a duplicate.
func TestOthersSuppressNothing(t *testing.T) {
	w := parted(t)
	same := func(r *http.Request) *http.Request { return header(r, "X-GitHub-Delivery", "guid") }
	w.serve(same(w.signedBy("of beta", "issues", in("beta/api", 1))), 202, "stored")
	w.serve(same(w.signedBy("of web", "issues", in("acme/web", 2))), 202, "stored")
	w.serve(same(w.signedBy("of the rest", "issues", in("gamma/x", 3))), 202, "stored")
	w.serve(same(w.signedBy("of web, older", "issues", in("acme/web", 2))), 202, "duplicate")
	if n := len(w.links(web)); n != 3 {
		t.Errorf("%d links, want 3", n)
	}
	if !strings.Contains(w.log.String(), "delivery=7:guid ") {
		t.Errorf("the log does not name the delivery as GitHub does:\n%s", w.log)
	}
}

// TestOtherInstallation: deliveries of an installation that is not the known one of the owner are
// counted and dropped.
func TestOtherInstallation(t *testing.T) {
	w := newWorld(t, func(o *options) {
		o.OtherInstallation = func(owner string, id int64) bool { return owner == "acme" && id != 5 }
	})
	ev := event("opened", issue(1))
	ev.Installation = 6
	w.serve(w.request("issues", ev), 202, "foreign")
	if n := len(w.links(web)); n != 0 {
		t.Errorf("%d links", n)
	}
	ev.Installation = 5
	w.serve(w.request("issues", ev), 202, "stored")
}
