package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// GitHub stamps whole seconds: that a poll of the same second did not show
// planning's edit does not tell that it was the later one.
func TestNewestWithinASecond(t *testing.T) {
	passes(t, func(w *world) {
		w.decideBy(mapping.PolicyNewest)
		w.agree()
		w.hub.lag = func(int) time.Duration { return -1 }
		meet(w, "tok8", "tok9")
		if issue, card := w.issue().Title, w.plan.cards[0].Title.Value; issue != "tok8" || card != "tok9" {
			t.Errorf("the issue is called %q and the card %q, want people asked", issue, card)
		}
	})
}

// TestNewestStaysAsked: the times of another edit do not decide an open question. The issue's and
// the card's times do not count any more once the title was edited. An edit of the title itself is
// a new conflict.
func TestNewestStaysAsked(t *testing.T) {
	t.Parallel()
	const later = 10 * time.Second
	for name, c := range map[string]struct {
		edit        func(*world)
		issue, card string
	}{
		"the issue's text": {func(w *world) { w.rewriteIssue(mapping.Summary, "tok3") }, "tok8", "tok9"},
		"the card's text":  {func(w *world) { w.rewriteCard(mapping.Summary, "tok3") }, "tok8", "tok9"},
		"the issue's title": {func(w *world) {
			w.hub.lag = nil // its event tells when
			w.editIssue(mapping.Title, to("tok7"))
		}, "tok7", "tok7"},
		"the card's title": {func(w *world) { w.rewriteCard(mapping.Title, "tok7") }, "tok7", "tok7"},
		"both titles, then the card's text": {func(w *world) {
			meet(w, "tok6", "tok7")
			time.Sleep(later)
			w.rewriteCard(mapping.Summary, "tok3")
		}, "tok6", "tok7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(mapping.PolicyNewest)
				w.agree()
				w.hub.lag = func(int) time.Duration { return -1 }
				meet(w, "tok8", "tok9")
				time.Sleep(later)
				c.edit(w)
				w.settle()
				if issue, card := w.issue().Title, w.plan.cards[0].Title.Value; issue != c.issue || card != c.card {
					w.fail("the issue is called %q and the card %q, want %q and %q", issue, card, c.issue, c.card)
				}
				open := slices.DeleteFunc(w.conflicts(), func(x mapping.Conflict) bool { return x.State != mapping.ConflictOpen })
				if asked := c.issue != c.card; asked && (len(open) != 1 || open[0].GitHub != c.issue) || !asked && len(open) > 0 {
					w.fail("asked is %+v", open)
				}
			})
		})
	}
}

// TestNewestComparesTheAttribute: other edits on either side, before or after the titles and before
// they were worked, do not decide which title is newer.
func TestNewestComparesTheAttribute(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		texts, titles []time.Duration // when they are edited: on GitHub, in planning
		want          string
	}{
		"GitHub's text first, its title last":     {[]time.Duration{5 * time.Second, -1}, []time.Duration{80 * time.Second, 40 * time.Second}, "tok8"},
		"GitHub's title first, its text last":     {[]time.Duration{85 * time.Second, -1}, []time.Duration{5 * time.Second, 65 * time.Second}, "tok9"},
		"planning's title first, its text last":   {[]time.Duration{-1, 65 * time.Second}, []time.Duration{40 * time.Second, 20 * time.Second}, "tok8"},
		"planning's text first, its title last":   {[]time.Duration{-1, 5 * time.Second}, []time.Duration{40 * time.Second, 65 * time.Second}, "tok9"},
		"planning's title first, its points last": {[]time.Duration{-1, -1}, []time.Duration{40 * time.Second, 20 * time.Second}, "tok8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(mapping.PolicyNewest)
				w.agree()
				work := w.workNothing()
				at := func(d time.Duration, do func()) {
					if d >= 0 {
						w.after(d, do)
					}
				}
				at(c.texts[0], func() { w.rewriteIssue(mapping.Summary, "tok20") })
				at(c.texts[1], func() { w.rewriteCard(mapping.Summary, "tok21") })
				at(c.titles[0], func() { w.editIssue(mapping.Title, to("tok8")) })
				at(c.titles[1], func() { w.editCard(mapping.Title, to("tok9")) })
				if strings.Contains(name, "points") {
					at(65*time.Second, func() { w.editCard(mapping.Estimate, to("5")) })
				}
				work()
				w.verify(ends{want: values{mapping.Title: c.want}, conflicts: 1})
			})
		})
	}
}

// workNothing has the services away right after a poll, of which the next one is in 30 s. The
// function that it returns lets 100 s pass, has them back, and waits until all is worked.
func (w *world) workNothing() (work func()) {
	time.Sleep(time.Until(w.next))
	w.poll()
	w.faults.armed = true
	w.faults.draw = func(p point) fate {
		if p.kind == "read" || p.kind == "write" {
			return unavailable
		}
		return ""
	}
	return func() {
		w.stepUntil(time.Now().Add(100*time.Second), func() bool { return false })
		w.faults.draw, w.faults.armed = nil, false
		w.settle()
	}
}

