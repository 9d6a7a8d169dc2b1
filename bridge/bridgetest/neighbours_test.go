package bridgetest_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// rename gives the issue and its card new titles in turn and waits for each to
// cross.
func (w *world) rename(n int, card string) {
	w.T.Helper()
	was := w.Repo.Issue(n).Title
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = was + ", on GitHub" })
	w.Await("a title from GitHub", func() bool { return w.Project.Card(card).Title == was+", on GitHub" })
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = was + ", in planning" })
	w.Await("a title from planning", func() bool { return w.Repo.Issue(n).Title == was+", in planning" })
}

// text is what people wrote of a body or summary.
func text(s string) string {
	written, _ := bridgetest.SplitMarker(s)
	return written
}

// polls waits until so many polls have passed.
func (w *world) polls(n int) {
	w.T.Helper()
	until := w.Planning.Calls(planningtest.OpBacklogItems) + n
	w.Await("polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) >= until })
}

// whole checks that there are so many pairs, each linked and equal, and
// that nothing met.
func (w *world) whole(pairs int) {
	w.T.Helper()
	w.AwaitSettled()
	issues, cards := w.Repo.Issues(), w.Project.Cards()
	if len(issues) != pairs || len(cards) != pairs {
		w.T.Errorf("%d issues, %d cards; want %d of each", len(issues), len(cards), pairs)
	}
	titles := map[string]int{}
	for _, c := range cards {
		titles[c.Title]++
	}
	for _, i := range issues {
		if titles[i.Title]--; titles[i.Title] < 0 {
			w.T.Errorf("issue %d: no card with its title %q", i.Number, i.Title)
		}
		link, err := w.App.Operator().Find(w.T.Context(), fmt.Sprintf("%s#%d", bridgetest.RepoName, i.Number))
		if err != nil || link.State != mapping.Linked {
			w.T.Errorf("issue %d: link %+v, %v", i.Number, link, err)
		}
	}
	conflicts, err := w.App.Operator().Conflicts(w.T.Context(), 10)
	if err != nil || len(conflicts) > 0 {
		w.T.Errorf("conflicts %+v, %v", conflicts, err)
	}
}

// listing answers a project's backlog as the service shows it.
func (w *world) listing(p *planningtest.Project) string {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, fmt.Sprintf("%s/api/projects/%s/backlog/items", w.Planning.URL(), p.ID()), nil)
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("Authorization", "secret "+p.Secret())
	resp, err := bridgetest.AdminClient.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.T.Fatal(resp.Status, err)
	}
	return string(body)
}

// Planning shows an empty, a halved or another project's backlog for a while,
// and people go on meanwhile: nothing is orphaned, and nothing made twice.
func TestBacklogsThatLie(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(w *world) planningtest.Fault{
		"empty":  func(*world) planningtest.Fault { return planningtest.Fault{Kind: planningtest.EmptyListing} },
		"halved": func(*world) planningtest.Fault { return planningtest.Fault{Kind: planningtest.HalfListing} },
		"another project's": func(w *world) planningtest.Fault {
			other := w.Planning.AddProject(planningtest.ProjectSpec{Title: "Other", Members: []string{"alice", bridgetest.BridgeUser}, Buckets: []string{"Elsewhere"}})
			for n := range 4 {
				other.NewCard("Elsewhere", "alice", planningtest.CardSpec{Title: fmt.Sprint("Foreign ", n)})
			}
			return planningtest.Fault{Kind: planningtest.Before, Status: http.StatusOK, Body: w.listing(other)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, bridgetest.Options{})
			n, card := w.OpenIssue(githubtest.IssueSpec{Title: "One"})
			for _, title := range []string{"Two", "Three", "Four"} {
				w.OpenIssue(githubtest.IssueSpec{Title: title})
			}
			w.AwaitSettled()
			f := lie(w)
			f.Op, f.Times = planningtest.OpBacklogItems, -1
			lying := w.Planning.Fault(f)
			w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Meanwhile on GitHub"})
			w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "Meanwhile in planning"})
			w.polls(8)
			lying.Remove()
			w.Await("the issue of the new card", func() bool { return len(w.Repo.Issues()) == 6 })
			w.rename(n, card)
			w.whole(6)
		})
	}
}

// GitHub's reads, its lists, or both lag behind what its webhooks tell.
func TestGitHubLags(t *testing.T) {
	t.Parallel()
	for name, lag := range map[string]func(*githubtest.Traits){
		"reads":       func(x *githubtest.Traits) { x.StaleReads = 2 * time.Second },
		"lists":       func(x *githubtest.Traits) { x.ListLag = 2 * time.Second },
		"frozen list": func(x *githubtest.Traits) { x.StaleList = true },
		"both":        func(x *githubtest.Traits) { x.StaleReads, x.ListLag = 2*time.Second, 2*time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, bridgetest.Options{})
			n, card := w.OpenIssue(githubtest.IssueSpec{Title: "One", Body: "First.\n\nSecond."})
			w.AwaitSettled()
			w.GitHub.SetTraits(lag)
			w.rename(n, card)
			w.GitHub.DropNext(1)
			w.editFirst(n)
			w.editSecond(card)
			w.GitHub.SetTraits(func(x *githubtest.Traits) { x.StaleList = false })
			w.awaitBoth("both edits on both sides", n, card)
			w.whole(1)
		})
	}
}

