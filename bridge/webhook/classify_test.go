package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"planbridge/bridge/webhook"
	"planbridge/mapping"
	"planbridge/store"
)

// TestDuplicate: the same delivery twice stores nothing anew, and its key is
// due again.
func TestDuplicate(t *testing.T) {
	w := newWorld(t)
	deliver := func(title, result string) {
		w.guid = 0
		w.serve(w.request("issues", event("edited", issue(1, func(i *mapping.Issue) { i.Title = title }))), http.StatusAccepted, result)
	}
	deliver("A title", "stored")
	l := w.onlyLink(web)
	w.work(l, nil)
	deliver("Not the same", "duplicate")
	c, _, err := w.store.Claim(context.Background(), web, time.Minute)
	if err != nil || c == nil || c.Key.Link != l.ID {
		t.Fatalf("claim %+v, %v: want the link's key due", c, err)
	}
	if len(c.Inbox) != 0 {
		t.Errorf("inbox %v: want nothing anew", c.Inbox)
	}
}

// TestSameGUIDOfAnotherHook: two hooks can carry different payloads under one
// GUID.
func TestSameGUIDOfAnotherHook(t *testing.T) {
	w := newWorld(t)
	w.deliver("opened", issue(1), "stored")
	w.guid = 0
	r := w.request("issues", event("edited", issue(1, func(i *mapping.Issue) { i.Title, i.UpdatedAt = "B", edits.Add(time.Second) })))
	r.Header.Set("X-GitHub-Hook-ID", "8")
	w.serve(r, http.StatusAccepted, "stored")
}

// TestReordered: the older snapshot never replaces the newer one, whichever
// came first.
func TestReordered(t *testing.T) {
	w := newWorld(t)
	at := func(title string, s int) *mapping.Issue {
		return issue(1, func(i *mapping.Issue) { i.Title, i.UpdatedAt = title, edits.Add(time.Duration(s)*time.Second) })
	}
	w.deliver("labeled", at("second", 2), "stored")
	w.deliver("opened", at("first", 1), "stored")
	l := w.onlyLink(web)
	if got, _ := w.inbox(l, 1); got.Title != "second" {
		t.Errorf("inbox holds %q", got.Title)
	}
	w.deliver("edited", at("other", 2), "stored")
	if c := w.claim(l); !c.Inbox[mapping.IssueRef(1)].Ambiguous {
		t.Error("two snapshots of one second are not told to be ambiguous")
	}
}

// TestOpenedIsFirst: any other event of an issue in its opening second came after that, in any
// order of arrival. Nothing is ambiguous. Other events of one second are ambiguous.
func TestOpenedIsFirst(t *testing.T) {
	for _, order := range [][]string{{"opened", "labeled"}, {"labeled", "opened"}} {
		w := newWorld(t)
		events := map[string]*mapping.Issue{"opened": at(0), "labeled": at(0, labels("bug"))}
		for _, action := range order {
			w.deliver(action, events[action], "stored")
		}
		l := w.onlyLink(web)
		if got, _ := w.inbox(l, 1); len(got.Labels) != 1 {
			t.Errorf("%v: the inbox shows it as it was opened", order)
		}
		if w.claim(l).Inbox[mapping.IssueRef(1)].Ambiguous {
			t.Errorf("%v: it has to be read", order)
		}
	}
	w := newWorld(t)
	w.deliver("opened", at(time.Second, labels("bug")), "stored") // a transfer: it was something before
	w.deliver("labeled", at(time.Second, labels("bug", "big")), "stored")
	if !w.claim(w.onlyLink(web)).Inbox[mapping.IssueRef(1)].Ambiguous {
		t.Error("it need not be read, though it was updated after it was created")
	}
}

