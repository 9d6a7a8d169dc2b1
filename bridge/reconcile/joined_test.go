package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// joined is an issue and a card that people made, as an import joins them.
func joined(w *world) {
	w.addCard("tok1", "tok2", "")
	issue := w.hub.open(dev, reconcile.NewIssue{Title: "tok1"})
	link := w.route.JoinIssue(&issue.Issue, mapping.NameCard(w.card()), time.Now().UTC())
	link.Import = mapping.ImportOpen
	w.observe(store.Observation{Refs: []mapping.Ref{mapping.IssueRef(issue.ID), mapping.CardRef(w.card().ID)}}, link)
}

const footer = "Synced by planbridge"

// TestFooterOfAJoinedPair: a card gets the footer of the issue that it was joined with, with any
// answer of planning. The issue is not written before the card has the footer or cannot have it,
// and the two come to agree.
func TestFooterOfAJoinedPair(t *testing.T) {
	t.Parallel()
	edit := func(w *world) { w.editCard(mapping.Summary, line("tok2", "tok2 tok7")) }
	for name, c := range map[string]struct {
		meanwhile func(*world) // right before the first PUT of the card
		want      string
		refused   int
	}{
		"it is taken":                     {func(*world) {}, "tok2", 0},
		"a version conflict with values":  {edit, "tok2 tok7", 0},
		"a version conflict with nothing": {func(w *world) { w.plan.silent = true; edit(w) }, "tok2 tok7", 0},
		"a version conflict that looks like a refusal": {func(w *world) {
			edit(w)
			w.plan.refuse = func(mapping.Attribute, string) *mapping.Rejection {
				w.plan.refuse = nil
				return &mapping.Rejection{Status: 400}
			}
		}, "tok2 tok7", 0},
		"a refusal": {func(w *world) {
			w.plan.refuse = func(_ mapping.Attribute, value string) *mapping.Rejection {
				if strings.Contains(value, footer) {
					return &mapping.Rejection{Status: 400, Message: "no links"}
				}
				return nil
			}
		}, "tok2", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				joined(w)
				puts, bare := 0, 0
				w.faults.armed, w.faults.at = true, -1
				w.faults.before = func(_ int, p point) {
					if p.name == "UpdateCard" {
						if puts++; puts == 1 {
							c.meanwhile(w)
						}
					}
					if p.name == "EditIssue" && !strings.Contains(w.card().Summary.Value, footer) {
						bare++
					}
				}
				w.settle()
				text := w.card().Summary.Value
				if !strings.HasPrefix(text, c.want) || w.issue().Body != c.want {
					w.fail("texts are %q and %q, want %q", text, w.issue().Body, c.want)
				}
				if strings.Contains(text, footer) != (c.refused == 0) || bare > 0 && c.refused == 0 {
					w.fail("the card's text is %q, without a footer when the issue was touched %d times", text, bare)
				}
				w.expectHistory("refused", c.refused)
			})
		})
	}
}

// TestCardOfAJoinedPairGoes: a card that is gone when it is to get its footer ends
// as any other one that is gone.
func TestCardOfAJoinedPairGoes(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		joined(w)
		w.race("UpdateCard", func() { w.plan.gone = true })
		w.settle()
		if l := w.link(); l.State != mapping.Orphaned {
			w.fail("the link is %s, want it orphaned", l.State)
		}
	})
}
