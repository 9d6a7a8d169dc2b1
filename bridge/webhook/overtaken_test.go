package webhook_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/webhook"
	"planbridge/mapping"
	"planbridge/store"
)

// at is an issue that was opened at edits, as it is that much later.
func at(after time.Duration, change ...func(*mapping.Issue)) *mapping.Issue {
	return issue(1, append(change, func(i *mapping.Issue) {
		i.CreatedAt, i.UpdatedAt = edits, edits.Add(after)
		if i.State == "closed" {
			i.ClosedAt = i.UpdatedAt
		}
	})...)
}

func labels(names ...string) func(*mapping.Issue) {
	return func(i *mapping.Issue) { i.Labels = names }
}

func closed(i *mapping.Issue) { i.State = "closed" }

// strict is a world whose route excludes a label.
func strict(t *testing.T) *world {
	return newWorld(t, func(o *options) {
		r := route("web", "acme/web", web)
		r.ExcludeLabels = []string{"wontplan"}
		o.Routes = routes(r)
	})
}

// TestOvertaken: an older event that arrives last does not let an issue in that a newer delivery
// kept out.
func TestOvertaken(t *testing.T) {
	const second = time.Second
	for name, tt := range map[string]struct {
		first, then webhook.Event
		why         string // "" where it enters
	}{
		"plan:ignore, same second":      {event("labeled", at(0, labels("plan:ignore"))), event("opened", at(0)), "it has the label plan:ignore"},
		"plan:ignore, a second later":   {event("labeled", at(second, labels("plan:ignore"))), event("opened", at(0)), "it has the label plan:ignore"},
		"excluded, same second":         {event("labeled", at(0, labels("wontplan"))), event("opened", at(0)), "it has the excluded label wontplan"},
		"excluded, a second later":      {event("labeled", at(second, labels("wontplan"))), event("opened", at(0)), "it has the excluded label wontplan"},
		"excluded, older edit":          {event("labeled", at(2*second, labels("wontplan"))), event("edited", at(second)), "it has the excluded label wontplan"},
		"excluded, edit of that second": {event("labeled", at(second, labels("wontplan"))), event("edited", at(second)), ""},
		"unlabeled since":               {event("labeled", at(second, labels("wontplan"))), event("unlabeled", at(2*second)), ""},
		"closed, same second":           {event("closed", at(0, closed)), event("opened", at(0)), "it is not open"},
		"closed within the delay":       {event("closed", at(2*second, closed)), event("opened", at(0)), "it is not open"},
		"closed, and opened again":      {event("closed", at(second, closed)), event("reopened", at(second)), ""},
		"closed after the delay":        {event("closed", at(3*second, closed)), event("opened", at(0)), ""},
		"closed after it, and ignored":  {event("closed", at(time.Hour, closed, labels("plan:ignore"))), event("opened", at(0)), "it has the label plan:ignore"},
		"deleted":                       {event("deleted", at(0)), event("opened", at(0)), "it was deleted"},
		"deleted, whatever comes":       {event("deleted", at(0)), event("edited", at(time.Minute)), "it was deleted"},
		"transferred":                   {event("transferred", at(0)), event("opened", at(0)), "it was transferred"},
		"no sub-issue any more":         {subIssue("sub_issue_removed", at(second)), event("opened", at(0)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := strict(t)
			kind, result, links := "issues", "ignored", 0
			if tt.first.SubIssue != nil {
				kind = "sub_issues"
			}
			if tt.why == "" {
				result, links = "stored", 1
			}
			w.serve(w.request(kind, tt.first), http.StatusAccepted, "ignored")
			answer := w.serve(w.request("issues", tt.then), http.StatusAccepted, result)
			if want := "ignored: a newer delivery kept it out: " + tt.why + "\n"; tt.why != "" && answer != want {
				t.Errorf("answer %q, want %q", answer, want)
			}
			if n := len(w.links(web)); n != links {
				t.Errorf("%d links, want %d", n, links)
			}
		})
	}
}

// TestOvertakenTwice: of what did not enter the newest counts, in whatever order
// it came, and that an issue is gone counts for good.
func TestOvertakenTwice(t *testing.T) {
	w := strict(t)
	w.deliver("labeled", at(2*time.Second, labels("wontplan")), "ignored")
	w.deliver("labeled", at(time.Second, labels("plan:ignore")), "ignored")
	w.deliver("edited", at(time.Second), "ignored")
	w.deliver("deleted", at(0), "ignored")
	w.deliver("closed", at(time.Hour, closed), "ignored")
	w.deliver("edited", at(2*time.Hour), "ignored")
	if n := len(w.links(web)); n != 0 {
		t.Errorf("%d links", n)
	}
}

// TestListingAfterARefusal: a listing is what GitHub says now. It is kept out
// only by what is newer, and keeps out what is older itself.
func TestListingAfterARefusal(t *testing.T) {
	private := func() (bool, error) { return true, nil }
	for _, tt := range []struct {
		after time.Duration
		links int
	}{{0, 0}, {time.Second, 1}, {2 * time.Second, 1}} {
		w := strict(t)
		w.deliver("labeled", at(time.Second, labels("plan:ignore")), "ignored")
		if err := w.intake.Listed(t.Context(), []mapping.Issue{*at(tt.after)}, private); err != nil {
			t.Fatal(err)
		}
		if n := len(w.links(web)); n != tt.links {
			t.Errorf("listed %s after it was opened: %d links, want %d", tt.after, n, tt.links)
		}
	}
	w := strict(t)
	other := *issue(2)
	if err := w.intake.Listed(t.Context(), []mapping.Issue{*at(0, labels("plan:ignore")), other}, private); err != nil {
		t.Fatal(err)
	}
	w.deliver("opened", at(0), "ignored")
	if l := w.onlyLink(web); l.Issue.Number != 2 {
		t.Errorf("link %+v", l)
	}
}

