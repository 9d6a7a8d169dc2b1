package reconcile_test

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// TestAnotherRepositoryWhileAnIssueIsMade: a card's issue is being made, and its route is pointed
// at another repository. The card has one issue: a made issue is found, else it is made there.
func TestAnotherRepositoryWhileAnIssueIsMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fate fate
		want string
	}{
		"its answer is lost":   {answerLost, repo},
		"its request is lost":  {lost, elsewhere},
		"it takes effect late": {late, repo},
	} {
		for _, route := range []string{"web", elsewhere} {
			t.Run(name+", the route is called "+route, func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) { w.repointed(c.fate, route, func() {}, c.want) })
			})
		}
	}
}

// TestARenamedRepositoryWhileAnIssueIsMade: the repository has another name before it is known
// whether the card's issue was made. It is looked for under that name.
func TestARenamedRepositoryWhileAnIssueIsMade(t *testing.T) {
	t.Parallel()
	for _, fate := range []fate{answerLost, lost, late} {
		t.Run(string(fate), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.repointed(fate, "web", func() {
					w.hub.renamed = map[string]string{repo: elsewhere}
					for _, i := range w.hub.issues {
						i.Repo = elsewhere
					}
				}, elsewhere)
			})
		})
	}
}

// repointed points a route to another repository while the issue of its card is made, which no
// event reports. It checks that the card has one issue in a repository.
func (w *world) repointed(f fate, route string, meanwhile func(), want string) {
	w.hub.lag = never
	mirrored(w)
	w.befall("CreateIssue", f, func() {})
	w.stepUntil(time.Now().Add(time.Hour), func() bool { return w.faults.fired })
	w.after(time.Minute, func() {
		for _, i := range w.hub.issues {
			w.hub.told[i.ID] = sight(&i.Issue) // no route lists it any more
		}
		meanwhile()
		w.route.Name, w.route.Repositories, w.route.NewCardsIn = route, []string{elsewhere}, elsewhere
		w.restart()
		w.look(w.link(), true)
	})
	w.settle()
	if len(w.hub.issues) != 1 || w.issue().Repo != want {
		w.fail("issues %+v, want one in %s", w.hub.issues, want)
	}
	if l := w.link(); l.State != mapping.Linked || l.Issue.Repo != want || l.Issue.ID != w.issue().ID || len(w.failures()) > 0 {
		w.fail("the link is %s with the issue %+v, failures %+v", l.State, l.Issue, w.failures())
	}
}

// TestAnotherRepositoryTakesTheNameWhileAnIssueIsMade: the repository is renamed while a card's
// issue is made in it, another one gets its name, and an operator accepts that. The card has one
// issue: it is looked for where it was made, and only then made in the accepted repository.
func TestAnotherRepositoryTakesTheNameWhileAnIssueIsMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fate      fate
		now, want string
	}{
		"its answer is lost":                         {answerLost, elsewhere, elsewhere},
		"its request is lost":                        {lost, elsewhere, repo},
		"it takes effect late":                       {late, elsewhere, elsewhere},
		"its request is lost, the repository is not": {lost, "", repo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.hub.lag = never
				mirrored(w)
				w.befall("CreateIssue", c.fate, func() {})
				w.stepUntil(time.Now().Add(time.Hour), func() bool { return w.faults.fired })
				w.after(time.Minute, func() {
					w.hub.formerly, w.hub.forgets = &c.now, true
					for _, i := range w.hub.issues {
						i.Repo = c.now
						w.hub.told[i.ID] = sight(&i.Issue) // no route lists it any more
					}
					w.look(w.link(), true)
				})
				w.settle()
				if len(w.hub.issues) != 1 || w.issue().Repo != c.want {
					w.fail("issues %+v, want one in %s", w.hub.issues, c.want)
				}
				if l := w.link(); l.State != mapping.Linked || l.Issue.ID != w.issue().ID || len(w.failures()) > 0 {
					w.fail("the link is %s with the issue %+v, failures %+v", l.State, l.Issue, w.failures())
				}
			})
		})
	}
}
