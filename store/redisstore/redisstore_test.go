package redisstore

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"planbridge/store"
	"planbridge/store/redisstore/redistest"
	"planbridge/store/storetest"
)

func open(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fill leaves a server less memory than a large write needs, and enough for a small one.
func fill(t testing.TB, server *redistest.Server) (room func()) {
	t.Helper()
	bound := func(bytes int) {
		t.Helper()
		_, err := server.Do("CONFIG", "SET", "maxmemory", strconv.Itoa(bytes))
		must(t, err)
	}
	info, err := client(t, server).Info(t.Context(), "memory").Result()
	must(t, err)
	used, err := strconv.Atoi(parseInfo(info)["used_memory"])
	must(t, err)
	bound(used + storetest.FillLeaves/2)
	return func() { bound(0) }
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, queueLimit int) storetest.Opened {
		server := redistest.Start(t)
		var skew atomic.Int64
		o := Options{
			URL: server.URL, QueueLimit: queueLimit,
			Clock: storetest.Clock(func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }),
		}
		s := open(t, o)
		return storetest.Opened{
			Store:   s,
			Advance: func(d time.Duration) { skew.Add(int64(d)) },
			Restart: func(testing.TB) store.Store {
				server.Kill()
				server.Restart()
				return s
			},
			Second: func(t testing.TB) store.Store { return open(t, o) },
			Lose:   func(testing.TB) { server.Flush() },
			Fill:   func(t testing.TB) func() { return fill(t, server) },
		}
	})
}