// TestKnownThoughNotMatching: a link has to see that its issue left its route,
// was closed, or went public.
func TestKnownThoughNotMatching(t *testing.T) {
	w := newWorld(t)
	w.deliver("opened", issue(1), "stored")
	l := w.onlyLink(web)
	w.work(l, nil)
	for n, change := range []func(*mapping.Issue){
		func(i *mapping.Issue) { i.Labels = []string{"plan:ignore"} },
		func(i *mapping.Issue) { i.State = "closed" },
		func(i *mapping.Issue) { i.Author = bot },
	} {
		w.deliver("labeled", issue(1, change, func(i *mapping.Issue) { i.UpdatedAt = edits.Add(time.Duration(n+1) * time.Second) }), "stored")
		if c, _, err := w.store.Claim(context.Background(), web, time.Minute); err != nil || c == nil || len(c.Inbox) != 1 {
			t.Fatalf("change %d: claim %+v, %v: want it due at once", n, c, err)
		} else if err := w.store.Finish(context.Background(), c, nil, nil, store.Outcome{Kind: store.Done}); err != nil {
			t.Fatal(err)
		}
	}
	public := event("edited", issue(1, func(i *mapping.Issue) { i.UpdatedAt = edits.Add(time.Minute) }))
	public.Private = false
	w.serve(w.request("issues", public), http.StatusAccepted, "stored")
}

// TestAwayIsLookedAt: the payload of a deleted or transferred issue is not its
// state any more.
func TestAwayIsLookedAt(t *testing.T) {
	for _, action := range []string{"deleted", "transferred"} {
		w := newWorld(t)
		w.deliver("opened", issue(1), "stored")
		l := w.onlyLink(web)
		w.work(l, nil)
		w.deliver(action, issue(1, func(i *mapping.Issue) { i.UpdatedAt = edits.Add(time.Minute) }), "stored")
		c, _, err := w.store.Claim(context.Background(), web, time.Minute)
		if err != nil || c == nil || len(c.Inbox) != 0 {
			t.Errorf("%s: claim %+v, %v: want it due without a snapshot", action, c, err)
		}
	}
}

// TestTransferredIn: the `opened` event of the new issue leads to the link of the old one. That
// holds even where no route is for the new repository and where other routes lead to other
// projects.
func TestTransferredIn(t *testing.T) {
	for _, repo := range []string{"acme/web", "acme/apps", "acme/elsewhere"} {
		w := newWorld(t, func(o *options) {
			o.Routes = routes(route("web", "acme/web", web), route("apps", "acme/apps", apps))
		})
		w.deliver("opened", issue(1), "stored")
		ev := event("opened", issue(2, func(i *mapping.Issue) { i.Repo = repo }))
		ev.OldIssue = issue(1)
		w.serve(w.request("issues", ev), http.StatusAccepted, "stored")
		if n := len(w.links(apps)); n != 0 {
			t.Errorf("%s: %d links in the other project", repo, n)
		}
		if got, ok := w.inbox(w.onlyLink(web), 2); !ok || got.Repo != repo {
			t.Errorf("%s: inbox of the old link has %+v", repo, got)
		}
	}
}

func TestTransferredInFromNowhere(t *testing.T) {
	w := newWorld(t)
	ev := event("opened", issue(2))
	ev.OldIssue = issue(1, func(i *mapping.Issue) { i.Repo = "elsewhere/x" })
	w.serve(w.request("issues", ev), http.StatusAccepted, "stored")
	if l := w.onlyLink(web); l.Issue.ID != 2 {
		t.Errorf("link %+v", l.Issue)
	}
}

// TestEdited: the earlier value is kept beside the newest snapshot.
func TestEdited(t *testing.T) {
	w := newWorld(t)
	from := "What it was"
	ev := event("edited", issue(1))
	ev.BodyFrom, ev.Sender = &from, "hubot"
	w.serve(w.request("issues", ev), http.StatusAccepted, "stored")
	c := w.claim(w.onlyLink(web))
	var got mapping.IssueEvent
	if len(c.Events) != 1 || json.Unmarshal(c.Events[0], &got) != nil {
		t.Fatalf("events %q", c.Events)
	}
	if got.BodyFrom == nil || *got.BodyFrom != from || got.TitleFrom != nil || got.Sender != "hubot" ||
		got.Body != "A body" || !got.At.Equal(edits) || got.Delivery != "7:guid-1" {
		t.Errorf("edit %+v", got)
	}
}