// TestKnownIssueIsNotOvertaken: its link decides about a linked issue.
func TestKnownIssueIsNotOvertaken(t *testing.T) {
	w := strict(t)
	w.deliver("labeled", at(time.Second, labels("plan:ignore")), "ignored")
	w.deliver("unlabeled", at(2*time.Second), "stored")
	w.deliver("labeled", at(3*time.Second, labels("plan:ignore")), "stored")
	w.deliver("opened", at(0), "stored")
	w.deliver("deleted", at(0), "stored")
	w.deliver("edited", at(0), "stored")
	w.onlyLink(web)
}

// TestRefusalAfterAReload: a refusal counts only as far as the rules of now
// refuse, too.
func TestRefusalAfterAReload(t *testing.T) {
	r := route("web", "acme/web", web)
	r.ExcludeLabels = []string{"wontplan"}
	w := newWorld(t, func(o *options) {
		o.Routes = func() mapping.Routes { return mapping.NewRoutes([]mapping.Route{r}) }
	})
	w.deliver("labeled", at(time.Second, labels("wontplan")), "ignored")
	w.deliver("opened", at(0), "ignored")
	r.ExcludeLabels = nil
	w.deliver("opened", at(0), "stored")
}

// TestOvertakenAtOnce: of two deliveries that are taken in at the same time,
// each learns of the other.
func TestOvertakenAtOnce(t *testing.T) {
	w := strict(t)
	for id := range int64(100) {
		var answers [2]string
		var wg sync.WaitGroup
		for n, ev := range []webhook.Event{event("labeled", at(0, labels("plan:ignore"))), event("opened", at(0))} {
			ev.Issue.ID = id + 1
			r := w.request("issues", ev)
			wg.Go(func() {
				rec := httptest.NewRecorder()
				w.intake.ServeHTTP(rec, r)
				answers[n] = rec.Body.String()
			})
		}
		wg.Wait()
		if strings.HasPrefix(answers[0], "ignored") && strings.HasPrefix(answers[1], "stored") {
			t.Fatalf("issue %d: a card is made, and nobody knows of its label: %q", id+1, answers)
		}
	}
}

// meanwhile is a store in which something happens after it was first asked for an
// item's link in a project.
type meanwhile struct {
	store.Store
	project mapping.ObjectID
	do      func()
}

func (m *meanwhile) Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error) {
	id, err := m.Store.Find(ctx, project, ref)
	if do := m.do; do != nil && project == m.project {
		m.do = nil
		do()
	}
	return id, err
}

// TestSeveralProjectsAtOnce: of two deliveries that are taken in at the same time,
// neither makes a second link in another project, and neither is lost.
func TestSeveralProjectsAtOnce(t *testing.T) {
	bug := labels("bug")
	for name, tt := range map[string]struct{ slow, fast webhook.Event }{
		"labelled for another project": {event("opened", at(0)), event("labeled", at(time.Second, bug))},
		"opened for the first":         {event("labeled", at(time.Second, bug)), event("opened", at(0))},
		"kept out":                     {event("labeled", at(time.Second, labels("plan:ignore"))), event("opened", at(0))},
	} {
		t.Run(name, func(t *testing.T) {
			bugs := route("bugs", "acme/web", apps)
			bugs.Labels = []string{"bug"}
			between := &meanwhile{project: web} // the last one to be asked
			w := newWorld(t, func(o *options) {
				o.Routes = routes(bugs, route("rest", "acme/web", web))
				between.Store, o.Store = o.Store.(store.Store), between
			})
			deliver := func(ev webhook.Event) { w.intake.ServeHTTP(httptest.NewRecorder(), w.request("issues", ev)) }
			done := make(chan struct{})
			between.do = func() {
				go func() {
					defer close(done)
					deliver(tt.fast)
				}()
				select {
				case <-done:
				case <-time.After(200 * time.Millisecond): // it waits for the slow one
				}
			}
			deliver(tt.slow)
			<-done
			links := append(w.links(web), w.links(apps)...)
			if len(links) > 1 || len(links) == 0 && name != "kept out" {
				t.Fatalf("%d links", len(links))
			}
			for _, l := range links {
				if got, _ := w.inbox(l, 1); len(got.Labels) != 1 {
					t.Errorf("the inbox shows an older state: %+v", got)
				}
			}
		})
	}
}

// TestNoIssue: an action that is not known may be about anything; one that is
// known has an issue.
func TestNoIssue(t *testing.T) {
	w := newWorld(t)
	for action, want := range map[string]int{"polished": http.StatusAccepted, "": http.StatusAccepted, "opened": http.StatusBadRequest, "deleted": http.StatusBadRequest} {
		body, err := json.Marshal(webhook.Event{Action: action, Repo: "acme/web"})
		if err != nil {
			t.Fatal(err)
		}
		result := map[int]string{http.StatusAccepted: "ignored", http.StatusBadRequest: "malformed"}[want]
		t.Logf("action %q", action)
		w.serve(w.raw("issues", body), want, result)
	}
}
