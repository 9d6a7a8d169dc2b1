package webhook_test

import (
	"net/http"
	"testing"

	"planbridge/bridge/webhook"
	"planbridge/mapping"
)

// subIssue is a `sub_issues` event about issue 2 below issue 1.
func subIssue(action string, child *mapping.Issue) webhook.Event {
	return webhook.Event{Action: action, Parent: issue(1), SubIssue: child, Repo: "acme/web", Private: true, Sender: "octocat"}
}

// picky is a world whose route takes only issues with a label, and whose
// sub-issues are tasks.
func picky(t *testing.T) *world {
	return newWorld(t, func(o *options) {
		r := route("web", "acme/web", web)
		r.Labels, r.Tasks = []string{"plan"}, mapping.TasksSubIssues
		o.Routes = routes(r)
	})
}

func (w *world) family(ev webhook.Event, result string) {
	w.t.Helper()
	w.serve(w.request("sub_issues", ev), http.StatusAccepted, result)
}

// TestSubIssueOfALinkedIssue: an issue without a link comes to its parent's link.
func TestSubIssueOfALinkedIssue(t *testing.T) {
	w := picky(t)
	w.deliver("opened", issue(1, func(i *mapping.Issue) { i.Labels = []string{"plan"} }), "stored")
	root := w.onlyLink(web)
	w.family(subIssue("sub_issue_added", issue(2)), "stored")
	w.family(subIssue("parent_issue_added", issue(2)), "stored")
	if got, ok := w.inbox(w.onlyLink(web), 2); !ok || got.Number != 2 {
		t.Errorf("the parent's inbox has %+v", got)
	}
	c := w.claim(root)
	if len(c.Events) != 2 {
		t.Errorf("%d events, want what both said", len(c.Events))
	}
}

// TestSubIssueOfNobody: an issue below one without a link may be below one that has a card, whether
// its route takes it or not. The reconcile has to find that out.
func TestSubIssueOfNobody(t *testing.T) {
	w := picky(t)
	w.family(subIssue("sub_issue_added", issue(2)), "stored")
	if l := w.onlyLink(web); l.State != mapping.Entering || l.Issue.ID != 2 {
		t.Errorf("link %+v", l)
	}
	for name, child := range map[string]*mapping.Issue{
		"closed":     issue(3, func(i *mapping.Issue) { i.State = "closed" }),
		"ignored":    issue(3, func(i *mapping.Issue) { i.Labels = []string{"plan:ignore"} }),
		"own":        issue(3, func(i *mapping.Issue) { i.Author = bot }),
		"other repo": issue(3, func(i *mapping.Issue) { i.Repo = "acme/other" }),
	} {
		w.family(subIssue("sub_issue_added", child), "ignored")
		if n := len(w.links(web)); n != 1 {
			t.Errorf("%s: %d links", name, n)
		}
	}
}

// TestSubIssueRemoved: only a link that knows the issue is told.
func TestSubIssueRemoved(t *testing.T) {
	w := picky(t)
	w.family(subIssue("sub_issue_removed", issue(2)), "ignored")
	w.family(subIssue("reprioritized", issue(2)), "ignored")
	w.family(webhook.Event{Action: "sub_issue_added", Repo: "acme/web"}, "ignored")
	w.deliver("opened", issue(2, func(i *mapping.Issue) { i.Labels = []string{"plan"} }), "stored")
	w.family(subIssue("parent_issue_removed", issue(2)), "stored")
	if c := w.claim(w.onlyLink(web)); len(c.Events) == 0 {
		t.Error("its link is not told")
	}
}

// TestListedSubIssue: catch-up lets one in whose listing names a parent.
func TestListedSubIssue(t *testing.T) {
	w := picky(t)
	below := *issue(2, func(i *mapping.Issue) { i.Parent = "acme/web#1" })
	alone := *issue(3, func(i *mapping.Issue) { i.Parent = mapping.NoParent })
	private := func() (bool, error) { return true, nil }
	if err := w.intake.Listed(t.Context(), []mapping.Issue{below, alone}, private); err != nil {
		t.Fatal(err)
	}
	if l := w.onlyLink(web); l.Issue.ID != 2 {
		t.Errorf("link %+v", l)
	}
}
