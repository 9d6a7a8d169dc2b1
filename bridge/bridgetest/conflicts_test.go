package bridgetest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// collide gives the title two values at once and returns the conflict's ledger entry.
func (w *world) collide(n int, card, github, planning string) mapping.Conflict {
	w.T.Helper()
	goOn := w.Hold()
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = github })
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = planning })
	goOn()
	return w.awaitConflict(github, planning)
}

// awaitConflict waits until the texts of a conflict are kept, and returns its ledger entry.
func (w *world) awaitConflict(github, planning string) (c mapping.Conflict) {
	w.T.Helper()
	w.Await("a conflict about "+github, func() bool {
		cs, err := w.App.Operator().Conflicts(w.T.Context(), 100)
		for _, x := range cs {
			if x.GitHub == github && x.Planning == planning && len(x.Comments) > 0 {
				c = x
			}
		}
		return err == nil && c.ID != ""
	})
	return c
}

func TestOperatorResolvesAsk(t *testing.T) { onBothStores(t, operatorResolvesAsk) }

func operatorResolvesAsk(t *testing.T, o bridgetest.Options) {
	o.Route = "conflicts: {default: ask}"
	w := start(t, o)
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "asked"})
	for _, winner := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		g, p := "github says "+string(winner), "planning says "+string(winner)
		c := w.collide(n, card, g, p)
		w.Await("the label", func() bool { return slices.Contains(w.Repo.Issue(n).Labels, "plan:conflict") })
		w.AwaitSettled()
		if w.Repo.Issue(n).Title != g || w.Project.Card(card).Title != p {
			t.Fatal("a title was overwritten while it was asked")
		}
		if err := w.App.Operator().ResolveConflict(t.Context(), c.ID, winner); err != nil {
			t.Fatal(err)
		}
		want := g
		if winner == mapping.Planning {
			want = p
		}
		w.Await("the winner on both sides and no label", func() bool {
			i := w.Repo.Issue(n)
			return i.Title == want && w.Project.Card(card).Title == want && !slices.Contains(i.Labels, "plan:conflict")
		})
		w.AwaitSettled()
	}
	if got := len(w.Repo.Issue(n).Comments); got != 2 {
		t.Errorf("%d comments, want one for each conflict", got)
	}
	for _, winner := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		name := `conflicts_total{attribute="title",resolution="` + string(winner) + `",route="acme/web"}`
		if got, err := w.Metric(name); got != "1" || err != nil {
			t.Errorf("%s is %s, %v, want the operator's choice counted", name, got, err)
		}
	}
}

// TestPartingEndsQuestions: a pair that was parted asks nothing, and nothing of it can be undone.
// One that is linked again asks again.
func TestPartingEndsQuestions(t *testing.T) {
	for name, part := range map[string]func(*world) error{
		"unlinked": func(w *world) error { return w.App.Operator().Unlink(w.T.Context(), "acme/web#1") },
		"taken apart": func(w *world) error {
			return w.App.Operator().Clean(w.T.Context(), status.CleanAsk{Item: "acme/web#1"}, func(change func(*status.Job)) { change(&status.Job{Clean: &status.CleanResult{}}) })
		},
	} {
		t.Run(name, func(t *testing.T) { partingEndsQuestions(t, part) })
	}
}

func partingEndsQuestions(t *testing.T, part func(*world) error) {
	w := start(t, bridgetest.Options{Route: "conflicts: {default: ask, estimate: planning}"})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "asked"})
	c := w.collide(n, card, "octocat's", "alice's")
	w.AwaitSettled()
	if err := part(w); err != nil {
		t.Fatal(err)
	}
	all, err := w.App.Operator().Conflicts(t.Context(), 10)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if got := all[0]; got.State != mapping.ConflictSettled || got.Winner != "" || got.Rule != "the pair was parted" || got.GitHub != "octocat's" || got.Planning != "alice's" {
		t.Errorf("the ledger has %+v", got)
	}
	if open, counts, err := w.App.Operator().Questions(t.Context(), "", 10); len(open)+counts["acme/web"] > 0 || err != nil {
		t.Errorf("open questions %v, %v, %v", open, counts, err)
	}
	if page := w.asked("/"); strings.Contains(page, "waits for an answer") || strings.Contains(page, "Write back what lost") {
		t.Errorf("the page asks about a parted pair:\n%s", page)
	}
	if _, err := w.App.Operator().Link(t.Context(), "acme/web#1", card); err != nil {
		t.Fatal(err)
	}
	w.Await("the question again", func() bool {
		open, _, err := w.App.Operator().Questions(t.Context(), "", 10)
		return err == nil && len(open) == 1 && open[0].ID == c.ID && slices.Contains(w.Repo.Issue(n).Labels, "plan:conflict")
	})
	if err := w.App.Operator().ResolveConflict(status.WithActor(t.Context(), "carol"), c.ID, mapping.GitHub); err != nil {
		t.Fatal(err)
	}
	w.Await("the answer on both sides", func() bool {
		return w.Project.Card(card).Title == "octocat's" && !slices.Contains(w.Repo.Issue(n).Labels, "plan:conflict")
	})
	w.AwaitSettled()
	if page := w.asked("/"); !regexp.MustCompile("<strong>carol</strong> answered: GitHub&#39;s title of <[^>]*>acme/web#1</a> holds; the card followed").MatchString(page) {
		t.Errorf("the page does not say that carol answered:\n%s", page)
	}
	if all, err := w.App.Operator().Conflicts(t.Context(), 10); err != nil || len(all) != 1 || all[0].AnsweredBy != "carol" || all[0].Rule != "carol answered: github" {
		t.Errorf("the ledger has %+v, %v", all, err)
	}
}

func TestOperatorUndoes(t *testing.T) { onBothStores(t, operatorUndoes) }

func operatorUndoes(t *testing.T, o bridgetest.Options) {
	w := start(t, o)
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "undone"})
	c := w.collide(n, card, "octocat's", "alice's")
	w.Await("planning's title on both sides", func() bool { return w.Repo.Issue(n).Title == "alice's" })
	w.AwaitSettled()
	seen := strings.Count(w.asked("/"), "renamed")
	if err := w.App.Operator().UndoConflict(status.WithActor(t.Context(), "carol"), c.ID); err != nil {
		t.Fatal(err)
	}
	w.Await("the loser on both sides", func() bool {
		return w.Repo.Issue(n).Title == "octocat's" && w.Project.Card(card).Title == "octocat's"
	})
	w.AwaitSettled()
	page := w.asked("/")
	_, activity, _ := strings.Cut(page, `id="activity`)
	for _, shows := range []string{"the issue", "the card"} {
		if !regexp.MustCompile("<strong>carol</strong> undid a conflict about the title of <[^>]*>acme/web#1</a>; " + shows + " shows what had lost").MatchString(page) {
			t.Errorf("the page does not say that carol undid it, and that %s shows it:\n%s", shows, activity)
		}
	}
	if got := strings.Count(page, "renamed"); got != seen {
		t.Errorf("the page tells the undo as a person's edit:\n%s", page)
	}
	err := w.App.Operator().UndoConflict(t.Context(), c.ID)
	if err == nil || !strings.Contains(err.Error(), "undone") {
		t.Errorf("undone twice: %v", err)
	}
}
