package storetest_test

import (
	"sync/atomic"
	"testing"
	"time"

	"planbridge/store"
	"planbridge/store/memstore"
	"planbridge/store/storetest"
)

// A back end is held to the contract by one test of its own, here that of the store in memory.
func ExampleRun() {
	TestConformance := func(t *testing.T) {
		storetest.Run(t, func(_ *testing.T, queueLimit int) storetest.Opened {
			var now atomic.Int64 // the store's clock, which the suite moves
			m := memstore.New(memstore.Options{
				Clock: storetest.Clock(func() time.Time { return time.Unix(0, now.Load()) }), QueueLimit: queueLimit,
			})
			s := m.Open(storetest.Clock(time.Now))
			return storetest.Opened{
				Store:   s,
				Advance: func(d time.Duration) { now.Add(int64(d)) },
				Restart: func(testing.TB) store.Store { s.Crash(); return m.Open(storetest.Clock(time.Now)) },
				Second:  func(testing.TB) store.Store { return m.Open(storetest.Clock(time.Now)) },
				Lose:    func(testing.TB) { m.Restore(memstore.Snapshot{}) },
			}
		})
	}
	_ = TestConformance
}
