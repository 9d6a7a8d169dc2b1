package reconcile_test

import (
	"testing"

	"planbridge/mapping"
)

// TestTheIssueOfACardGoesWhileTheStoreIsLost: a card's issue is deleted, and the store is lost before
// planbridge learns of it. The card's tracking task names the issue, and the card gets no other one.
func TestTheIssueOfACardGoesWhileTheStoreIsLost(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		mirrored(w)
		w.settle()
		w.issue().deleted = true
		w.loseStore()
		w.polled = map[mapping.Ref]string{}
		w.settle()
		if issues, tasks := len(w.hub.issues), len(w.plan.tasks); issues != 1 || tasks != 1 || len(w.all()) != 0 {
			w.fail("%d issues, %d tasks and %d links; want the deleted issue, its task and no link", issues, tasks, len(w.all()))
		}
	})
}

// TestTheRepositoryOfTheFooterIsRenamed: the footer of a card's task has the old name of the repository,
// which its route takes as well. The issue there is found, or known to be gone.
func TestTheRepositoryOfTheFooterIsRenamed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(w *world)
		links  int
	}{
		"and the issue is there, without its marker": {func(w *world) { w.issue().Repo, w.issue().Body = "acme/new", "no marker" }, 1},
		"and the issue is deleted":                   {func(w *world) { w.issue().deleted = true }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.route.Repositories = []string{"acme/*"}
				w.restart()
				mirrored(w)
				w.settle()
				tt.change(w)
				w.hub.renamed, w.route.NewCardsIn = map[string]string{repo: "acme/new"}, "acme/new"
				w.loseStore()
				w.polled = map[mapping.Ref]string{}
				w.settle()
				if n := len(w.all()); n != tt.links {
					w.fail("%d links, want %d", n, tt.links)
				}
			})
		})
	}
}

// TestACardIsCopiedWithItsTasks: a card's issue is deleted. People copy the card with its tasks, of
// which one names the issue. The copy is a card of its own, and gets an issue.
func TestACardIsCopiedWithItsTasks(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		mirrored(w)
		w.settle()
		w.issue().deleted = true
		w.lookAtAll()
		w.settle()
		w.addCard("copy", body, "3")
		card, task := w.plan.cards[1], *w.plan.tasks[0]
		task.ID, task.Owner = "copied", card.ID
		w.plan.tasks = append(w.plan.tasks, &task)
		card.CountersVersion++
		w.settle()
		if links, issues := len(w.all()), len(w.hub.issues); links != 2 || issues != 2 {
			w.fail("%d links and %d issues, want two of each", links, issues)
		}
	})
}
