package redisstore

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/store"
	"planbridge/store/redisstore/redistest"
	"planbridge/store/storetest"
)

// eventually waits until fn is content.
func eventually(t testing.TB, what string, fn func() error) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for tick := time.NewTicker(10 * time.Millisecond); ; <-tick.C {
		err := fn()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// A Cluster refuses what crosses its slots, so the suite on one shows that
// each script stays within its project.
func TestConformanceOnACluster(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--cluster-enabled", "yes")
	if _, err := server.Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "cluster", func() error {
		_, err := server.Do("SET", "ready", "1")
		return err
	})
	var skew atomic.Int64
	n := 0
	storetest.Run(t, func(t *testing.T, queueLimit int) storetest.Opened {
		n++
		o := Options{
			URL: server.URL + "?cluster=1", Prefix: fmt.Sprint("p", n), QueueLimit: queueLimit,
			Clock: storetest.Clock(func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }),
		}
		s := open(t, o)
		return storetest.Opened{
			Store:   s,
			Advance: func(d time.Duration) { skew.Add(int64(d)) },
			Restart: func(testing.TB) store.Store {
				server.Kill()
				server.Restart()
				eventually(t, "cluster after a restart", func() error { return s.Ping(t.Context()) })
				return s
			},
			Second: func(t testing.TB) store.Store { return open(t, o) },
			Lose:   func(testing.TB) { server.Flush() },
		}
	})
}

func TestSentinel(t *testing.T) {
	server := redistest.Start(t)
	host, port, err := net.SplitHostPort(server.Addr)
	must(t, err)
	conf := filepath.Join(t.TempDir(), "sentinel.conf")
	must(t, os.WriteFile(conf, fmt.Appendf(nil, "sentinel monitor main %s %s 1\n", host, port), 0o600))
	sentinel := redistest.StartSentinel(t, conf)
	s := open(t, Options{URL: sentinel.URL + "?master=main"})
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping by way of a sentinel: %v", err)
	}
}
