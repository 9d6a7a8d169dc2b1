package reconcile_test

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// beforeEdit lets people act right before the bridge's edits of the issue, each of
// which, from the first, meets its fate.
func (w *world) beforeEdit(fates []fate, people map[int]func()) {
	w.faults.armed = true
	w.suffer(nil)
	w.editsMeet(fates)
	n := 0
	w.faults.before = func(_ int, p point) {
		if p.name != "EditIssue" {
			return
		}
		if n++; people[n] != nil {
			people[n]()
		}
	}
}

// A late write ran over an edit and was then edited itself. The write that restores the first edit
// has both, and is lost once before it takes effect. No other value is restored over it, though a
// lost write would have written the same.
func TestWhatHoldsALateWritesEditIsNotPutBackOver(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.beforeEdit([]fate{late, "", lost, answerLost}, map[int]func(){2: func() { w.hub.lag = never }})
		w.after(lateness/2+pollInterval, func() {
			w.hub.lag = nil
			w.editIssue(mapping.Summary, line("middle", "middle tok8"))
			w.hub.lag = never
		})
		w.after(3*lateness+pollInterval, func() { w.editIssue(mapping.Summary, line("tok2", "tok2 tok7")) })
		w.editCard(mapping.Summary, line("tok3", "tok3 tok9"))
		w.settle()
		w.verify(ends{want: values{mapping.Summary: "tok2 tok7\n\nmiddle tok8\n\ntok3 tok9"}})
	})
}

// TestEditIsBroughtBackAsItWasTyped: an edit is restored in the very words of an earlier edit by a
// person. So it is not recognised as ours when its answer is lost, and runs over another edit.
// Until the restoring write has happened, that is not restored over the first.
func TestEditIsBroughtBackAsItWasTyped(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		edit := func(was, is string, lag func(int) time.Duration) {
			w.hub.lag = lag
			w.editIssue(mapping.Summary, line(was, is))
			w.hub.lag = never
		}
		w.beforeEdit([]fate{"", answerLost, lost}, map[int]func(){
			1: func() {
				edit("tok2", "tok2 tok8", func(int) time.Duration { return settleGitHub + 300*time.Millisecond })
			},
			2: func() { edit("middle", "middle tok7", never) },
		})
		w.after(lateness+pollInterval, func() {
			w.words.removed[word{mapping.Summary, "tok9"}] = true
			edit("tok3 tok9", "tok3", nil)
		})
		w.editCard(mapping.Summary, line("tok3", "tok3 tok9"))
		w.settle()
		w.verify(ends{want: values{mapping.Summary: "tok2 tok8\n\nmiddle tok7\n\ntok3"}})
	})
}
