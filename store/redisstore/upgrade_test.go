package redisstore

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
	"planbridge/store/storetest"
)

// earlierProject is the project of testdata/schema2.aof.gz: 60 links in all states and
// places, stored by the program that had schema 2.
const earlierProject mapping.ObjectID = "54744060c955ca8169c61ee6"

// earlier starts a server with that store.
func earlier(t *testing.T) *redistest.Server {
	t.Helper()
	server := redistest.Start(t)
	packed, err := os.Open("testdata/schema2.aof.gz")
	must(t, err)
	defer packed.Close() //nolint:errcheck // it was read
	r, err := gzip.NewReader(packed)
	must(t, err)
	commands, err := io.ReadAll(r)
	must(t, err)
	c, err := net.Dial("tcp", server.Addr)
	must(t, err)
	_, err = c.Write(append(commands, "*1\r\n$4\r\nQUIT\r\n"...))
	must(t, err)
	answers, err := io.ReadAll(c)
	must(t, errors.Join(err, c.Close()))
	if len(answers) == 0 || bytes.Contains(answers, []byte("-ERR")) {
		t.Fatalf("the server answered %.200q", answers)
	}
	return server
}

// TestRepairIndexesAnEarlierStore: until it is repaired, a store that an earlier program
// wrote tells no counts. It can be used all the time.
func TestRepairIndexesAnEarlierStore(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	server := earlier(t)
	s, raw := open(t, Options{URL: server.URL}), client(t, server)
	a := &storetest.Anybody{Store: s, Project: earlierProject, Rand: rand.New(rand.NewPCG(seed, 0))}
	links, _, err := s.List(t.Context(), earlierProject, "", 100)
	if err != nil || len(links) != 60 {
		t.Fatalf("List = %d links, %v", len(links), err)
	}
	c := &cut{T: t, Store: s, server: server, raw: raw}
	log, pages := c.repairWhile(earlierProject, func(int) {
		if got, err := s.Tally(t.Context(), earlierProject); err != nil || got.Links != nil || got.Failures != nil {
			t.Errorf("Tally before it is repaired = %+v, %v", got, err)
		}
		for range 10 {
			must(t, a.Act(t.Context()))
		}
	})
	if log != "" || pages < len(repairPasses) {
		t.Errorf("after %d pages the log says %s", pages, log)
	}
	if d := storetest.IndexDiff(t.Context(), s, earlierProject); d != "" {
		t.Errorf("seed %d: %s", seed, d)
	}
	if n := raw.Exists(t.Context(), "planbridge:{"+string(earlierProject)+"}:links").Val(); n != 0 {
		t.Error("the list of the earlier program is kept")
	}
	for range 50 {
		must(t, a.Act(t.Context()))
	}
	if d := storetest.IndexDiff(t.Context(), s, earlierProject); d != "" {
		t.Errorf("seed %d, repaired: %s", seed, d)
	}
}

// TestAnEarlierProgramStops: nobody would count its later writes.
func TestAnEarlierProgramStops(t *testing.T) {
	server := earlier(t)
	raw := client(t, server)
	project := "planbridge:{" + string(earlierProject) + "}:meta"
	epoch := raw.HGet(t.Context(), "planbridge:{-}:meta", "epoch").Val()
	find := func() string { // as the earlier program asks
		answer, err := scriptFind.Run(t.Context(), raw, []string{project}, epoch, 0, 0, "issue:1").Slice()
		must(t, err)
		return fmt.Sprint(answer[0])
	}
	if got := find(); got != "OK" {
		t.Fatalf("before a newer program comes: %s", got)
	}
	s := open(t, Options{URL: server.URL})
	if now, err := s.Epoch(t.Context()); err != nil || now != epoch {
		t.Errorf("epoch %q, %v, want %q: nothing is lost", now, err, epoch)
	}
	_, err := s.Depth(t.Context(), earlierProject)
	must(t, err)
	if got := find(); got != "EPOCH" {
		t.Errorf("when a newer program came: %s", got)
	}
	if schema := raw.HGet(t.Context(), "planbridge:{-}:meta", "schema").Val(); schema != "3" {
		t.Errorf("schema %s", schema)
	}
}

// TestRepairCorrectsCounts: a wrong count of any cause is counted anew while others go on, and
// logged.
func TestRepairCorrectsCounts(t *testing.T) {
	server, seed := redistest.Start(t), rand.Uint64()
	t.Logf("seed %d", seed)
	s, raw := open(t, Options{URL: server.URL}), client(t, server)
	a := &storetest.Anybody{Store: s, Project: "p", Rand: rand.New(rand.NewPCG(seed, 0))}
	for range 300 {
		must(t, a.Act(t.Context()))
	}
	must(t, raw.HIncrBy(t.Context(), "planbridge:{p}:tally", "=linked acme/web", 7).Err())
	must(t, raw.HSet(t.Context(), "planbridge:{p}:tally", "!gone", 3).Err())
	c := &cut{T: t, Store: s, server: server, raw: raw}
	log, _ := c.repairWhile("p", func(int) { must(t, a.Act(t.Context())) })
	if n := strings.Count(log, "wrong count"); n != 2 || !strings.Contains(log, "count=!gone was=3 is=0") {
		t.Errorf("the log says %s", log)
	}
	if d := storetest.IndexDiff(t.Context(), s, "p"); d != "" {
		t.Errorf("seed %d: %s", seed, d)
	}
}

// commands counts what a server does, a script's commands included.
func commands(t *testing.T, raw *redis.Client, do func()) (n int) {
	t.Helper()
	must(t, raw.ConfigResetStat(t.Context()).Err())
	do()
	info, err := raw.Info(t.Context(), "commandstats").Result()
	must(t, err)
	for name, value := range parseInfo(info) {
		calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
		count, err := strconv.Atoi(calls)
		must(t, err)
		if name != "cmdstat_config|resetstat" && name != "cmdstat_info" {
			n += count
		}
	}
	return n
}

// manyLinks makes a store of so many links of one route.
func manyLinks(t *testing.T, links int) (*Store, *redis.Client) {
	t.Helper()
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	obs := make([]store.Observation, links)
	for i := range obs {
		l := &mapping.Link{ID: mapping.LinkID(mapping.NewID()), Project: "p", Route: "web", Pair: mapping.Pair{State: mapping.Linked, Issue: mapping.IssueID{ID: int64(i + 1)}}}
		obs[i] = store.Observation{Create: l}
	}
	_, err := s.Observe(context.WithoutCancel(t.Context()), "p", obs)
	must(t, err)
	return s, client(t, server)
}

// TestATallyVisitsNothing: its cost does not grow with the store.
func TestATallyVisitsNothing(t *testing.T) {
	cost := map[int]int{}
	for _, links := range []int{100, 10_000} {
		s, raw := manyLinks(t, links)
		cost[links] = commands(t, raw, func() {
			if got, err := s.Tally(t.Context(), "p"); err != nil || got.Links["web"][mapping.Linked] != links || got.Queued != links {
				t.Errorf("Tally = %+v, %v", got, err)
			}
		})
	}
	if cost[10_000] != cost[100] {
		t.Errorf("a tally of 10,000 links takes %d commands, one of 100 %d", cost[10_000], cost[100])
	}
}
