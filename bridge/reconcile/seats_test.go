package reconcile

import (
	"testing"
	"testing/synctest"
)

// A key that has left for a batch stores its link without a seat, and has none
// to give: it neither waits for one nor takes another key's.
func TestAKeyGivesNoSeatThatItHasNot(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		s := newSeats(1, 1)
		here, away := place{seats: s}, place{seats: s}
		s.hands <- struct{}{}
		away.sit()
		away.leave()
		s.hands <- struct{}{}
		here.sit()
		here.sit()
		away.rise()
		away.sit()
		if s.free != 0 || len(s.hands) != 1 {
			t.Errorf("a key that left gave or took what it has not: %d seats are free and %d hands taken", s.free, len(s.hands))
		}
		here.rise()
		if s.free != 1 {
			t.Error("a key that sat has given no seat")
		}
		away.back()
		away.sit()
		if s.free != 0 || len(s.hands) != 1 {
			t.Errorf("who came back has a seat and no hand: %d seats are free and %d hands taken", s.free, len(s.hands))
		}
		away.leave()
		away.drop()
		if s.free != 1 || len(s.hands) != 1 {
			t.Errorf("a hand was given twice: %d seats are free and %d hands taken", s.free, len(s.hands))
		}
	})
}

// Of a hundred keys that come back from a batch and want one seat, those with a
// hand, which may be live changes, wait for one or none.
func TestWhoComesBackFromABatchKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		s := newSeats(1, 8)
		at := place{seats: s, handless: true}
		at.sit()
		var order []bool // whether who sat had a hand
		sit := func(handless bool) {
			p := place{seats: s, handless: handless}
			p.sit()
			order = append(order, !handless)
			p.rise()
		}
		for range 100 {
			go sit(true)
		}
		synctest.Wait()
		for range 8 {
			go sit(false)
		}
		synctest.Wait()
		at.rise()
		synctest.Wait()
		hands := 0
		for _, hand := range order[:10] {
			if hand {
				hands++
			}
		}
		if hands != 8 || len(order) != 108 || s.free != 1 {
			t.Errorf("of the first ten %d had a hand; %d sat, %d seats are free", hands, len(order), s.free)
		}
	})
}
