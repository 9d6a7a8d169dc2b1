package bridgetest_test

import (
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

// slowCreate is how long a create is under way: longer than it takes to notice
// that the store is not the one it was. It shows long before shown, the worlds'
// settle, on a slow machine too.
const (
	slowCreate = 4 * time.Second
	shown      = 9 * time.Second
)

// A create is under way when the store is lost, and with it the word that it
// was sent. Nothing is made again before it must have shown.
func TestCreateUnderWayWhenTheStoreIsLost(t *testing.T) {
	t.Parallel()
	plan := func(w *world) {
		w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "Title"})
	}
	late := func(op string) func(w *world) counter {
		return func(w *world) counter {
			return w.Planning.Fault(planningtest.Fault{Op: op, Kind: planningtest.LateEffect, Delay: slowCreate})
		}
	}
	for name, c := range map[string]struct {
		slow func(w *world) counter
		act  func(w *world)
	}{
		"card":          {late(planningtest.OpCardCreate), func(w *world) { w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Title"}) }},
		"tracking task": {late(planningtest.OpTaskCreate), plan},
		"issue": {func(w *world) counter {
			return w.GitHub.Fault(githubtest.Fault{Match: "issue.create", Kind: githubtest.LateEffect, After: slowCreate})
		}, plan},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redistest.Start(t)
			w := start(t, bridgetest.Options{Store: r.URL, Settle: shown})
			w.Await("the first polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
			slow := c.slow(w)
			c.act(w)
			w.Await("a create under way", func() bool { return slow.Count() == 1 })
			r.Flush()
			w.onePair()
		})
	}
}

// counter counts the requests that a fault has hit.
type counter interface{ Count() int }

// A conflict's comment that is under way then is not posted again, either.
func TestCommentUnderWayWhenTheStoreIsLost(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	w := start(t, bridgetest.Options{Store: r.URL, Settle: shown, Route: "conflicts: {title: github}"})
	w.Await("the first polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	card := w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "Title"})
	w.onePair()
	n := w.Repo.Issues()[0].Number
	slow := w.GitHub.Fault(githubtest.Fault{Match: "comment.create", Kind: githubtest.LateEffect, After: slowCreate})
	goOn := w.Hold()
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "octocat's" })
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "alice's" })
	goOn()
	w.Await("a comment under way", func() bool { return slow.Count() == 1 })
	epoch := w.App.Epoch()
	r.Flush()
	w.Await("another epoch", func() bool { return w.App.Epoch() != epoch })
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = "Text\n\n" + e.Body }) // its marker brings the link back
	w.Await("the winner on both sides", func() bool { return w.Project.Card(card).Title == "octocat's" })
	w.AwaitSettled()
	if comments := w.Repo.Issue(n).Comments; len(comments) != 1 {
		t.Errorf("%d comments: %+v", len(comments), comments)
	}
}

// onePair waits until there are an issue and a card with its task, and nothing
// is left to do.
func (w *world) onePair() {
	w.T.Helper()
	w.Await("a pair", func() bool {
		cards := w.Project.Cards()
		return len(w.Repo.Issues()) > 0 && len(cards) > 0 && len(cards[0].Tasks) > 0
	})
	w.AwaitSettled()
	if issues, cards := w.Repo.Issues(), w.Project.Cards(); len(issues) != 1 || len(cards) != 1 || len(cards[0].Tasks) != 1 {
		w.T.Errorf("%d issues, %d cards: %+v, %+v", len(issues), len(cards), issues, cards)
	}
}