// editFirst has GitHub edit one paragraph of a text, and editSecond planning another one.
func (w *world) editFirst(n int) {
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = "First, by GitHub.\n\nSecond." })
}

func (w *world) editSecond(card string) {
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) {
		e.Summary = strings.Replace(e.Summary, "Second.", "Second, by planning.", 1)
	})
}

// awaitBoth waits until both edits are on both sides.
func (w *world) awaitBoth(what string, n int, card string) {
	w.T.Helper()
	w.Await(what, func() bool {
		const want = "First, by GitHub.\n\nSecond, by planning."
		return text(w.Repo.Issue(n).Body) == want && text(w.Project.Card(card).Summary) == want
	})
}

// Clocks that are off by minutes, or stand still.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	off := func(d time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(d) } }
	now := time.Now()
	stands := func() time.Time { return now.Add(time.Minute) }
	for name, o := range map[string]bridgetest.Options{
		"GitHub is ahead":      {GitHub: githubtest.Options{Clock: off(7 * time.Minute)}},
		"GitHub stands still":  {GitHub: githubtest.Options{Clock: stands}},
		"planning is ahead":    {Planning: planningtest.Options{Clock: off(7 * time.Minute)}},
		"planning is behind":   {Planning: planningtest.Options{Clock: off(-7 * time.Minute)}},
		"they differ together": {GitHub: githubtest.Options{Clock: off(5 * time.Minute)}, Planning: planningtest.Options{Clock: off(-5 * time.Minute)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, o)
			n, card := w.OpenIssue(githubtest.IssueSpec{Title: "One", Body: "First.\n\nSecond."})
			w.polls(3)
			w.rename(n, card)
			var once sync.Once
			w.GitHub.BeforeWrite(func(op, _ string, _ int) {
				if op == "issue.patch" {
					once.Do(func() {
						w.editFirst(n)
					})
				}
			})
			w.editSecond(card)
			w.awaitBoth("the edit that was run over", n, card)
			w.whole(1)
		})
	}
}

// Deliveries are hours late; the catch-up has long told what they tell.
func TestDeliveriesAreHoursLate(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "One"})
	w.AwaitSettled()
	w.GitHub.SetTraits(func(x *githubtest.Traits) { x.HoursLate = 3 })
	w.rename(n, card)
	w.rename(n, card)
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Two"})
	w.Await("the second card", func() bool { return len(w.Project.Cards()) == 2 })
	w.polls(8) // missing echoes are searched meanwhile
	w.GitHub.Advance(4 * time.Hour)
	w.GitHub.SetTraits(func(x *githubtest.Traits) { x.HoursLate = 0 })
	w.whole(2)
	if got := w.Repo.Issue(n).Title; got != w.Project.Card(card).Title || strings.Count(got, "in planning") != 2 {
		t.Errorf("title %q", got)
	}
}

// An event that overtakes the one that opened the issue.
func TestLabeledBeforeOpened(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{})
	w.GitHub.SetDelivery(func(d *githubtest.Delivery) {
		if d.Action == "opened" {
			d.Delay, d.Copies = time.Second, 2
		}
	})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "One", Labels: []string{"points/3"}})
	w.Await("a card with its estimate", func() bool {
		cards := w.Project.Cards()
		return len(cards) == 1 && cards[0].Estimate != nil && *cards[0].Estimate == 3
	})
	w.whole(1)
}

// TestRepositoryIsRenamed: a repository under another name answers a write with a redirect. Nothing
// is written elsewhere, nothing counts as gone, and all goes on when the name is back.
func TestRepositoryIsRenamed(t *testing.T) {
	t.Parallel()
	for name, same := range map[string]bool{"301": false, "307": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, bridgetest.Options{})
			w.GitHub.SetTraits(func(x *githubtest.Traits) { x.Redirect307 = same })
			n, card := w.OpenIssue(githubtest.IssueSpec{Title: "One"})
			w.AwaitSettled()
			w.GitHub.RenameRepo(bridgetest.RepoName, "acme/site")
			w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Two" })
			w.polls(6)
			w.GitHub.RenameRepo("acme/site", bridgetest.RepoName)
			w.Await("the title on the issue", func() bool { return w.Repo.Issue(n).Title == "Two" })
			w.rename(n, card)
			w.whole(1)
		})
	}
}

