package reconcile_test

import (
	"runtime"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store/boltstore"
)

// reopen is a process that was killed and started again on the file: its keys in hand are free at
// once.
func (w *world) reopen(t *testing.T) {
	t.Helper()
	w.check(w.store.Close())
	s, err := boltstore.Open(w.path, boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.store = s
	w.restart()
}

// killAtFinish works until the process is killed before it ends a claim.
func (w *world) killAtFinish() {
	killed := false
	w.faults.fate, w.faults.at = crashBefore, -1
	w.faults.before = func(i int, p point) {
		if p.name == "Finish" && !killed {
			killed, w.faults.at = true, i
		}
	}
	for !killed {
		w.step()
	}
}

// A create hangs for longer than planning.settle, the process is killed, and its successor has the
// key at once. Sent requests may still take effect: absence is proven only when settle has passed
// since the death.
func TestCreateThatHungUntilTheProcessDied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call   string
		deaths int
	}{
		"a card": {"CreateCard", 1}, "a tracking task": {"CreateTasks", 1}, "an issue": {"CreateIssue", 1},
		"a card, and the next process is killed as well": {"CreateCard", 2},
	} {
		t.Run(name, func(t *testing.T) {
			call := c.call
			t.Parallel()
			if err := onFile(t, func(w *world) {
				hung := false
				w.befall(call, late, func() {
					hung = true
					time.Sleep(40 * time.Second) // of fake time: the request is under way
					w.faults.then = func() {
						w.faults.then = nil
						w.faults.crashed = true
						runtime.Goexit()
					}
				})
				if call == "CreateIssue" {
					mirrored(w)
				} else {
					linked(w)
				}
				for !hung {
					w.step()
				}
				w.reopen(t)
				if c.deaths == 2 {
					w.killAtFinish()
					w.reopen(t)
				}
				w.settle()
				w.verify(ends{want: values{mapping.Title: "tok1"}})
			}); err != nil {
				t.Error(err)
			}
		})
	}
}
