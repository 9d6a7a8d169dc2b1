package engine

import (
	"slices"
	"testing"
	"testing/synctest"

	"planbridge/mapping"
)

// A key that left for a batch stores its link without a slot and has none to give. It neither
// waits for one nor takes another key's.
func TestAKeyGivesNoSlotThatItHasNot(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		s := newLimiter(1, 1)
		here, away := slot{limiter: s}, slot{limiter: s}
		s.workers <- struct{}{}
		away.Acquire()
		away.yield()
		s.workers <- struct{}{}
		here.Acquire()
		here.Acquire()
		away.Release()
		away.Acquire()
		if s.free != 0 || len(s.workers) != 1 {
			t.Errorf("a key that left gave or took what it has not: %d slots are free and %d hands taken", s.free, len(s.workers))
		}
		here.Release()
		if s.free != 1 {
			t.Error("a key that sat has given no slot")
		}
		away.resume()
		away.Acquire()
		if s.free != 0 || len(s.workers) != 1 {
			t.Errorf("who came back has a slot and no hand: %d slots are free and %d hands taken", s.free, len(s.workers))
		}
		away.yield()
		away.releaseWorker()
		if s.free != 1 || len(s.workers) != 1 {
			t.Errorf("a hand was given twice: %d slots are free and %d hands taken", s.free, len(s.workers))
		}
	})
}

// A hundred keys come back from a batch and want one slot. Keys with a worker, which may be live
// changes, wait for at most one of them.
func TestWhoComesBackFromABatchKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		s := newLimiter(1, 8)
		at := slot{limiter: s, workerless: true}
		at.Acquire()
		var order []bool // whether each holder had a worker
		sit := func(workerless bool) {
			p := slot{limiter: s, workerless: workerless}
			p.Acquire()
			order = append(order, !workerless)
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
		workers := 0
		for _, hand := range order[:10] {
			if hand {
				workers++
			}
		}
		if workers != 8 || len(order) != 108 || s.free != 1 {
			t.Errorf("of the first ten %d had a hand; %d sat, %d slots are free", workers, len(order), s.free)
		}
	})
}

// Keys of two projects get slots in turn, also where a hundred keys of one came back from a batch
// first.
func TestProjectsHaveSlotsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLimiter(1, 1)
		at := slot{limiter: s, project: "busy"}
		at.Acquire()
		var order []mapping.ObjectID
		for i := range 101 {
			p := slot{limiter: s, project: "busy", workerless: true}
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
