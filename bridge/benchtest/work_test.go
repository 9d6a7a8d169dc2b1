//go:build bench

package benchtest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/tuning"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// slow is how long each call to planning takes.
const slow = 20 * time.Millisecond

// workshop is a world on Redis with many linked issues. It has a handle on the store, which makes
// many of them due at once.
type workshop struct {
	*bridgetest.TestWorld
	redis  *redistest.Server
	store  *redisstore.Store
	edits  int
	issues int
}

func newWorkshop(t *testing.T, issues int, o bridgetest.Options) *workshop {
	t.Helper()
	w := &workshop{redis: redistest.Start(t), issues: issues}
	o.Store, o.CatchUp = w.redis.URL, time.Hour
	if o.Poll == 0 {
		o.Poll = time.Second
	}
	o.GitHub.Traits.RateLimit = 1 << 30 // an issue that enters costs three requests of an hour's 5,000
	o.Config = func(yaml string) string {
		return strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: 1h", 1) + "brakes: {creates_per_minute: 100000}\n"
	}
	w.TestWorld = bridgetest.StartIn(t, o)
	for i := range issues {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprintf("Issue %d", i+1), Body: "Body"})
	}
	w.AwaitWithin("all cards and their tasks", 4*bridgetest.Patience, func() bool { return w.Planning.Calls(planningtest.OpTaskCreate) >= issues })
	w.idle()
	var err error
	if w.store, err = redisstore.Open(t.Context(), redisstore.Options{URL: w.redis.URL}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// idle waits until nothing is to be done now.
func (w *workshop) idle() {
	w.T.Helper()
	w.AwaitWithin("nothing is due", 2*bridgetest.Patience, w.NothingDue)
}

// ahead is how long before they are due changes are stored, so that none is
// worked while others are still being stored.
const ahead = 2 * time.Second

// edit changes the titles of the first many issues on GitHub, has the bridge see that all at
// once, and returns when they are due.
func (w *workshop) edit(many int) (due time.Time) {
	w.T.Helper()
	w.edits++
	var obs []store.Observation
	w.GitHub.DropNext(many)
	for number := 1; number <= many; number++ {
		w.Repo.Edit(number, "octocat", func(e *githubtest.IssueEdit) { e.Title = fmt.Sprintf("Issue %d, edit %d", number, w.edits) })
		i := w.Repo.Issue(number)
		seen := mapping.Issue{
			ID: i.ID, NodeID: i.NodeID, Repo: i.Repo, RepoID: w.Repo.ID(), Number: i.Number, Title: i.Title, Body: i.Body,
			State: i.State, Labels: i.Labels, Author: i.Author, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt,
		}
		data, err := json.Marshal(&seen)
		if err != nil {
			w.T.Fatal(err)
		}
		ref := mapping.IssueRef(i.ID)
		obs = append(obs, store.Observation{Refs: []mapping.Ref{ref}, Item: ref, At: seen.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&seen), Data: data})
	}
	due = time.Now().Add(ahead)
	for part := range slices.Chunk(obs, 100) {
		for i := range part {
			part[i].Delay = max(0, time.Until(due))
		}
		if _, err := w.store.Observe(w.T.Context(), mapping.ObjectID(w.Project.ID()), part); err != nil {
			w.T.Fatal(err)
		}
	}
	return due
}

// rate edits many issues and returns how many of them planning was told of per second, between the
// first and the last. A poll may show news of an issue meanwhile, so that its edit is not put off.
// Writes before the edits are due do not count, as the wait for the others would otherwise count,
// too.
func (w *workshop) rate(many int) float64 {
	w.T.Helper()
	w.Planning.ResetJournal()
	due := w.edit(many)
	w.AwaitWithin("all written", 2*bridgetest.Patience, func() bool { return w.Planning.Calls(planningtest.OpCardUpdate) >= many })
	return w.written(due)
}