// An archived repository refuses writes and a locked issue does not: planning's changes wait for
// the first, and a refusal does not count as gone.
func TestArchivedAndLocked(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "One"})
	w.AwaitSettled()
	w.Repo.Archive(true)
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Two" })
	w.polls(6)
	w.Repo.Archive(false)
	w.Await("the title on the issue", func() bool { return w.Repo.Issue(n).Title == "Two" })
	w.Repo.Lock(n)
	w.rename(n, card)
	w.whole(1)
}

// Labels with characters that a URL does not carry as they are.
func TestLabelsWithSpecialCharacters(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"c#/{value}", "50% ?{value}&x", "größe + {value}", "a b/{value}/c"} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			w := start(t, bridgetest.Options{Config: func(yaml string) string {
				return yaml + fmt.Sprintf("labels: {estimate: %q, in_progress: %q}\n", pattern, "in/progress #1")
			}})
			label := func(v string) string { return strings.ReplaceAll(pattern, "{value}", v) }
			n, card := w.OpenIssue(githubtest.IssueSpec{Title: "One", Labels: []string{label("3")}})
			for _, points := range []float64{5, 8} {
				w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Estimate = &points })
				w.Await("its label alone", func() bool {
					labels := slices.DeleteFunc(w.Repo.Issue(n).Labels, func(l string) bool { return strings.HasPrefix(l, "plan:") || strings.HasPrefix(l, "bucket:") })
					return len(labels) == 1 && labels[0] == label(fmt.Sprint(points))
				})
			}
			for _, state := range []string{"in-progress", "todo"} {
				w.Project.EditTask(w.Project.Tasks(card)[0].ID, "alice", func(e *planningtest.TaskEdit) { e.State = state })
				w.Await("the label of "+state, func() bool {
					return slices.Contains(w.Repo.Issue(n).Labels, "in/progress #1") == (state == "in-progress")
				})
			}
			w.whole(1)
		})
	}
}

// More issues than fit a page are found without deliveries, on a GitHub that
// pages by cursor alone.
func TestDeepPages(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{GitHub: githubtest.Options{Traits: githubtest.Traits{CursorPages: true, Drop: 1, LoseDropped: true}}})
	const many = 130
	for n := range many {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue ", n)})
	}
	w.Await("a card for each", func() bool { return len(w.Project.Cards()) == many })
	w.whole(many)
}

// A write takes effect long after its answer was given up, and after people
// have gone on on either side.
func TestWriteArrivesLate(t *testing.T) {
	t.Parallel()
	for name, dropped := range map[string]bool{"its event comes": false, "its event is lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, bridgetest.Options{})
			n, card := w.OpenIssue(githubtest.IssueSpec{Title: "One"})
			w.AwaitSettled()
			f := w.GitHub.Fault(githubtest.Fault{Match: "issue.patch", Kind: githubtest.LateEffect})
			w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Two" })
			w.Await("a write that is late", func() bool { return f.Count() == 1 && w.Repo.Issue(n).Title == "Two" })
			w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Three" })
			w.Await("the person's title", func() bool { return w.Project.Card(card).Title == "Three" })
			if dropped {
				// In one second of GitHub's nothing but its event tells a title from the same one before.
				w.Await("another second", func() bool { return w.GitHub.Now().Unix() > w.Repo.Issue(n).UpdatedAt.Unix() })
				w.GitHub.DropNext(1)
			}
			f.Release()
			w.Await("the late write", func() bool {
				h := w.Repo.History(n, "title")
				return len(h) > 3 && h[2].Value == "Three" && h[3].Value == "Two"
			})
			w.Await("the person's title again", func() bool { return w.Repo.Issue(n).Title == "Three" })
			w.whole(1)
			if got := w.Project.Card(card).Title; got != "Three" {
				t.Errorf("the card's title %q", got)
			}
		})
	}
}

// An echo that never came, and that GitHub remembers nowhere else, is delivered again: the
// edit that the write ran over comes back.
func TestLostEchoIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{Settle: 15 * time.Second, Redeliver: 500 * time.Millisecond})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "One", Body: "First.\n\nSecond."})
	w.polls(3)
	w.GitHub.Fault(githubtest.Fault{Match: "graphql", Kind: githubtest.Status, Code: http.StatusForbidden, Times: -1})
	var once sync.Once
	w.GitHub.BeforeWrite(func(op, _ string, _ int) {
		if op == "issue.patch" {
			once.Do(func() {
				w.GitHub.DropNext(2) // of the person's edit and of ours
				w.editFirst(n)
			})
		}
	})
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) {
		e.Summary = strings.Replace(e.Summary, "Second.", "Second, by planning.", 1)
	})
	w.Await("the edit that was run over", func() bool {
		const want = "First, by GitHub.\n\nSecond, by planning."
		return text(w.Repo.Issue(n).Body) == want && text(w.Project.Card(card).Summary) == want
	})
	w.whole(1)
}
