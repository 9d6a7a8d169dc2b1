package bridgetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

// TestListingsLieWhenTheStoreIsLost: a wrong listing just after the loss of the store proves
// nothing. Cards that this process saw before still exist, and none is made again. Nor is one that
// it made during the wrong listing.
func TestListingsLieWhenTheStoreIsLost(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*testing.T) (url string, keep, lose func()){
		"bolt, deleted": func(t *testing.T) (string, func(), func()) {
			path := filepath.Join(t.TempDir(), "planbridge.db")
			return "file:" + path, func() {}, func() { must(t, os.Remove(path)) }
		},
		"redis, emptied": func(t *testing.T) (string, func(), func()) {
			r := redistest.Start(t)
			return r.URL, func() {}, r.Flush
		},
		"redis, rolled back": func(t *testing.T) (string, func(), func()) {
			r := redistest.Start(t)
			var path string
			var known int64
			return r.URL, func() { path, known = r.Kept() }, func() {
				r.Kill()
				must(t, os.Truncate(path, known))
				r.Restart()
			}
		},
	} {
		for _, kind := range []planningtest.FaultKind{planningtest.EmptyListing, planningtest.HalfListing} {
			for from, hidden := range map[string]bool{"then": false, "before": true} {
				t.Run(fmt.Sprintf("%s, %s, %s", name, kind, from), func(t *testing.T) {
					t.Parallel()
					url, keep, lose := begin(t)
					listingLies(t, bridgetest.Options{LeaseTTL: soon, Store: url}, kind, hidden, keep, lose)
				})
			}
		}
	}
}

func listingLies(t *testing.T, o bridgetest.Options, kind planningtest.FaultKind, hidden bool, keep, lose func()) {
	o.Route = "conflicts: {title: github}" // the base is lost as well
	w := start(t, o)
	w.AwaitSettled()
	var lie *planningtest.ActiveFault
	begin := func() {
		lie = w.Planning.Fault(planningtest.Fault{Op: planningtest.OpBacklogItems, Kind: kind, Times: -1})
	}
	if hidden {
		begin()
	}
	const pairs = 6
	for i := range pairs {
		if i == pairs/2 {
			w.AwaitSettled()
			keep() // as much as comes back, where any does
		}
		w.OpenIssue(githubtest.IssueSpec{Title: fmt.Sprintf("Issue %d", i)})
	}
	w.AwaitSettled()
	if !hidden {
		begin()
	}
	lose()
	edit := func(text string) {
		for n := 1; n <= pairs; n++ {
			w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = fmt.Sprintf("Issue %d %s", n, text) })
		}
	}
	edit("of a lost store")
	// Every repository is looked through, and many rounds would do.
	before := lie.Count()
	w.Await("rounds over the listing that lies", func() bool { return lie.Count() >= before+30 })
	edit("once more")
	lie.Remove()
	w.Await("the last titles", func() bool {
		last := 0
		for _, c := range w.Project.Cards() {
			for n := 1; n <= pairs; n++ {
				if c.Title == fmt.Sprintf("Issue %d once more", n) {
					last++
				}
			}
		}
		return last >= pairs
	})
	w.AwaitSettled()
	if n := len(w.Project.Cards()); n != pairs {
		t.Errorf("%d cards, want %d", n, pairs)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
