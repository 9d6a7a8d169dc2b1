package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// TestTheRouteMakesNoIssuesMeanwhile: a card's issue is being made, and a reload takes new_cards_in
// away. Made items are found. Else the card waits, says so, and gets its one issue once the route
// makes issues again.
func TestTheRouteMakesNoIssuesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fate  fate
		waits bool
	}{
		"it was not sent":      {unavailable, true},
		"its request is lost":  {lost, true},
		"its answer is lost":   {answerLost, false},
		"it takes effect late": {late, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.hub.lag = never
				mirrored(w)
				w.befall("CreateIssue", c.fate, func() { w.hub.lag = nil })
				w.stepUntil(time.Now().Add(time.Hour), func() bool { return w.faults.fired })
				w.newCardsIn("")
				w.settle()
				if waits := w.awaitsRoute(); waits != c.waits {
					w.fail("the card waits: %t, and %d issues", waits, len(w.hub.issues))
				}
				w.newCardsIn(repo)
				w.settle()
				w.verify(ends{want: values{mapping.Title: "tok1"}})
			})
		})
	}
}

// TestTheRouteMakesNoIssuesBeforeACardEnters: a card was seen, and has not entered when a reload
// takes new_cards_in away. It waits as well, and another route of its bucket takes it.
func TestTheRouteMakesNoIssuesBeforeACardEnters(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]bool{"the option is back": false, "another route takes it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				mirrored(w)
				w.stepUntil(time.Now().Add(time.Hour), func() bool { return len(w.links()) > 0 })
				w.newCardsIn("")
				w.settle()
				if !w.awaitsRoute() || len(w.hub.issues) > 0 {
					w.fail("the card does not wait: %d issues", len(w.hub.issues))
				}
				if other {
					more := w.route
					more.Name, more.NewCardsIn = "more", repo
					w.more = append(w.more, more)
					w.newCardsIn("")
				} else {
					w.newCardsIn(repo)
				}
				w.settle()
				w.verify(ends{want: values{mapping.Title: "tok1"}})
			})
		})
	}
}

// newCardsIn is a reload that says in which repository the route makes issues; "": in none.
func (w *world) newCardsIn(repository string) {
	w.route.NewCardsIn = repository
	w.restart()
	for _, l := range w.links() {
		w.look(l, false)
	}
}

// awaitsRoute reports whether the pair is dormant as its route makes no issues, and tells so.
func (w *world) awaitsRoute() bool {
	links := w.links()
	if len(links) != 1 {
		w.fail("%d links, want one", len(links))
		return false
	}
	l := links[0]
	return l.State == mapping.Dormant && strings.Contains(l.Why, "makes no issues") && w.says("dormant "+l.Why)
}
