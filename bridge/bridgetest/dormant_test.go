package bridgetest_test

import (
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/config"
	"planbridge/mapping"
)

// reload gives the running bridge another configuration. The secret of the second project, where
// there is one, is in API_SECRET.
func (w *world) reload(text string, second ...*planningtest.Project) {
	w.T.Helper()
	c, err := config.Parse([]byte(text), "planbridge.yaml", func(name string) (string, bool) {
		if name == "API_SECRET" && len(second) > 0 {
			return second[0].Secret(), true
		}
		return w.Env(name)
	})
	if err != nil {
		w.T.Fatal(err)
	}
	if err := w.App.Reload(w.T.Context(), c); err != nil {
		w.T.Fatal(err)
	}
}

// states are those of all links.
func (w *world) states() (all []mapping.LinkState) {
	w.T.Helper()
	err := w.App.Operator().Links(w.T.Context(), "", func(l *mapping.Link) error {
		all = append(all, l.State)
		return nil
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return all
}

// TestRouteIsRemovedWhileACardIsMade: a link whose route goes before it has a card
// goes on where it stood when the route is back, without anybody's touching it.
func TestRouteIsRemovedWhileACardIsMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state mapping.LinkState
		fault planningtest.Fault
	}{
		"before the request":         {mapping.Entering, planningtest.Fault{}},
		"after the answer was lost":  {mapping.Creating, planningtest.Fault{Op: planningtest.OpCardCreate, Kind: planningtest.Drop}},
		"after the request was lost": {mapping.Creating, planningtest.Fault{Op: planningtest.OpCardCreate, Kind: planningtest.DropBefore}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, bridgetest.Options{})
			with, without := w.YAML(), strings.Replace(w.YAML(), "repository: acme/web", "repository: acme/other", 1)
			if c.fault.Op != "" {
				w.Planning.Fault(c.fault)
			} else {
				w.Planning.Down(true)
			}
			n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Interrupted"})
			w.Await("the link", func() bool { return len(w.states()) == 1 && (c.fault.Op == "" || w.states()[0] == c.state) })
			w.reload(without)
			w.Planning.Down(false)
			w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = "Touched" })
			w.Await("a dormant link", func() bool { return w.states()[0] == mapping.Dormant })
			w.reload(with)
			w.Await("one card with the title", func() bool {
				cards := w.Project.Cards()
				return len(cards) == 1 && cards[0].Title == "Interrupted" && w.states()[0] == mapping.Linked
			})
			w.AwaitSettled()
			if got := w.Repo.Issue(n).Comments; len(got) != 0 || len(w.Project.Cards()) != 1 {
				t.Errorf("comments %+v, %d cards", got, len(w.Project.Cards()))
			}
		})
	}
}
