package redisstore

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
)

// BenchmarkWorker is what a reconcile that writes asks of Redis: its link
// with a pending record, then its end and the next claim. It reports the
// processor time of Redis beside that of both.
func BenchmarkWorker(b *testing.B) {
	server := redistest.Start(b)
	s := open(b, Options{URL: server.URL})
	r := rand.New(rand.NewPCG(1, 1))
	const links = 256
	var looks []store.Observation
	for range links {
		l := typicalLink(r, "p")
		ref := mapping.IssueRef(l.Issue.ID)
		looks = append(looks, store.Observation{Refs: l.Refs(), Create: l, Item: ref, Data: []byte(prose(r, 1500))})
	}
	history := []mapping.Entry{{At: time.Now(), Side: mapping.Planning, Attribute: mapping.Title, What: "write", Why: "changed on GitHub"}}
	observe := func() *store.Claim {
		for i := range looks {
			looks[i].At++
		}
		if _, err := s.Observe(b.Context(), "p", looks); err != nil {
			b.Fatal(err)
		}
		c, _, err := s.Claim(b.Context(), "p", time.Minute)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	var c *store.Claim
	var busy float64
	b.ReportAllocs()
	for b.Loop() {
		if c == nil {
			b.StopTimer()
			c = observe()
			b.StartTimer()
			busy -= used(b, server)
		}
		c.Link.Pending = []mapping.Pending{{ID: mapping.NewNonce(), Side: mapping.Planning, Attribute: mapping.Title, From: "a", To: "b"}}
		if err := s.Save(b.Context(), c, c.Link); err != nil {
			b.Fatal(err)
		}
		c.Link.Pending = nil
		next, err := s.FinishAndClaim(b.Context(), c, c.Link, history, store.Outcome{}, time.Minute)
		if err != nil {
			b.Fatal(err)
		}
		if c = next; c == nil {
			b.StopTimer()
			busy += used(b, server)
			b.StartTimer()
		}
	}
	if c != nil {
		busy += used(b, server)
	}
	b.ReportMetric(busy*1e6/float64(b.N), "redis-µs/op")
}

// used is the processor time of a server in seconds.
func used(b *testing.B, server *redistest.Server) (seconds float64) {
	b.Helper()
	info, err := client(b, server).Info(b.Context(), "cpu").Result()
	must(b, err)
	fields := parseInfo(info)
	for _, field := range []string{"used_cpu_sys", "used_cpu_user"} {
		n, err := strconv.ParseFloat(fields[field], 64)
		must(b, err)
		seconds += n
	}
	return seconds
}
