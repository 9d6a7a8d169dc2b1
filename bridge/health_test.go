package bridge_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	admin "planbridge/bridge/status"
	"planbridge/store/redisstore/redistest"
)

// askFor asks a running service for data.
func askFor[T any](t *testing.T, w *bridgetest.World, path string) (got T) {
	t.Helper()
	r, err := http.Get(w.AdminURL() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close() //nolint:errcheck // it was read
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v", path, r.StatusCode, err)
	}
	return got
}

// The page's statements on services and acts are true.
func TestHealthAndActivity(t *testing.T) {
	w := world(t, bridgetest.Options{})
	number := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Fix it"})
	until(t, w, "the card", func() bool { return len(w.Project.Cards()) == 1 })
	w.Repo.Edit(number, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Fix it now" })
	until(t, w, "the new title", func() bool { return w.Project.Cards()[0].Title == "Fix it now" })
	var done []admin.Activity
	until(t, w, "the write among the activities", func() bool {
		done = askFor[admin.Activities](t, w, "/api/v1/activity").Activities
		return slices.ContainsFunc(done, func(a admin.Activity) bool { return a.What == "write" && a.Attribute == "title" })
	})
	for _, a := range done {
		if (a.What == "write" || a.What == "create" && a.Part == "") && (a.Who != "octocat" || a.Took <= 0 || a.Where != "acme/web#1" || a.Side != "planning") {
			t.Errorf("%+v", a)
		}
	}
	health := askFor[admin.Health](t, w, "/api/v1/health")
	if len(health.Services) != 2 || health.Services[0].Name != "github" || !health.Services[1].Project {
		t.Fatalf("services: %+v", health.Services)
	}
	hub, project := health.Services[0], health.Services[1]
	if hub.State != admin.ServiceUp || hub.Answered.IsZero() || hub.Sources[0].What != admin.SourceDelivery || hub.Sources[0].At.IsZero() || hub.Sources[1].Every == 0 {
		t.Errorf("GitHub: %+v", hub)
	}
	if project.State != admin.ServiceUp || project.Sources[0].What != admin.SourcePoll || project.Sources[0].At.IsZero() || project.Sources[0].Elsewhere {
		t.Errorf("planning: %+v", project)
	}
	if len(health.Budgets) != 3 || health.Budgets[0].Of == 0 || health.Budgets[0].Left > health.Budgets[0].Of {
		t.Errorf("budgets: %+v", health.Budgets)
	}
	w.Planning.Down(true)
	until(t, w, "planning is down", func() bool {
		p := askFor[admin.Health](t, w, "/api/v1/health").Services[1]
		return p.State == admin.ServiceDown && p.Error != "" && !p.Failed.IsZero()
	})
}

// TestLastDelivery: the catch-up's entries are no deliveries. GitHub's first one is.
func TestLastDelivery(t *testing.T) {
	w := world(t, bridgetest.Options{Idle: true})
	w.Hook = -1 // there is none
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	hub := func() admin.ServiceHealth { return askFor[admin.Health](t, w, "/api/v1/health").Services[0] }
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Fix it"})
	until(t, w, "the card", func() bool { return len(w.Project.Cards()) == 1 })
	if got := hub().Sources; !got[0].At.IsZero() || got[1].At.IsZero() {
		t.Errorf("after a catch-up: %+v", got)
	}
	w.GitHub.AddHook(bridgetest.RepoName, w.WebhookURL(), bridgetest.WebhookSecret)
	until(t, w, "the ping", func() bool { return !hub().Sources[0].At.IsZero() })
}

// TestAnOutageEndsForAnIdleReplica: a replica that neither polls nor works a key learns that a
// service is back, too.
func TestAnOutageEndsForAnIdleReplica(t *testing.T) {
	t.Parallel()
	w := bridgetest.StartIn(t, bridgetest.Options{Store: redistest.Start(t).URL})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "one"})
	w.Await("its card", func() bool { return len(w.Project.Cards()) == 1 })
	w.AwaitSettled()
	idle, err := w.AddReplica(nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string) (health admin.Health) {
		t.Helper()
		r, err := http.Get("http://" + idle.AdminAddr() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close() //nolint:errcheck // it was read
		if err := json.NewDecoder(r.Body).Decode(&health); err != nil {
			t.Fatal(err)
		}
		return health
	}
	state := func() string { return ask("/api/v1/health").Services[1].State }
	w.Planning.Down(true)
	w.Await("the replica meets the outage", func() bool {
		ask("/api/v1/links/" + url.PathEscape("acme/web#1")) // reads the card
		return state() == admin.ServiceDown
	})
	w.Planning.Down(false)
	w.Await("the replica learns that it is over", func() bool { return state() == admin.ServiceUp })
}
