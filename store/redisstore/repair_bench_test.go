package redisstore

import (
	"fmt"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
)

// BenchmarkRepair repairs a sound project with 100,000 queued keys. Beside the time
// that takes it reports for how long one script held Redis, by its slow log.
func BenchmarkRepair(b *testing.B) {
	server := redistest.Start(b, "--slowlog-log-slower-than", "1000", "--slowlog-max-len", "10000")
	s := open(b, Options{URL: server.URL})
	const links, batch = 100_000, 1000
	for from := 0; from < links; from += batch {
		var obs []store.Observation
		for n := from; n < from+batch; n++ {
			l := &mapping.Link{ID: mapping.LinkID(mapping.NewID()), Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: int64(n + 1)}, Card: mapping.CardID{ID: mapping.ObjectID(fmt.Sprint(n))}}}
			obs = append(obs, store.Observation{Refs: l.Refs(), Create: l, Bulk: n%2 == 0})
		}
		_, err := s.Observe(b.Context(), "p", obs)
		must(b, err)
	}
	rdb, longest := client(b, server), 0.0
	for b.Loop() {
		must(b, rdb.Do(b.Context(), "SLOWLOG", "RESET").Err())
		must(b, s.Repair(b.Context(), "p"))
		calls, err := rdb.SlowLogGet(b.Context(), -1).Result()
		must(b, err)
		for _, c := range calls {
			longest = max(longest, float64(c.Duration.Microseconds())/1000)
		}
	}
	b.ReportMetric(longest, "longest-ms")
}
