package reconcile_test

import (
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestAMarkerComesBackBesideATextThatIsHeld: a person takes the marker off an item while its text is
// not written, for whatever reason. The marker comes back once, the text stays what the person
// wrote, and what holds it goes on holding.
func TestAMarkerComesBackBesideATextThatIsHeld(t *testing.T) {
	t.Parallel()
	refuses := func(text string) func(mapping.Attribute, string) *mapping.Rejection {
		return func(a mapping.Attribute, value string) *mapping.Rejection {
			if a != mapping.Summary || !strings.Contains(value, text) {
				return nil
			}
			return &mapping.Rejection{Field: string(a), Message: "not this"}
		}
	}
	for name, c := range map[string]struct {
		before func(*world)
		hold   func(*world) // the item that has the text
		bare   func(*world) // a person takes the marker off, with the text
		marked mapping.Side
		text   string
		holds  func(*mapping.Link) bool
	}{
		"planning refuses GitHub's text, and a card has no footer": {
			before: linked,
			hold: func(w *world) {
				w.plan.refuse = refuses("tok4")
				w.editIssue(mapping.Summary, to("tok4"))
			},
			bare: func(w *world) { w.editCard(mapping.Summary, to(body)) }, marked: mapping.Planning, text: body,
			holds: func(l *mapping.Link) bool { return l.Refused[mapping.Summary].Side == mapping.Planning },
		},
		"GitHub refuses planning's text, and an issue has no comment": {
			before: mirrored,
			hold: func(w *world) {
				w.hub.refuse = refuses("tok4")
				w.editCard(mapping.Summary, to("tok4"))
			},
			bare: func(w *world) { w.editIssue(mapping.Summary, to("tok5")) }, marked: mapping.GitHub, text: "tok5",
			holds: func(l *mapping.Link) bool { return l.Refused[mapping.Summary].Side == mapping.GitHub },
		},
		"people are asked, and a card has no footer": {
			before: func(w *world) { w.decideBy(mapping.PolicyAsk); linked(w) },
			hold: func(w *world) {
				w.editIssue(mapping.Summary, to("tok4"))
				w.rewriteCard(mapping.Summary, "tok5")
			},
			bare: func(w *world) { w.editCard(mapping.Summary, to("tok5")) }, marked: mapping.Planning, text: "tok5",
			holds: func(l *mapping.Link) bool { return l.Asking[mapping.Summary] != "" },
		},
		"the route goes one way, and an issue has no comment": {
			before: mirrored,
			hold:   func(w *world) { w.route.Direction = mapping.ToGitHub; w.restart() },
			bare:   func(w *world) { w.editIssue(mapping.Summary, to("tok5")) }, marked: mapping.GitHub, text: "tok5",
			holds: func(*mapping.Link) bool { return true },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				c.before(w)
				w.settle()
				c.hold(w)
				w.settle()
				c.bare(w)
				w.settle()
				text := w.card().Summary.Value
				if c.marked == mapping.GitHub {
					text = w.issue().Body
				}
				if bare, marks := keys.Body(text); bare != c.text || len(marks) != 1 {
					w.fail("it says %q, with %d markers", bare, len(marks))
				}
				if l := w.link(); !c.holds(l) {
					w.fail("nothing holds the text: refused %+v, asking %v", l.Refused, l.Asking)
				}
				if marks := w.entries("mark"); len(marks) != 1 {
					w.fail("the history says %+v", marks)
				}
				w.verifyRest()
			})
		})
	}
}

// TestATextThatIsRefusedWithItsMarkerGoesOnWithout: GitHub takes a person's text without the marker
// alone. That is told once and tried once, and the next text gets the marker.
func TestATextThatIsRefusedWithItsMarkerGoesOnWithout(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		mirrored(w)
		w.settle()
		tries := 0
		w.hub.refuse = func(a mapping.Attribute, value string) *mapping.Rejection {
			if _, marks := keys.Body(value); a != mapping.Summary || len(marks) == 0 || !strings.Contains(value, "tok4") {
				return nil
			}
			tries++
			return &mapping.Rejection{Field: "body", Message: "too long"}
		}
		w.editIssue(mapping.Summary, to("tok4"))
		w.settle()
		w.look(w.link(), true)
		w.settle()
		if tries != 1 || w.issue().Body != "tok4" || len(w.entries("refused")) != 1 {
			w.fail("%d tries, the body %q, the history %+v", tries, w.issue().Body, w.entries("refused"))
		}
		w.editIssue(mapping.Summary, to("tok5"))
		w.settle()
		if bare, marks := keys.Body(w.issue().Body); bare != "tok5" || len(marks) != 1 {
			w.fail("the issue says %q", w.issue().Body)
		}
		w.verifyRest()
	})
}
