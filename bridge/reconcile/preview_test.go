package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"planbridge/mapping"
)

// preview is what an operator is shown of the first link.
func (w *world) preview() *mapping.Preview {
	p, err := w.recon.Preview(context.Background(), w.link())
	w.check(err)
	return p
}

// held is what both services and the store have of the first pair.
func (w *world) held() string {
	return fmt.Sprintf("%+v %+v %s", w.issue().Issue, *w.card(), encode(w.link()))
}

// bothTitles are people who change both titles.
func bothTitles(w *world) {
	w.editIssue(mapping.Title, to("tok2"))
	w.editCard(mapping.Title, to("tok3"))
}

// TestPreviewSaysWhatIsDone: the plan of the next reconcile is returned, and is not carried out.
func TestPreviewSaysWhatIsDone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do   func(*world)
		says []string // attribute and action of each decision
		ends values   // once it is done
	}{
		"nothing":         {func(*world) {}, nil, values{mapping.Title: "tok1"}},
		"GitHub's title":  {func(w *world) { w.editIssue(mapping.Title, to("tok2")) }, []string{"title to_planning"}, values{mapping.Title: "tok2"}},
		"planning's":      {func(w *world) { w.editCard(mapping.Title, to("tok3")) }, []string{"title to_github"}, values{mapping.Title: "tok3"}},
		"both to another": {bothTitles, []string{"title conflict"}, values{mapping.Title: "tok3"}},
		"two attributes": {func(w *world) {
			w.editIssue(mapping.Title, to("tok2"))
			w.editCard(mapping.Estimate, to("5"))
		}, []string{"estimate to_github", "title to_planning"}, values{mapping.Title: "tok2", mapping.Estimate: "5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				tt.do(w)
				was := w.held()
				p := w.preview()
				var says []string
				for _, d := range p.Plan.Decisions {
					says = append(says, fmt.Sprintf("%s %s", d.Attribute, d.Action))
				}
				slices.Sort(says)
				if !slices.Equal(says, tt.says) || len(p.Unread) > 0 {
					w.fail("it says %q, unread %v, want %q", says, p.Unread, tt.says)
				}
				if now := w.held(); now != was {
					w.fail("it was %s, and is %s", was, now)
				}
				w.settle()
				for a, want := range tt.ends {
					if got := cardAttrs(w.card())[a].Value; got != want {
						w.fail("%s ends as %q, want %q", a, got, want)
					}
				}
			})
		})
	}
}

// TestPreviewOfWhatCannotBeRead: an item that is gone is said to be unread, and of a link that
// nobody works nothing is said.
func TestPreviewOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do     func(*world)
		unread []mapping.Side // nil: nothing is previewed
	}{
		"the issue is gone": {func(w *world) { w.issue().deleted = true }, []mapping.Side{mapping.GitHub}},
		"the card is gone":  {func(w *world) { w.plan.cards = nil }, []mapping.Side{mapping.Planning}},
		"no route has it": {func(w *world) {
			w.route.Name, w.route.Repositories = "other", []string{"acme/other"}
			w.restart()
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				tt.do(w)
				p := w.preview()
				if p == nil {
					if tt.unread != nil {
						w.fail("nothing is previewed")
					}
					return
				}
				var unread []mapping.Side
				for side := range mapping.Sorted(p.Unread) {
					unread = append(unread, side)
				}
				if !slices.Equal(unread, tt.unread) || len(p.Plan.Decisions) > 0 {
					w.fail("unread are %v, decided is %+v", p.Unread, p.Plan.Decisions)
				}
			})
		})
	}
}

