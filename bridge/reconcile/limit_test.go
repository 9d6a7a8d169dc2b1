package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/bridge/effects"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// limits are the budgets of writes to GitHub by class.
type limits map[reconcile.WriteClass]store.Budget

// limitedHub takes each write from its budget first, as the adapter does.
type limitedHub struct {
	effects.GitHub
	store  store.Store
	limits *limits
}

func (h *limitedHub) Reserve(ctx context.Context, class reconcile.WriteClass) error {
	b, ok := (*h.limits)[class]
	if !ok || effects.UseReserved(ctx, class) {
		return nil
	}
	b.Name = string(class)
	g, err := h.store.Take(ctx, b, effects.AskOf(ctx))
	if err == nil && g.Items == 0 {
		err = &mapping.RateLimited{API: "github", After: g.Wait, Why: "write budget", Turn: true}
	}
	return err
}

// limited makes one write of a class.
func limited[T any](ctx context.Context, h *limitedHub, class reconcile.WriteClass, write func() (T, error)) (T, error) {
	if err := h.Reserve(ctx, class); err != nil {
		var none T
		return none, err
	}
	return write()
}

func (h *limitedHub) CreateIssue(ctx context.Context, repo string, n reconcile.NewIssue) (mapping.Issue, error) {
	return limited(ctx, h, reconcile.WriteContent, func() (mapping.Issue, error) { return h.GitHub.CreateIssue(ctx, repo, n) })
}

func (h *limitedHub) CreateComment(ctx context.Context, repo string, number int, body string) (reconcile.Comment, error) {
	return limited(ctx, h, reconcile.WriteContent, func() (reconcile.Comment, error) { return h.GitHub.CreateComment(ctx, repo, number, body) })
}

func (h *limitedHub) EditIssue(ctx context.Context, repo string, number int, e reconcile.IssueEdit) (mapping.Issue, error) {
	return limited(ctx, h, reconcile.WriteEdit, func() (mapping.Issue, error) { return h.GitHub.EditIssue(ctx, repo, number, e) })
}

func (h *limitedHub) AddLabels(ctx context.Context, repo string, number int, labels []string) ([]string, error) {
	return limited(ctx, h, reconcile.WriteEdit, func() ([]string, error) { return h.GitHub.AddLabels(ctx, repo, number, labels) })
}

func (h *limitedHub) RemoveLabel(ctx context.Context, repo string, number int, label string) ([]string, error) {
	return limited(ctx, h, reconcile.WriteEdit, func() ([]string, error) { return h.GitHub.RemoveLabel(ctx, repo, number, label) })
}

// defaultLimits are those of the configuration's defaults.
var defaultLimits = limits{
	reconcile.WriteContent: {PerMinute: 70, PerHour: 450, Burst: 20},
	reconcile.WriteEdit:    {PerMinute: 60, Burst: 20},
}

// spamRoute is the route of what comes from now on; existing items keep their own.
func (w *world) spamRoute() {
	w.more = []mapping.Route{w.route}
	w.route.Name, w.route.Labels = "spam", []string{"spam"}
	w.restart()
}

// spam opens issues on it.
func (w *world) spam(issues int) {
	for range issues {
		n := len(w.hub.issues)
		w.hub.open(fmt.Sprint("spammer", n%7), reconcile.NewIssue{Title: fmt.Sprint("tok", n), Labels: []string{"spam"}})
	}
}

// retitle is a person who gives a card another title, and the poll that sees it.
func (w *world) retitle(title string, cards ...*mapping.Card) {
	for _, c := range cards {
		c.Title = mapping.Versioned{Value: title, Version: c.Title.Version + 1}
		c.Version++
	}
	w.poll()
}

// TestFloodLeavesOthersTheirWrites: a flood of one route waits for GitHub's write budgets
// at their defaults. It has labels that show planning, or people's edits. Edits in planning on
// another route reach GitHub in seconds meanwhile. The flood is worked off at the budget's pace.
func TestFloodLeavesOthersTheirWrites(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	for name, tc := range map[string]struct {
		flood int
		begin func(w *world, flood int) // before the limits hold
		pour  func(w *world, flood int)
		done  func(w *world) int // how much of it is written
	}{
		"labels of new issues": {500, func(*world, int) {}, (*world).spam, labelled},
		"people's edits": {300, func(w *world, flood int) {
			w.spam(flood)
			w.settle()
		}, func(w *world, _ int) { w.retitle("flooded", w.plan.cards[1:]...) }, func(w *world) (n int) {
			for _, i := range w.hub.issues[1:] {
				if i.Title == "flooded" {
					n++
				}
			}
			return n
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := inWorld(t, func(w *world) {
				w.openIssue("tok0", "text")
				w.settle()
				card, issue := w.card(), w.hub.issues[0]
				w.spamRoute()
				tc.begin(w, tc.flood)
				w.limits = defaultLimits
				began := time.Now()
				tc.pour(w, tc.flood)
				for time.Since(began) < time.Minute && len(w.errs) == 0 { // it has spent what it can
					w.step()
				}
				if n := tc.done(w); n < 20 || n > 60 {
					w.fail("%d of the flood are written after a minute", n)
				}
				for n := range 5 {
					edited, title := time.Now(), fmt.Sprint("tok", 1000+n)
					w.retitle(title, card)
					for issue.Title != title && time.Since(edited) < 5*time.Minute && len(w.errs) == 0 {
						w.step()
					}
					t.Logf("edit %d beside a flood of %d reached GitHub after %v", n, tc.flood, time.Since(edited))
					if took := time.Since(edited); took > 10*time.Second {
						w.fail("an edit beside a flood reached GitHub after %v", took)
					}
				}
				for tc.done(w) < tc.flood && time.Since(began) < time.Hour && len(w.errs) == 0 {
					w.step()
				}
				t.Logf("the flood was written after %v", time.Since(began))
				if took := time.Since(began); tc.done(w) < tc.flood || took > time.Duration(tc.flood)*2*time.Second {
					w.fail("%d of a flood of %d were written within %v", tc.done(w), tc.flood, took)
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// labelled is how many issues show their card.
func labelled(w *world) (n int) {
	for _, i := range w.hub.issues[1:] {
		if slices.ContainsFunc(i.Labels, func(l string) bool { return l != "spam" }) {
			n++
		}
	}
	return n
}
