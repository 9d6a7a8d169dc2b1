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
		if len(s.taken) != 1 || len(s.hands) != 1 {
			t.Errorf("a key that left gave or took what it has not: %d seats and %d hands are taken", len(s.taken), len(s.hands))
		}
		here.rise()
		if len(s.taken) != 0 {
			t.Error("a key that sat has given no seat")
		}
		away.back()
		away.sit()
		if len(s.taken) != 1 || len(s.hands) != 1 {
			t.Errorf("who came back has a seat and no hand: %d seats and %d hands are taken", len(s.taken), len(s.hands))
		}
		away.leave()
		away.drop()
		if len(s.taken) != 0 || len(s.hands) != 1 {
			t.Errorf("a hand was given twice: %d seats and %d hands are taken", len(s.taken), len(s.hands))
		}
	})
}
