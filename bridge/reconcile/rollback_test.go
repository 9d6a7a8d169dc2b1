package reconcile_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"planbridge/mapping/mappingtest"

	"planbridge/bridge/clock"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// rollBack begins a new process on an old copy of the store. The tasks' values that the poll has
// shown stay shown: the listings that an adoption reads do not have the tasks of all cards.
func (w *world) rollBack(copied memstore.Snapshot) {
	w.memory = memstore.New(memstore.Options{Clock: clock.Runtime{}, From: copied})
	w.store, w.opening = w.memory.Open(nil), "/2"
	maps.DeleteFunc(w.polled, func(ref mapping.Ref, _ string) bool { return ref.Kind() != "task" })
	w.restart()
}

// adopt shows the store everything that listings have, and lets things be made.
func (w *world) adopt() {
	for _, i := range w.hub.issues {
		issue := i.snapshot("")
		ref := mapping.IssueRef(issue.ID)
		obs := store.Observation{Refs: []mapping.Ref{ref}, Item: ref, At: issue.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&issue), Data: encode(issue)}
		w.hub.told[issue.ID] = sight(&issue)
		w.observe(obs, w.entering(&obs, &issue))
	}
	w.poll()
	epoch, err := w.epoch(context.Background())
	w.check(err)
	w.adopted(w.store, project, epoch)
	w.wake()
}

// adoptMeanwhile lets the world come to rest while everything is seen again at the worst moment.
// That is when the first key has been claimed and is about to ask for the adoption.
func (w *world) adoptMeanwhile() {
	adopted := false
	w.faults.before = func(_ int, p point) {
		if p.name == "Doc" && !adopted {
			adopted = true
			w.adopt()
		}
	}
	w.faults.armed = true
	w.settle()
	w.faults.armed = false
	if !adopted {
		w.adopt()
	}
}

// eachRollBack: an old copy of the store, from before any of the bridge's calls, replaces it when
// all is at rest. No item is made twice, and no text of a person is lost.
func eachRollBack(t *testing.T, play, verify func(*world)) {
	t.Helper()
	for at, copies := 0, 1; at < copies; at++ {
		for _, meanwhile := range []bool{false, true} {
			if spared(at) && at > 0 {
				continue
			}
			err := inWorld(t, func(w *world) {
				var all []memstore.Snapshot
				var last [sha256.Size]byte
				w.faults.at = -1
				w.faults.before = func(int, point) {
					if now := w.memory.Digest(); len(all) == 0 || now != last {
						all, last = append(all, w.memory.Snapshot()), now
					}
				}
				play(w)
				if copies = len(all); at >= copies {
					return
				}
				w.rollBack(all[at])
				if meanwhile {
					w.adoptMeanwhile()
				} else {
					w.adopt()
				}
				w.settle()
				clear(w.polled) // the sweep has come to all tasks
				w.settle()
				verify(w)
			})
			if err != nil {
				t.Error(fmt.Errorf("copy %d, adopted meanwhile: %v: %w", at, meanwhile, err))
			}
		}
	}
}

func TestTheStoreIsRolledBack(t *testing.T) {
	t.Parallel()
	for _, s := range mappingtest.Drawn(slices.Concat(creations(), edits(), meetings())) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			eachRollBack(t, s.begin, func(w *world) {
				ends := s.ends
				ends.conflicts += 2 // a difference without a base is one
				w.verify(ends)
			})
		})
	}
}

func TestTheStoreOfAFamilyIsRolledBack(t *testing.T) {
	t.Parallel()
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			eachRollBack(t, f.begin, func(w *world) { w.verifyFamily(max(1, f.cards), f.ends...) })
		})
	}
}

func TestTheStoreOfAChecklistIsRolledBack(t *testing.T) {
	t.Parallel()
	for _, s := range listScenarios() {
		s.tune = tasksOfItems
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			eachRollBack(t, s.begin, func(w *world) { w.verifyList(s.want, s.left, s.conflicts+2) })
		})
	}
}

// TestEditIsRunOverRightBeforeTheStoreIsLost: a write of ours ran over a person's edit, and the
// store was lost before the echo showed it. The person's text is kept, once, though no record of
// the write is left.
func TestEditIsRunOverRightBeforeTheStoreIsLost(t *testing.T) {
	for name, tt := range map[string]struct {
		a      mapping.Attribute
		person func(string) string
		card   func(string) string
		words  string
	}{
		"title":   {mapping.Title, to("tok9"), to("tok5"), "tok9"},
		"summary": {mapping.Summary, to("tok9\n"), line("tok2", "tok8"), "tok9"},
	} {
		if err := inWorld(t, func(w *world) {
			w.agree()
			w.hub.lag = never
			w.befall("EditIssue", crashAfter, func() { w.editIssue(tt.a, tt.person) })
			w.editCard(tt.a, tt.card)
			for !w.faults.fired {
				w.step()
			}
			w.forget()
			w.settle()
			w.lookAgain()
			w.settle()
			told := 0
			for _, c := range w.issue().comments {
				if strings.Contains(c.Body, tt.words) {
					told++
				}
			}
			if told != 1 {
				w.fail("%d comments keep %q, want one: %+v", told, tt.words, w.issue().comments)
			}
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
