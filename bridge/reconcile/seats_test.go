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
		if away.rise() {
			t.Error("a seat was given that was left before")
		}
		s.hands <- struct{}{}
		here.sit()
		if away.rise() || len(s.taken) != 1 || len(s.hands) != 1 {
			t.Errorf("another key's seat was given: %d seats and %d hands are taken", len(s.taken), len(s.hands))
		}
		if !here.rise() || len(s.taken) != 0 {
			t.Error("a key that sits has no seat to give")
		}
		away.back()
		if !away.seated || len(s.taken) != 1 {
			t.Error("who came back has no seat")
		}
	})
}