// TestUndo: the loser of a conflict comes back on both sides, unless the value was changed since.
func TestUndo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		policy mapping.Policy
		a      mapping.Attribute
		before func(*world) // both sides change
		since  func(*world) // between the conflict and the undo; nil: nothing
		ends   string
		undone bool
	}{
		"GitHub lost":              {mapping.PolicyPlanning, mapping.Title, bothTitles, nil, "tok2", true},
		"planning lost":            {mapping.PolicyGitHub, mapping.Title, bothTitles, nil, "tok3", true},
		"GitHub's estimate lost":   {mapping.PolicyPlanning, mapping.Estimate, bothEstimates, nil, "5", true},
		"planning's estimate lost": {mapping.PolicyGitHub, mapping.Estimate, bothEstimates, nil, "8", true},
		"changed since on GitHub": {mapping.PolicyPlanning, mapping.Title, bothTitles, func(w *world) {
			w.editIssue(mapping.Title, to("tok4"))
		}, "tok4", false},
		"changed since in planning": {mapping.PolicyGitHub, mapping.Title, bothTitles, func(w *world) {
			w.editCard(mapping.Title, to("tok4"))
		}, "tok4", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.route.DefaultPolicy = tt.policy
				w.restart()
				w.agree()
				tt.before(w)
				w.settle()
				if len(w.conflicts()) != 1 {
					w.fail("%d conflicts", len(w.conflicts()))
					return
				}
				if tt.since != nil {
					tt.since(w)
					w.settle()
				}
				w.alter(func(l *mapping.Link) { l.Undo = map[mapping.Attribute]string{tt.a: w.conflicts()[0].ID} })
				w.settle()
				issue, _ := mapping.IssueView(&w.issue().Issue, scheme, keys, nil)
				if g, p := issue[tt.a].Value, cardAttrs(w.card())[tt.a].Value; g != tt.ends || p != tt.ends {
					w.fail("it is %q on GitHub and %q in planning, want %q", g, p, tt.ends)
				}
				if undone := w.conflicts()[0].State == mapping.ConflictUndone; undone != tt.undone || w.says("is not undone: the value was changed since") == tt.undone {
					w.fail("the conflict is %s", w.conflicts()[0].State)
				}
				if len(w.link().Undo) != 0 {
					w.fail("the undo waits: %v", w.link().Undo)
				}
			})
		})
	}
}

// bothEstimates are people who change both estimates.
func bothEstimates(w *world) {
	w.editIssue(mapping.Estimate, to("5"))
	w.editCard(mapping.Estimate, to("8"))
}

// TestMoveIsPlanned: a move's plan for a pair is returned, with why one stays or is kept.
func TestMoveIsPlanned(t *testing.T) {
	t.Parallel()
	planned := "card card1 stays in project web, and the issue gets a card in bucket Incoming of project other"
	for name, tt := range map[string]struct {
		do              func(*world)
		step            string // one of the steps
		stays, hindered string
	}{
		"a pair":  {func(*world) {}, planned, "", ""},
		"parted":  {func(w *world) { w.alter(func(l *mapping.Link) { l.Parted = true }) }, "", "an operator parted it", ""},
		"not yet": {func(w *world) { w.alter(func(l *mapping.Link) { l.State = mapping.Entering }) }, "it has no card yet, and gets one where its route leads", "", ""},
		"is gone": {func(w *world) { w.issue().deleted = true }, "", "", "cannot be looked at: "},
		"asked": {func(w *world) {
			w.alter(func(l *mapping.Link) { l.Asking = map[mapping.Attribute]string{mapping.Title: "id"} })
		}, "", "", "people are asked about the title"},
		"refused": {func(w *world) {
			w.alter(func(l *mapping.Link) {
				l.Refused = map[mapping.Attribute]mapping.Refusal{mapping.Summary: {Side: mapping.GitHub, Message: "it is too long"}}
			})
		}, "", "", "GitHub refuses the summary of acme/web#1 that planning has: it is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				tt.do(w)
				w.pointElsewhere()
				was := w.held()
				p, err := w.recon.PlanMove(context.Background(), w.link(), mapping.NewRoutes([]mapping.Route{w.route}, w.planned...))
				w.check(err)
				steps := ""
				for _, s := range p.Steps {
					steps += s.What + "\n"
				}
				if p.Stays != tt.stays || !strings.Contains(p.Hindered, tt.hindered) || (p.Hindered == "") != (tt.hindered == "") || !strings.Contains(steps, tt.step) || (steps == "") != (tt.step == "") {
					w.fail("planned is %+v", p)
				}
				if now := w.held(); now != was {
					w.fail("it was %s, and is %s", was, now)
				}
			})
		})
	}
}
