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

// TestEntering: an issue that enters gets a link in state entering, due after
// the delay, with the snapshot in its inbox.
func TestEntering(t *testing.T) {
	for _, action := range []string{"opened", "reopened", "edited", "labeled", "unlabeled", "assigned", "typed"} {
		w := newWorld(t)
		w.deliver(action, issue(12), "stored")
		l := w.onlyLink(web)
		if l.State != mapping.Entering || l.Origin != mapping.GitHub || l.Route != "web" || l.Nonce == "" ||
			l.Issue.ID != 12 || l.Issue.Number != 12 || l.Issue.Repo != "acme/web" || l.Created.IsZero() || l.Intent != nil {
			t.Errorf("%s: link %+v", action, l)
		}
		if c, wait, err := w.store.Claim(context.Background(), web, time.Minute); err != nil || c != nil || wait <= 0 || wait > 2*time.Second {
			t.Errorf("%s: claim %v in %s, %v: it is to wait for its labels", action, c, wait, err)
		}
		if got, ok := w.inbox(l, 12); !ok || got.Title != "A title" {
			t.Errorf("%s: inbox %+v", action, got)
		}
	}
}

func TestNotEntering(t *testing.T) {
	change := func(f func(*mapping.Issue)) webhook.Event { return event("opened", issue(1, f)) }
	for name, ev := range map[string]webhook.Event{
		"closed":       event("closed", issue(1, func(i *mapping.Issue) { i.State = "closed" })),
		"deleted":      event("deleted", issue(1)),
		"transferred":  event("transferred", issue(1)),
		"pull request": change(func(i *mapping.Issue) { i.PullRequest = true }),
		"own":          change(func(i *mapping.Issue) { i.Author = bot }),
		"other repo":   change(func(i *mapping.Issue) { i.Repo = "acme/other" }),
		"ignored":      change(func(i *mapping.Issue) { i.Labels = []string{"plan:ignore"} }),
		"old":          change(func(i *mapping.Issue) { i.UpdatedAt = began.Add(-time.Second) }),
		"action":       event("converted", issue(1)),
	} {
		w := newWorld(t)
		t.Log(name)
		w.serve(w.request("issues", ev), http.StatusAccepted, "ignored")
		if n := len(w.links(web)); n != 0 {
			t.Errorf("%s: %d links", name, n)
		}
	}
}

func TestToGitHubTakesNoIssues(t *testing.T) {
	r := route("web", "acme/web", web)
	r.Direction = mapping.ToGitHub
	w := newWorld(t, func(o *options) { o.Routes = routes(r) })
	w.deliver("opened", issue(1), "ignored")
}

// TestFirstRunNotKnown: an issue that cannot be judged yet is not acknowledged.
func TestFirstRunNotKnown(t *testing.T) {
	w := newWorld(t, func(o *options) { o.FirstRun = func(string) time.Time { return time.Time{} } })
	w.serve(w.request("issues", event("opened", issue(1))), http.StatusServiceUnavailable, "unavailable")
}

// TestOldEventOfAPublicRepository: a delivery that is made again says that the repository is
// private, as it was then.
func TestOldEventOfAPublicRepository(t *testing.T) {
	w := newWorld(t, func(o *options) { o.Visible = func(context.Context, string, bool) bool { return true } })
	ev := event("opened", issue(1))
	ev.VisibilityKnown = true
	w.serve(w.request("issues", ev), http.StatusAccepted, "refused")
	if n := len(w.links(web)); n != 0 {
		t.Errorf("%d links", n)
	}
}

// TestPublic: planning text is not published unless the route says so.
func TestPublic(t *testing.T) {
	w := newWorld(t)
	ev := event("opened", issue(1))
	ev.Private = false
	w.serve(w.request("issues", ev), http.StatusAccepted, "refused")
	w.serve(w.request("issues", ev), http.StatusAccepted, "refused")
	if n := len(w.links(web)); n != 0 {
		t.Errorf("%d links", n)
	}
	if log := w.log.String(); strings.Count(log, "no card is made") != 1 || !strings.Contains(log, `fact="a repository is public"`) {
		t.Errorf("it is not reported once, as the fact that the repository is public: %s", log)
	}
	r := route("web", "acme/web", web)
	r.AllowPublic = true
	w = newWorld(t, func(o *options) { o.Routes = routes(r) })
	w.serve(w.request("issues", ev), http.StatusAccepted, "stored")
}

// TestLabelsOfANewIssue: events right after an issue was made do not cut its delay short; an edit
// of a known issue waits for nothing.
func TestLabelsOfANewIssue(t *testing.T) {
	due := func(age time.Duration) bool {
		w := newWorld(t)
		at := func(d time.Duration) *mapping.Issue {
			return issue(1, func(i *mapping.Issue) { i.UpdatedAt = i.CreatedAt.Add(d) })
		}
		w.deliver("opened", at(0), "stored")
		w.deliver("labeled", at(age), "stored")
		c, _, err := w.store.Claim(context.Background(), web, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return c != nil
	}
	if due(time.Second) {
		t.Error("an event of the first second cut the delay short")
	}
	if !due(time.Hour) {
		t.Error("an edit of a known issue was put off")
	}
}
