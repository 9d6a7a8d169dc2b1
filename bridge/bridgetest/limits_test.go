package bridgetest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/github"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

// TestMeasuredFloodLeavesAnotherRouteItsWrites: at the default limits a repository's flood of new
// issues spends GitHub's write budget. An edit in planning on another route still reaches GitHub in
// seconds.
func TestMeasuredFloodLeavesAnotherRouteItsWrites(t *testing.T) {
	t.Parallel()
	const flood, edits = 500, 5
	w, repo, board := twoProjects(t, bridgetest.Options{EnterDelay: time.Millisecond, Config: func(yaml string) string {
		yaml = strings.Replace(yaml, "  settle: 500ms\n", "", 1) // GitHub's: a delivery of the flood is not late
		yaml = strings.Replace(yaml, "  writes_per_minute: 10000\n", "", 1)
		return strings.Replace(yaml, "  writes_per_hour: 600000\n", "", 1)
	}})
	n := repo.Open("octocat", githubtest.IssueSpec{Title: "Another route's"})
	w.Await("its card", func() bool { return len(board.Cards()) == 1 && len(repo.Issue(n).Labels) > 0 })
	goOn := w.Hold()
	for i := range flood {
		w.Repo.Open(fmt.Sprint("stranger", i%5), githubtest.IssueSpec{Title: fmt.Sprint("Buy now ", i)})
	}
	goOn()
	w.Await("the flood's cards", func() bool { return len(w.Project.Cards()) == flood })
	for i := range edits {
		title := fmt.Sprint("Edited ", i)
		began := time.Now()
		board.EditCard(board.Cards()[0].ID, "alice", func(e *planningtest.CardEdit) { e.Title = title })
		w.Await("the edit on GitHub", func() bool { return repo.Issue(n).Title == title })
		took := time.Since(began)
		t.Logf("edit %d beside %d new issues reached GitHub after %v, %d writes until then", i, flood, took.Round(time.Millisecond), w.GitHub.Writes())
		if took > 10*time.Second {
			t.Errorf("edit %d took %v", i, took)
		}
	}
}

// After GitHub asked one of two replicas to wait, neither sends it anything before
// that time: no write and no read, whatever happens meanwhile.
func TestNothingIsSentBeforeRetryAfter(t *testing.T) {
	t.Parallel()
	const wait = 8 * time.Second
	w := start(t, bridgetest.Options{Store: redistest.Start(t).URL, CatchUp: 300 * time.Millisecond})
	if _, err := w.AddReplica(nil); err != nil {
		t.Fatal(err)
	}
	var cards []string
	for i := range 4 {
		_, card := w.OpenIssue(githubtest.IssueSpec{Title: fmt.Sprint("Issue ", i)})
		cards = append(cards, card)
	}
	w.AwaitSettled()
	limit := w.GitHub.Fault(githubtest.Fault{
		Match: "write", Kind: githubtest.Status, Code: http.StatusForbidden,
		Header: http.Header{"Retry-After": {fmt.Sprint(int(wait.Seconds()))}}, Body: `{"message":"You have exceeded a secondary rate limit."}`,
	})
	title := func(card string, i int) string { return fmt.Sprint("Edit ", i, " of ", card) }
	edit := func(i int) {
		for _, card := range cards {
			w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = title(card, i) })
		}
	}
	edit(0)
	w.Await("the limit", func() bool { return limit.Count() > 0 })
	last := 0
	for began := time.Now(); time.Since(began) < wait-time.Second; {
		last++
		edit(last)
		w.polls(3)
	}
	w.Await("the last edits on GitHub", func() bool {
		on := map[string]bool{}
		for _, i := range w.Repo.Issues() {
			on[i.Title] = true
		}
		return !slices.ContainsFunc(cards, func(card string) bool { return !on[title(card, last)] })
	})
	journal := w.GitHub.Journal()
	at := slices.IndexFunc(journal, func(c githubtest.Call) bool { return c.Fault == string(githubtest.Status) })
	told, early := journal[at].Time, 0
	for _, c := range journal[at+1:] {
		after := c.Time.Sub(told)
		if after < wait {
			early++
			t.Logf("%s was sent %v after the limit", c.Op, after.Round(time.Millisecond))
		}
		if after > 2*github.LookEvery && after < wait {
			t.Errorf("%s was sent %v after GitHub had asked to wait %v", c.Op, after, wait)
		}
	}
	t.Logf("%d requests were sent in the %v that GitHub asked to wait", early, wait)
}