// TestOwnLabelsTakeNoPlace: our own label events displace none of the values before people's edits,
// however many come before the key is worked.
func TestOwnLabelsTakeNoPlace(t *testing.T) {
	w := newWorld(t)
	from := "What it was"
	ev := event("edited", issue(1))
	ev.BodyFrom = &from
	w.serve(w.request("issues", ev), http.StatusAccepted, "stored")
	for n := range 100 {
		ev := event([]string{"labeled", "unlabeled"}[n%2], issue(1, func(i *mapping.Issue) { i.Labels = []string{fmt.Sprint("plan:", n)} }))
		ev.Sender = bot
		w.serve(w.request("issues", ev), http.StatusAccepted, "stored")
	}
	c := w.claim(w.onlyLink(web))
	var got mapping.IssueEvent
	if len(c.Events) == 0 || json.Unmarshal(c.Events[0], &got) != nil || got.BodyFrom == nil || *got.BodyFrom != from {
		t.Errorf("of %d events the first is %+v, want the person's edit", len(c.Events), got)
	}
	if last := c.Events[len(c.Events)-1]; json.Unmarshal(last, &got) != nil || got.Step == nil || !slices.Equal(got.Step.Issue.Labels, []string{"plan:99"}) {
		t.Errorf("the last event is %s, want our last step", last)
	}
}

// TestOwnIssue: issues that the bridge made never become cards, and their markers lead to their
// links, found or rebuilt.
func TestOwnIssue(t *testing.T) {
	mark := mapping.Marker{Kind: mapping.MarkIssue, Link: "00000000000000aa", Nonce: "00000000000000bb", Partner: "5447406088d6f6a94d0001e4"}
	marked := func(id int64) *mapping.Issue {
		return issue(id, func(i *mapping.Issue) { i.Author, i.Body = bot, keys.AppendComment("A body", mark) })
	}
	t.Run("unmarked", func(t *testing.T) {
		w := newWorld(t)
		w.deliver("opened", issue(1, func(i *mapping.Issue) { i.Author = bot }), "ignored")
	})
	t.Run("link known", func(t *testing.T) {
		w := newWorld(t)
		card := &mapping.Card{ID: mapping.ObjectID(mark.Partner), CID: 7}
		r := route("web", "acme/web", web)
		l := r.EnterCard(card, edits)
		l.ID, l.Nonce, l.State = mark.Link, mark.Nonce, mapping.Creating
		if _, err := w.store.Observe(t.Context(), web, []store.Observation{{Create: l}}); err != nil {
			t.Fatal(err)
		}
		w.deliver("opened", marked(1), "stored")
		if got, ok := w.inbox(w.onlyLink(web), 1); !ok || got.Number != 1 {
			t.Errorf("inbox of the creating link has %+v", got)
		}
	})
	t.Run("store lost", func(t *testing.T) {
		w := newWorld(t)
		w.deliver("edited", marked(1), "stored")
		l := w.onlyLink(web)
		if l.ID != mark.Link || l.Nonce != mark.Nonce || l.State != mapping.Linked || l.Origin != mapping.Planning ||
			l.Card.ID != mapping.ObjectID(mark.Partner) || l.Issue.Number != 1 || l.Route != "web" || len(l.Base) != 0 {
			t.Errorf("rebuilt %+v", l)
		}
	})
	t.Run("copied by a stranger", func(t *testing.T) {
		w := newWorld(t)
		i := marked(1)
		i.Author = "mallory"
		w.deliver("opened", i, "stored")
		if l := w.onlyLink(web); l.ID == mark.Link || l.Card.ID != "" {
			t.Errorf("a stranger's marker led to %+v", l)
		}
	})
}

// TestOwnIssueOfSeveralProjects: routes of two projects lead to the repository, and the store is
// lost. The link is made again in the project that the marker names. Where it names none, no link
// is made of it: in the wrong project its card would be none.
func TestOwnIssueOfSeveralProjects(t *testing.T) {
	bugs := route("bugs", "acme/web", apps)
	bugs.Labels = []string{"bug"}
	for nonce, want := range map[string]map[mapping.ObjectID]string{
		mapping.NonceIn(web, "00000000000000bb"):  {web: "rest"},
		mapping.NonceIn(apps, "00000000000000bb"): {apps: "bugs"},
		"00000000000000bb":                        {},
	} {
		w := newWorld(t, func(o *options) { o.Routes = routes(bugs, route("rest", "acme/web", web)) })
		mark := mapping.Marker{Kind: mapping.MarkIssue, Link: "00000000000000aa", Nonce: nonce, Partner: "5447406088d6f6a94d0001e4"}
		result := "stored"
		if len(want) == 0 {
			result = "ignored"
		}
		w.deliver("edited", issue(1, func(i *mapping.Issue) { i.Author, i.Body = bot, keys.AppendComment("A body", mark) }), result)
		for _, project := range []mapping.ObjectID{web, apps} {
			got := ""
			for _, l := range w.links(project) {
				got += l.Route
			}
			if got != want[project] {
				t.Errorf("nonce %s: project %s has links of %q, want %q", nonce, project, got, want[project])
			}
		}
	}
}