// measureReconcile compares the rate of reconciles with two bounds. One is the rate that a service
// with answers after 20 ms allows so many at once, the other that of so many bare goroutines. At
// 200 ms it shows the bounds other than processor time, of which a tenth is needed.
func measureReconcile(n *numbers) {
	defer tuning.Apply(os.LookupEnv)()
	for _, m := range []struct {
		at, each int // concurrency, and edits for each of them
		latency  time.Duration
	}{{1, 40, slow}, {8, 40, slow}, {32, 40, slow}, {32, 10, 10 * slow}} {
		n.t.Run(fmt.Sprintf("concurrency=%d,latency=%v", m.at, m.latency), func(t *testing.T) {
			part := numbers{t: t, size: n.size}
			part.reconcile(m.at, max(part.scaled(m.each*m.at), 4), m.latency)
			n.Rows, n.Raw = append(n.Rows, part.Rows...), append(n.Raw, part.Raw...)
		})
	}
}

func (n *numbers) reconcile(c, many int, latency time.Duration) {
	w := newWorkshop(n.t, many, bridgetest.Options{Concurrency: c, Poll: 30 * time.Second}) // as it is by default
	peer := w.newBare(c)
	w.Planning.SetLatency(latency)
	limit := float64(c) / latency.Seconds()
	row := fmt.Sprintf("reconcile with planning at %v, concurrency %d", latency, c)
	var ours, bares, against, trips []float64
	for range 5 {
		before, began := w.redisNow(), w.processorTime()
		got := w.rate(many)
		used, after := w.processorTime()-began, w.redisNow()
		w.idle()
		began = w.processorTime()
		bare := peer.rate(c)
		usedBare := w.processorTime() - began
		trips = append(trips, (after.scripts-before.scripts)/float64(many))
		n.record(row, "rate", got, "1/s")
		n.record(row, "rate of bare PUTs", bare, "1/s")
		n.record(row, "processor time, with the simulators", used.Seconds()*1e3/float64(many), "ms")
		n.record(row, "processor time of Redis", (after.seconds-before.seconds)*1e3/float64(many), "ms")
		n.record(row, "processor time of a bare PUT, with the simulator", usedBare.Seconds()*1e3/float64(many), "ms")
		ours, bares, against = append(ours, got/limit), append(bares, bare/limit), append(against, got/bare)
	}
	at := strconv.Itoa(c)
	if latency != slow {
		at += fmt.Sprintf(" (planning at %v)", latency)
	}
	n.atLeast("reconcile, planning at 20 ms, %s at once: rate against as many each 20 ms", at, median(ours), 0.9)
	n.shown("… as many goroutines that make bare PUTs, by turns with it, %s", at, figure(median(bares)))
	n.atLeast("… against those bare PUTs, %s", at, median(against), 0.9)
	n.record(row, "Redis scripts", median(trips), "per reconcile")
	// Of reconciles alone it is at most 2, which a test holds (trips_test.go of reconcile).
	n.shown("… Redis scripts per reconcile, with those of polls and leases, %s", at, fmt.Sprintf("%.2g", median(trips)))
}

// usage is what Redis did so far.
type usage struct {
	scripts float64
	seconds float64 // of processor time
}

// redisNow asks Redis what it did so far.
func (w *workshop) redisNow() (u usage) {
	w.T.Helper()
	opt, err := redis.ParseURL(w.redis.URL)
	if err != nil {
		w.T.Fatal(err)
	}
	c := redis.NewClient(opt)
	defer c.Close() //nolint:errcheck // nothing was written
	info, err := c.InfoMap(w.T.Context(), "commandstats", "cpu").Result()
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := fmt.Sscanf(info["Commandstats"]["cmdstat_evalsha"], "calls=%g,", &u.scripts); err != nil {
		w.T.Fatal(err)
	}
	for _, field := range []string{"used_cpu_sys", "used_cpu_user"} {
		seconds, err := strconv.ParseFloat(info["CPU"][field], 64)
		if err != nil {
			w.T.Fatal(err)
		}
		u.seconds += seconds
	}
	return u
}
