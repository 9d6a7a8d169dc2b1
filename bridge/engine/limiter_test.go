package engine

import (
	"slices"
	"testing"
	"testing/synctest"

	"planbridge/mapping"
)

// A key that has left for a batch stores its link without a slot, and has none
// to give: it neither waits for one nor takes another key's.
func TestAKeyGivesNoSlotThatItHasNot(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		s := newLimiter(1, 1)
		here, away := slot{limiter: s}, slot{limiter: s}
		s.hands <- struct{}{}
		away.Acquire()
		away.leave()
		s.hands <- struct{}{}
		here.Acquire()
		here.Acquire()
		away.Release()
		away.Acquire()
		if s.free != 0 || len(s.hands) != 1 {
			t.Errorf("a key that left gave or took what it has not: %d slots are free and %d hands taken", s.free, len(s.hands))
		}
		here.Release()
		if s.free != 1 {
			t.Error("a key that sat has given no slot")
		}
		away.back()
		away.Acquire()
		if s.free != 0 || len(s.hands) != 1 {
			t.Errorf("who came back has a slot and no hand: %d slots are free and %d hands taken", s.free, len(s.hands))
		}
		away.leave()
		away.dropHand()
		if s.free != 1 || len(s.hands) != 1 {
			t.Errorf("a hand was given twice: %d slots are free and %d hands taken", s.free, len(s.hands))
		}
	})
}

// Of a hundred keys that come back from a batch and want one slot, those with a
// hand, which may be live changes, wait for one or none.
func TestWhoComesBackFromABatchKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		s := newLimiter(1, 8)
		at := slot{limiter: s, handless: true}
		at.Acquire()
		var order []bool // whether who sat had a hand
		sit := func(handless bool) {
			p := slot{limiter: s, handless: handless}
			p.Acquire()
			order = append(order, !handless)
			p.Release()
		}
		for range 100 {
			go sit(true)
		}
		synctest.Wait()
		for range 8 {
			go sit(false)
		}
		synctest.Wait()
		at.Release()
		synctest.Wait()
		hands := 0
		for _, hand := range order[:10] {
			if hand {
				hands++
			}
		}
		if hands != 8 || len(order) != 108 || s.free != 1 {
			t.Errorf("of the first ten %d had a hand; %d sat, %d slots are free", hands, len(order), s.free)
		}
	})
}

// Keys of two projects have the slots in turn, also where a hundred of one came back from a
// batch before the other's only one did.
func TestProjectsHaveSlotsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLimiter(1, 1)
		at := slot{limiter: s, project: "busy"}
		at.Acquire()
		var order []mapping.ObjectID
		for i := range 101 {
			p := slot{limiter: s, project: "busy", handless: true}
			if i == 100 {
				p.project = "quiet"
			}
			go func() {
				p.Acquire()
				order = append(order, p.project)
				p.Release()
			}()
			synctest.Wait()
		}
		at.Release()
		synctest.Wait()
		if i := slices.Index(order, "quiet"); i < 0 || i > 1 || len(order) != 101 || s.free != 1 {
			t.Errorf("of %d keys the quiet project's had the slot after %d others, %d slots are free", len(order), i, s.free)
		}
	})
}
