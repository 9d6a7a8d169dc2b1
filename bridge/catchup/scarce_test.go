package catchup_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
)

// TestScarceRequests: while GitHub's requests are scarce a round lists some of the repositories
// that have news, and the next one begins with the others. New issues are listed in any case.
func TestScarceRequests(t *testing.T) {
	t.Parallel()
	const repos, aRound = 120, 50
	w := newCatchUp(t)
	w.routes = nil
	for i := range repos {
		w.routes = append(w.routes, route(fmt.Sprintf("web%03d", i), "Incoming"))
	}
	news := func() {
		w.hub.now = w.hub.now.Add(10 * time.Minute)
		for i := range repos {
			w.hub.edit(fmt.Sprintf("acme/web%03d", i), int64(i+1), w.hub.now.String())
		}
		w.taken.titles = map[int64]string{}
	}
	w.hub.scarce = true
	news()
	if w.poll(); len(w.taken.titles) != repos {
		t.Fatalf("the first round of a process lists %d repositories, want all %d", len(w.taken.titles), repos)
	}
	news()
	for round, want := range []int{aRound, 2 * aRound, repos} {
		if w.poll(); len(w.taken.titles) != want {
			t.Errorf("after round %d the news of %d repositories are known, want %d", round+1, len(w.taken.titles), want)
		}
	}
	news()
	w.hub.scarce = false
	if w.poll(); len(w.taken.titles) != repos {
		t.Errorf("with requests to spare %d repositories are listed, want all %d", len(w.taken.titles), repos)
	}
	w.hub.scarce = true
	w.poll()
	w.hub.edit("acme/web119", repos, "alone")
	if w.poll(); w.taken.titles[repos] != "alone" {
		t.Error("what is alone in having news is not listed")
	}
}

// TestARepositoryThatFailsHoldsNoOtherBack: the round after one that a repository ended begins with
// the repositories behind it, so that they are adopted and listed.
func TestARepositoryThatFailsHoldsNoOtherBack(t *testing.T) {
	t.Parallel()
	w := newCatchUp(t)
	w.routes = []mapping.Route{route("web", "Incoming"), route("api", "Incoming"), route("docs", "Incoming")}
	w.hub.now = w.hub.now.Add(10 * time.Minute)
	for i, repo := range []string{"acme/web", "acme/api", "acme/docs"} {
		w.hub.edit(repo, int64(i+1), repo)
	}
	w.hub.fail("acme/api", mapping.ErrUnavailable)
	for range 2 {
		if err := w.catchUp.Poll(t.Context()); !errors.Is(err, mapping.ErrUnavailable) {
			t.Errorf("error %v, want unavailable", err)
		}
	}
	if w.taken.titles[1] != "acme/web" || w.taken.titles[3] != "acme/docs" {
		t.Errorf("took in %v", w.taken.titles)
	}
	if doc, err := w.store.Doc(t.Context(), "", "adopted:acme/docs"); err != nil || len(doc) == 0 {
		t.Errorf("acme/docs is not adopted: %q, %v", doc, err)
	}
}
