package reconcile_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
)

// A state has three values, so that a person may set the one that a write of ours was to set.
// Where nobody can tell whose it is, none of them is taken for agreed on.

// keepsState fails the world unless a state stands on a side or was kept in a conflict.
func (w *world) keepsState(state string) {
	g, p := w.views()
	if g[mapping.State].Value != state && p[mapping.State].Value != state && !slices.ContainsFunc(w.conflicts(), func(c mapping.Conflict) bool {
		return c.Attribute == mapping.State && (c.GitHub == state || c.Planning == state)
	}) {
		w.fail("%s is nowhere: %q, %q, conflicts %+v", state, g[mapping.State].Value, p[mapping.State].Value, w.conflicts())
	}
}

// A write of a state to planning is lost. A person sets the same there, and another one
// another on GitHub: neither is lost.
func TestPersonSetsTheStateThatALostWriteWasToSet(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.befall("UpdateTask", lost, func() {
			w.editCard(mapping.State, to(mapping.StateDone))
			w.editIssue(mapping.State, to(mapping.StateInProgress))
		})
		w.editIssue(mapping.State, to(mapping.StateDone))
		w.settle()
		w.keepsState(mapping.StateDone)
		w.keepsState(mapping.StateInProgress)
	})
}

// A close of ours takes effect after its answer was given up, and a person reopens the
// issue at once: the issue stays open.
func TestPersonReopensWhatALateWriteClosed(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{answerLost, crashAfter} {
		if err := inWorld(t, func(w *world) {
			w.agree()
			w.hub.lag = never
			w.befall("EditIssue", f, func() {
				w.after(time.Millisecond, func() { w.editIssue(mapping.State, to(mapping.StateTodo)) })
			})
			w.editCard(mapping.State, to(mapping.StateDone))
			w.settle()
			w.keepsState(mapping.StateTodo)
		}); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// TestStateArrivesLateBehindAnEdit: a reopening of ours arrives late, after a person has edited the
// issue. It does not count as a person's change, which would replace planning's present value.
func TestStateArrivesLateBehindAnEdit(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.editCard(mapping.State, to(mapping.StateDone))
		w.settle()
		w.lose("EditIssue", 1)
		w.editCard(mapping.State, to(mapping.StateTodo))
		w.settle()
		w.editCard(mapping.State, to(mapping.StateDone))
		w.settle()
		w.hub.lag = never
		w.arrive(func(i *mapping.Issue) { i.State = "open" })
		w.editIssue(mapping.Title, to("tok9"))
		w.lookAgain()
		w.settle()
		w.keepsState(mapping.StateDone)
	})
}

// TestPersonTakesBackTheStateOfALostAnswer: a write of a state to GitHub has effect, and its answer is
// lost. A person sets the state from before it at once. That is a change, whichever event tells of it.
func TestPersonTakesBackTheStateOfALostAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ call, from, to string }{
		{"AddLabels", mapping.StateTodo, mapping.StateInProgress},
		{"RemoveLabel", mapping.StateInProgress, mapping.StateTodo},
		{"EditIssue", mapping.StateTodo, mapping.StateDone},
		{"EditIssue", mapping.StateDone, mapping.StateTodo},
	} {
		for _, f := range []fate{answerLost, crashAfter} {
			for _, tells := range []bool{true, false} {
				t.Run(fmt.Sprint(tt.from, " to ", tt.to, ", ", f, ", events ", tells), func(t *testing.T) {
					t.Parallel()
					passes(t, func(w *world) {
						w.agree()
						w.editIssue(mapping.State, to(tt.from))
						w.settle()
						if !tells {
							w.hub.lag = never
						}
						w.befall(tt.call, f, func() {
							w.after(time.Millisecond, func() { w.editIssue(mapping.State, to(tt.from)) })
						})
						w.editCard(mapping.State, to(tt.to))
						w.settle()
						w.verify(ends{want: values{mapping.State: tt.from}})
					})
				})
			}
		}
	}
}