// TestLinkRemovedMeanwhile: a link that goes away between the two questions
// puts no link of one project into another.
func TestLinkRemovedMeanwhile(t *testing.T) {
	w := newWorld(t, func(o *options) {
		o.Store = elsewhere{o.Store}
		o.Routes = routes(route("web", "acme/web", web), route("apps", "acme/apps", apps))
	})
	w.deliver("opened", issue(1), "ignored")
	if n := len(w.links(web)) + len(w.links(apps)); n != 0 {
		t.Errorf("%d links", n)
	}
}

// TestRepositoryEvents: events of a repository are passed on, and a name that could not be kept is
// no delivery that was taken.
func TestRepositoryEvents(t *testing.T) {
	var told []string
	var fails error
	w := newWorld(t, func(o *options) {
		o.Renamed = func(_ context.Context, from, to string) error { told = append(told, from+" is "+to); return fails }
		o.Writable = func(_ context.Context, repo string) { told = append(told, repo) }
	})
	renamed := webhook.Event{Action: "renamed", Repo: "acme/website", OldRepo: "acme/web"}
	w.serve(w.request("repository", renamed), http.StatusAccepted, "stored")
	w.serve(w.request("repository", webhook.Event{Action: "unarchived", Repo: "acme/web"}), http.StatusAccepted, "stored")
	w.serve(w.request("repository", webhook.Event{Action: "archived", Repo: "acme/web"}), http.StatusAccepted, "ignored")
	if want := []string{"acme/web is acme/website", "acme/web"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	fails = errors.New("no store")
	w.serve(w.request("repository", renamed), http.StatusServiceUnavailable, "unavailable")
}

// TestListed: a listing is judged by the same rules.
func TestListed(t *testing.T) {
	asked := 0
	private := func() (bool, error) { asked++; return true, nil }
	w := newWorld(t)
	page := []mapping.Issue{
		*issue(1), *issue(2, func(i *mapping.Issue) { i.State = "closed" }),
		*issue(3, func(i *mapping.Issue) { i.UpdatedAt = began.Add(-time.Hour) }),
	}
	for range 2 {
		if err := w.intake.Listed(t.Context(), page, private); err != nil {
			t.Fatal(err)
		}
	}
	if l := w.onlyLink(web); l.Issue.ID != 1 || l.State != mapping.Entering {
		t.Errorf("link %+v", l)
	}
	if asked == 0 {
		t.Error("whether the repository is public was not asked")
	}
	public := func() (bool, error) { return false, nil }
	if err := w.intake.Listed(t.Context(), []mapping.Issue{*issue(4)}, public); err != nil || len(w.links(web)) != 1 {
		t.Errorf("public repository: %v, %d links", err, len(w.links(web)))
	}
	away := errors.New("GitHub is away")
	broken := func() (bool, error) { return false, away }
	if err := w.intake.Listed(t.Context(), []mapping.Issue{*issue(5)}, broken); !errors.Is(err, away) {
		t.Errorf("error %v", err)
	}
}

// TestListedIsDurableOrFails: a listing's page counts as stored only as a whole.
func TestListedIsDurableOrFails(t *testing.T) {
	w := newWorld(t)
	private := func() (bool, error) { return true, nil }
	w.options.Store = &faultyStore{Store: w.store, err: errors.New("away")}
	if err := w.options.intake().Listed(t.Context(), []mapping.Issue{*issue(1)}, private); err == nil {
		t.Error("a store that is away is no error")
	}
}
