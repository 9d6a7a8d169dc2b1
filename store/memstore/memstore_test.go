package memstore

import (
	"sync/atomic"
	"testing"
	"time"

	"planbridge/store"
	"planbridge/store/storetest"
)

// testClock stands still unless it is advanced.
type testClock struct{ ns atomic.Int64 }

func newClock() *testClock {
	c := &testClock{}
	c.ns.Store(time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *testClock) Now() time.Time          { return time.Unix(0, c.ns.Load()) }
func (c *testClock) Advance(d time.Duration) { c.ns.Add(int64(d)) }

func TestConformance(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, queueLimit int) storetest.Opened {
		clock := newClock()
		m := New(Options{Clock: clock, QueueLimit: queueLimit})
		s := m.Open(storetest.Clock(time.Now))
		return storetest.Opened{
			Store:   s,
			Advance: clock.Advance,
			Restart: func(testing.TB) store.Store {
				s.Crash()
				return m.Open(storetest.Clock(time.Now))
			},
			Second: func(testing.TB) store.Store { return m.Open(storetest.Clock(time.Now)) },
			Lose:   func(testing.TB) { m.Restore(Snapshot{}) },
		}
	})
}
