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
// that the store is not the one it was.
const slowCreate = 6 * time.Second

// A create is under way when the store is lost, and with it the word that it
// was sent. Nothing is made again before it must have shown.
func TestCreateUnderWayWhenTheStoreIsLost(t *testing.T) {
	t.Parallel()
	t.Run("card", func(t *testing.T) {
		t.Parallel()
		r := redistest.Start(t)
		w := start(t, bridgetest.Options{Store: r.URL, Settle: slowCreate + time.Second})
		slow := w.Planning.Fault(planningtest.Fault{Op: planningtest.OpCardCreate, Kind: planningtest.LateEffect, Delay: slowCreate})
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Title"})
		w.until("a create under way", func() bool { return slow.Count() == 1 })
		r.Flush()
		w.onePair()
	})
	t.Run("issue", func(t *testing.T) {
		t.Parallel()
		r := redistest.Start(t)
		w := start(t, bridgetest.Options{Store: r.URL, Settle: slowCreate + time.Second})
		w.until("the first polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
		slow := w.GitHub.Fault(githubtest.Fault{Match: "issue.create", Kind: githubtest.LateEffect, After: slowCreate})
		w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "Title"})
		w.until("a create under way", func() bool { return slow.Count() == 1 })
		r.Flush()
		w.onePair()
	})
}

// onePair waits until there are an issue and a card with its task, and nothing
// is left to do.
func (w *world) onePair() {
	w.t.Helper()
	w.until("a pair", func() bool {
		cards := w.Project.Cards()
		return len(w.Repo.Issues()) > 0 && len(cards) > 0 && len(cards[0].Tasks) > 0
	})
	w.settled()
	if issues, cards := w.Repo.Issues(), w.Project.Cards(); len(issues) != 1 || len(cards) != 1 || len(cards[0].Tasks) != 1 {
		w.t.Errorf("%d issues, %d cards: %+v, %+v", len(issues), len(cards), issues, cards)
	}
}
