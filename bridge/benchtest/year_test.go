//go:build bench

package benchtest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// measureYear asks what Redis holds of 100,000 links after each quarter of a year of 5,000
// events a day. It plays a sample of the links, with as many events for each, and tells
// where the bytes are.
func measureYear(n *numbers) {
	const (
		links        = 100_000
		perQuarter   = 5000 * 91.25 / links // events of a link
		quarters     = 4
		bodySize     = 1024
		megabyteEach = links / 1e6
	)
	sample := max(n.scaled(1000), 200)
	r := rand.New(rand.NewPCG(18, 5))
	server := redistest.Start(n.t, "--appendonly", "no")
	s, err := redisstore.Open(n.t.Context(), redisstore.Options{URL: server.URL})
	if err != nil {
		n.t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the server goes with the test
	n.putLinks(s, r, sample, bodySize)
	all, _, err := s.List(n.t.Context(), intakeProject, "", 2*sample)
	if err != nil {
		n.t.Fatal(err)
	}
	// Deliveries are remembered for days, and the sample's year takes minutes.
	const days, perDay = 4, 5000
	delivered := sample
	mb := func() float64 {
		sizes, all := bytesByKind(n.t, server), int64(0)
		for kind, size := range sizes {
			if !strings.HasPrefix(kind, fieldsOf) && kind != "seen" {
				all += size
			}
		}
		return float64(all)/float64(sample)*megabyteEach + float64(sizes["seen"])/float64(delivered)*days*perDay/1e6
	}
	n.record("a year", "new", mb(), "MB")
	var first, last float64
	steps := int(float64(sample) * perQuarter / 100)
	const year = 365 * 24 * time.Hour
	at := time.Now().Add(-year)
	for quarter := range quarters {
		for range steps {
			at = at.Add(year / time.Duration(quarters*steps))
			n.liveOn(s, r, all, 100, at)
			delivered += min(100, len(all))
		}
		last = mb()
		if quarter == 0 {
			first = last
		}
		n.record("a year", fmt.Sprint("quarter ", quarter+1), last, "MB")
	}
	n.atMost("Redis, 100,000 links of 1 KiB, a year of 5,000 events a day, from a sample: MB", "", last, 300)
	n.atMost("… against the end of the first quarter", "", last/first, 1.1)
	for kind, size := range bytesByKind(n.t, server) {
		n.record("a year", "of it "+kind, float64(size)/float64(sample)*megabyteEach, "MB")
	}
}

// liveOn has some links be edited on GitHub at a time, and works them.
func (n *numbers) liveOn(s store.Store, r *rand.Rand, links []*mapping.Link, some int, at time.Time) {
	var obs []store.Observation
	for _, i := range r.Perm(len(links))[:min(some, len(links))] {
		ref := links[i].Refs()[0]
		obs = append(obs, store.Observation{
			Delivery: mapping.NewID(), Refs: links[i].Refs(), Item: ref,
			At: time.Now().UnixMilli(), Digest: mapping.NewID(), Data: []byte(prose(r, 1024)),
		})
	}
	if _, err := s.Observe(n.t.Context(), intakeProject, obs); err != nil {
		n.t.Fatal(err)
	}
	for {
		c, _, err := s.Claim(n.t.Context(), intakeProject, time.Minute)
		if err != nil {
			n.t.Fatal(err)
		}
		if c == nil {
			return
		}
		history := []mapping.Entry{{
			At: at.Add(time.Duration(r.Int64N(int64(time.Minute)))), Side: mapping.Planning, Attribute: mapping.Attributes[r.IntN(3)], What: "write",
			Why: "changed on GitHub since both sides last agreed", Delivery: mapping.NewID(),
		}}
		if err := s.Finish(n.t.Context(), c, c.Link, history, store.Outcome{}); err != nil {
			n.t.Fatal(err)
		}
	}
}

// fieldsOf opens the names of what the fields of links hold.
const fieldsOf = "l, field "

// bytesByKind adds up what the keys of each kind take, and of the links what each field
// holds.
func bytesByKind(t testing.TB, server *redistest.Server) map[string]int64 {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer c.Close() //nolint:errcheck // nothing was written
	sizes := map[string]int64{}
	keys := c.Scan(t.Context(), 0, "*", 1000).Iterator()
	for keys.Next(t.Context()) {
		size, err := c.MemoryUsage(t.Context(), keys.Val(), 0).Result()
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(keys.Val(), "}:")
		kind, _, _ := strings.Cut(name, ":")
		sizes[kind] += size
		if kind != "l" {
			continue
		}
		fields, err := c.HGetAll(t.Context(), keys.Val()).Result()
		if err != nil {
			t.Fatal(err)
		}
		for field, value := range fields {
			field, _, _ = strings.Cut(field, ":")
			sizes[fieldsOf+field] += int64(len(value))
		}
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	return sizes
}