// TestNewestComparesTheTextAroundAList: a box that somebody ticks does not make the text around
// the list newer. Seed 78000111 had an older text win.
func TestNewestComparesTheTextAroundAList(t *testing.T) {
	for name, lose := range map[string]bool{"the event of the text arrives": false, "it is lost": true} {
		t.Run(name, func(t *testing.T) {
			onList(t, func(w *world) {
				w.decideBy(mapping.PolicyNewest)
				work := w.workNothing()
				w.after(5*time.Second, func() {
					if lose {
						w.hub.lag = func(int) time.Duration { return -1 }
					}
					w.editIssue(mapping.Summary, line("above", "tok8"))
				})
				w.after(65*time.Second, func() { w.editCard(mapping.Summary, line("above", "tok9")) })
				w.after(95*time.Second, func() {
					w.hub.lag = nil
					w.editIssue(mapping.Summary, line("- [ ] kept", "- [x] kept"))
				})
				work()
				issue, card := w.issue().Body, w.card().Summary.Value
				if has := strings.Contains; lose && !(has(issue, "tok8") && has(card, "tok9")) || !lose && !(has(issue, "tok9") && has(card, "tok9")) {
					t.Errorf("the issue says %q and the card %q, want people asked: %t, else planning's", issue, card, lose)
				}
			})
		})
	}
}

// meet edits both titles in the same second, but not before a poll of it.
func meet(w *world, issue, card string) {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(1800 * time.Millisecond)))
	w.poll()
	w.editIssue(mapping.Title, to(issue))
	w.rewriteCard(mapping.Title, card)
	w.settle()
}

// TestQuestionStaysOpenUntilItIsDecided: a poll tells which of two titles that people were
// asked about is newer, but GitHub is away and nothing is written. The next
// poll, of another process, does not tell it: people are still asked.
func TestQuestionStaysOpenUntilItIsDecided(t *testing.T) {
	passes(t, func(w *world) {
		w.decideBy(mapping.PolicyNewest)
		w.agree()
		workOne := func() {
			if claim, _, err := w.store.Claim(t.Context(), project, time.Minute); err != nil || claim == nil {
				w.fail("claim %+v, %v", claim, err)
			} else {
				w.work(claim)
			}
		}
		w.editIssue(mapping.Title, to("tok8"))
		time.Sleep(5 * time.Second)
		w.poll()
		time.Sleep(2 * time.Second)
		w.rewriteCard(mapping.Title, "tok9")
		w.keepAppointments() // the event comes
		workOne()            // planning refuses GitHub's title
		if len(w.asked()) != 1 {
			w.fail("asked is %+v, want one title", w.asked())
		}
		time.Sleep(5 * time.Second)
		w.poll()
		w.faults.armed = true
		w.faults.draw = func(p point) fate {
			if p.name == "EditIssue" {
				return unavailable
			}
			return ""
		}
		workOne()
		w.faults.draw, w.faults.armed = nil, false
		if len(w.asked()) != 1 {
			w.fail("asked is %+v, though nothing was written", w.asked())
		}
		w.versions[w.card().ID], w.changed[w.card().ID] = w.card().Versions(), nil
		w.rewriteCard(mapping.Summary, "tok3")
		w.settle()
		issue, card := w.issue().Title, w.card().Title.Value
		if asked := w.asked(); issue != card && len(asked) != 1 {
			w.fail("the issue is called %q and the card %q, asked is %+v", issue, card, asked)
		}
	})
}

// TestNewestIsNotDatedByOurOwnWrite: the summary is edited on GitHub, without an event, and
// later in planning, while the bridge writes the title. The answer to that write shows
// GitHub's edit first. It tells nothing of when that was made, least that it is the later one.
func TestNewestIsNotDatedByOurOwnWrite(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"in the same claim": false, "in another claim as well": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(mapping.PolicyNewest)
				w.agree()
				w.hub.lag = func(int) time.Duration { return -1 }
				wait := func() { time.Sleep(3 * time.Second) }
				written, refused := false, !again
				w.faults.armed = true
				w.faults.draw = func(p point) fate {
					switch {
					case written && !refused && p.kind == "write":
						refused = true
						return unavailable
					case p.name == "EditIssue" && !written:
						written = true
						w.rewriteIssue(mapping.Summary, "tok3")
						wait()
						w.poll()
						w.rewriteCard(mapping.Summary, "tok4")
						wait()
						w.poll()
						wait()
					}
					return ""
				}
				w.rewriteCard(mapping.Title, "tok9")
				wait()
				w.settle()
				w.faults.draw, w.faults.armed = nil, false
				w.settle()
				issue, card := w.issue(), w.card()
				if issue.Title != "tok9" || !strings.HasPrefix(issue.Body, "tok3") || !strings.HasPrefix(card.Summary.Value, "tok4") || len(w.asked()) != 1 {
					w.fail("the issue is %q %q and the card %q, asked is %+v; want people asked", issue.Title, issue.Body, card.Summary.Value, w.asked())
				}
			})
		})
	}
}

// TestNewestDoesNotDateAMarker: the footer that a joined card gets makes a version of its text, and no
// edit of planning. Seed 115500236 of the random run had planning's older text win.
func TestNewestDoesNotDateAMarker(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.decideBy(mapping.PolicyNewest)
		joined(w)
		work := w.workNothing()
		w.after(5*time.Second, func() { w.editIssue(mapping.Summary, to("tok8")) })
		work()
		time.Sleep(time.Minute)
		w.rewriteIssue(mapping.Title, "tok9") // it is decided once more
		w.settle()
		if issue, card := w.issue().Body, w.card().Summary.Value; !strings.Contains(issue, "tok8") || !strings.Contains(card, "tok2") {
			w.fail("the issue says %q and the card %q, want people asked", issue, card)
		}
	})
}
