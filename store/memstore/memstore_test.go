package memstore

import (
	"testing"
	"time"

	"planbridge/store"
	"planbridge/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, queueLimit int) storetest.Opened {
		clock := storetest.NewStillClock()
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
