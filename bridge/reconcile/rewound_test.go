package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// reads counts how often the bridge reads an issue from now on.
func (w *world) reads(name string) *int {
	n := new(int)
	w.faults.armed, w.faults.at = true, -1
	w.faults.before = func(_ int, p point) {
		if p.name == name {
			*n++
		}
	}
	return n
}

// TestGitHubIsRestored: a GitHub server that was restored from a backup shows an older issue with
// older times. It is read a few times, then it is believed: people's changes in planning go on
// crossing, and conflicting values are kept.
func TestGitHubIsRestored(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		backup := w.issue().snapshot("")
		time.Sleep(time.Hour)
		w.editIssue(mapping.Title, to("tok9"))
		w.settle()
		w.hub.lag, w.issue().Issue = never, backup
		w.hub.told[backup.ID] = sight(&backup) // its catch-up asks for what is newer
		reads := w.reads("Issue")
		w.editCard(mapping.Estimate, to("8"))
		w.settle()
		if *reads > 20 {
			w.fail("the issue was read %d times", *reads)
		}
		w.hub.lag = nil
		w.verify(ends{want: values{mapping.Title: "tok9", mapping.Estimate: "8"}, conflicts: 1})
	})
}

// TestGitHubsClockWentBack: people's texts while GitHub's clock is behind cross, and do not count
// as late deliveries.
func TestGitHubsClockWentBack(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.hub.clock = -time.Hour
		reads := w.reads("Issue")
		w.editIssue(mapping.Title, to("tok9"))
		w.settle()
		w.editCard(mapping.Estimate, to("8"))
		w.settle()
		w.editIssue(mapping.Summary, line("tok2", "tok2 tok7"))
		w.settle()
		if *reads > 20 {
			w.fail("the issue was read %d times", *reads)
		}
		w.verify(ends{want: values{mapping.Title: "tok9", mapping.Estimate: "8", mapping.Summary: "tok2 tok7\n\nmiddle\n\ntok3"}})
	})
}

// TestADeliveryIsMadeAgain: a delivery that failed comes an hour late. A person's change from then
// is read anew, as GitHub may have gone back to it. To the moment of an opening it cannot go back.
func TestADeliveryIsMadeAgain(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		late  func(w *world)
		reads int
	}{
		"an opening": {func(w *world) { w.openIssue("tok1", body) }, 0},
		"an edit": {func(w *world) {
			w.hub.lag = nil
			w.agree()
			w.hub.lag = never
			w.editIssue(mapping.Title, to("tok8"))
		}, 1},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.hub.lag = never
				tt.late(w)
				was := w.issue().snapshot(dev)
				w.settle()
				time.Sleep(time.Minute)
				w.hub.lag = nil
				w.editIssue(mapping.Title, to("tok9"))
				w.settle()
				time.Sleep(time.Hour)
				reads, now := w.reads("Issue"), w.issue().Issue
				w.issue().Issue = was
				w.hub.tell(w.issue(), dev, nil)
				w.issue().Issue = now
				w.settle()
				if *reads != tt.reads {
					w.fail("%d reads tell that it is late, want %d", *reads, tt.reads)
				}
				w.verify(ends{want: values{mapping.Title: "tok9"}})
			})
		})
	}
}

// TestGitHubDoesNotAgreeWithItself: a key that is put off for the same reason over and over is
// tried less and less. Then an operator sees it.
func TestGitHubDoesNotAgreeWithItself(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.hub.torn = true
		reads := w.reads("Issue")
		w.editCard(mapping.Title, to("tok9"))
		w.settle()
		if *reads > 300 {
			w.fail("the issue was read %d times", *reads)
		}
		failures, err := w.store.Failures(context.Background(), project, 10)
		if w.check(err); len(failures) != 1 || !strings.Contains(failures[0].Reason, "does not agree with itself") {
			w.fail("failures %+v", failures)
		}
		w.hub.torn = false
		w.editCard(mapping.Title, to("tok8"))
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok8"}})
	})
}

// TestPlanningIsRestored: cards that come back from a backup have lower versions. They are met like
// any others: the policy decides differences, and losers are kept; people's later texts cross.
func TestPlanningIsRestored(t *testing.T) {
	t.Parallel()
	for policy, title := range map[mapping.Policy]string{mapping.PolicyMerge: "tok1", mapping.PolicyGitHub: "tok9"} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(policy)
				w.agree()
				card, tasks := *w.card(), []mapping.Task{}
				for _, task := range w.plan.tasks {
					tasks = append(tasks, *task)
				}
				for _, title := range []string{"tok5", "tok6", "tok9"} {
					w.editIssue(mapping.Title, to(title))
					w.settle()
				}
				w.editCard(mapping.State, to(mapping.StateDone))
				w.settle()
				w.editCard(mapping.State, to(mapping.StateInProgress))
				w.settle()
				*w.card() = card
				for i := range tasks {
					*w.plan.tasks[i] = tasks[i]
				}
				w.settle()
				state := mapping.StateTodo
				if policy == mapping.PolicyGitHub {
					state = mapping.StateInProgress
				}
				w.verify(ends{want: values{mapping.Title: title, mapping.State: state}, conflicts: 2})
				w.editCard(mapping.Estimate, to("8"))
				w.settle()
				w.editCard(mapping.State, to(mapping.StateDone))
				w.settle()
				w.verify(ends{want: values{mapping.Title: title, mapping.Estimate: "8", mapping.State: mapping.StateDone}, conflicts: 2})
			})
		})
	}
}
