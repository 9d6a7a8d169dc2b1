//go:build bench

package bridgetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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
	"planbridge/bridge/webhook"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// slow is how long each call to planning takes.
const slow = 20 * time.Millisecond

// workshop is a world on Redis with many linked issues, and a handle on its
// store by which many of them are made due at once.
type workshop struct {
	*world
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
	o.Config = func(yaml string) string {
		return strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: 1h", 1) + "brakes: {creates_per_minute: 100000}\n"
	}
	w.world = start(t, o)
	for i := range issues {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprintf("Issue %d", i+1), Body: "Body"})
	}
	w.wait("all cards and their tasks", 4*patience, func() bool { return w.Planning.Calls(planningtest.OpTaskCreate) >= issues })
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
	w.t.Helper()
	w.wait("nothing is due", 2*patience, w.nothingDue)
}

// ahead is how long before they are due changes are stored, so that none is
// worked while others are still being stored.
const ahead = 2 * time.Second

// edit has the bridge see, all at once, that the titles of the first many
// issues changed on GitHub.
func (w *workshop) edit(many int) {
	w.t.Helper()
	w.edits++
	var obs []store.Observation
	for number := 1; number <= many; number++ {
		i := w.Repo.Issue(number)
		seen := mapping.Issue{
			ID: i.ID, NodeID: i.NodeID, Repo: i.Repo, RepoID: w.Repo.ID(), Number: i.Number, Title: fmt.Sprintf("Issue %d, edit %d", number, w.edits), Body: i.Body,
			State: i.State, Labels: i.Labels, Author: i.Author, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt.Add(time.Duration(w.edits) * time.Minute),
		}
		data, err := json.Marshal(&seen)
		if err != nil {
			w.t.Fatal(err)
		}
		ref := mapping.IssueRef(i.ID)
		obs = append(obs, store.Observation{Refs: []mapping.Ref{ref}, Item: ref, At: seen.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&seen), Data: data})
	}
	due := time.Now().Add(ahead)
	for part := range slices.Chunk(obs, 100) {
		for i := range part {
			part[i].Delay = max(0, time.Until(due))
		}
		if _, err := w.store.Observe(w.t.Context(), mapping.ObjectID(w.Project.ID()), part); err != nil {
			w.t.Fatal(err)
		}
	}
}

// rate edits many issues and returns how many of them planning was told of per
// second, between the first and the last.
func (w *workshop) rate(many int) float64 {
	w.t.Helper()
	w.Planning.ResetJournal()
	w.edit(many)
	w.wait("all written", 2*patience, func() bool { return w.Planning.Calls(planningtest.OpCardUpdate) >= many })
	return w.written(many)
}

// measureReconcile holds the rate of reconciles to what a service that answers
// after 20 ms lets so many at once do, and to what so many bare goroutines
// reach beside it. At 200 ms it shows what else than processor time there is that
// bounds them: of that a tenth is needed.
func measureReconcile(n *numbers) {
	for _, m := range []struct {
		at, each int // concurrency, and edits for each of them
		latency  time.Duration
	}{{1, 40, slow}, {8, 40, slow}, {32, 40, slow}, {32, 10, 10 * slow}} {
		n.t.Run(fmt.Sprintf("concurrency=%d,latency=%v", m.at, m.latency), func(t *testing.T) {
			part := numbers{t: t, size: n.size}
			part.reconcile(m.at, max(part.scaled(m.each*m.at), 4), m.latency)
			n.rows, n.raw = append(n.rows, part.rows...), append(n.raw, part.raw...)
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
	n.atLeast(row+fmt.Sprintf(", against %g/s", limit), median(ours), 0.9)
	n.shown("… as many goroutines with bare PUTs beside it", fmt.Sprintf("%.3g", median(bares)))
	n.atLeast("… against those bare PUTs", median(against), 0.9)
	n.record(row, "Redis scripts", median(trips), "per reconcile")
	n.atMost("… Redis round trips per reconcile, with what polls and leases ask", median(trips), 2.2)
}

// usage is what Redis did so far.
type usage struct {
	scripts float64
	seconds float64 // of processor time
}

// redisNow asks Redis what it did so far.
func (w *workshop) redisNow() (u usage) {
	w.t.Helper()
	opt, err := redis.ParseURL(w.redis.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	c := redis.NewClient(opt)
	defer c.Close() //nolint:errcheck // nothing was written
	info, err := c.InfoMap(w.t.Context(), "commandstats", "cpu").Result()
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := fmt.Sscanf(info["Commandstats"]["cmdstat_evalsha"], "calls=%g,", &u.scripts); err != nil {
		w.t.Fatal(err)
	}
	for _, field := range []string{"used_cpu_sys", "used_cpu_user"} {
		seconds, err := strconv.ParseFloat(info["CPU"][field], 64)
		if err != nil {
			w.t.Fatal(err)
		}
		u.seconds += seconds
	}
	return u
}

// replicaLatency makes planning what bounds a replica of sixteen workers.
const replicaLatency = 250 * time.Millisecond

// measureReplicas works the same queue with one, two and four processes, and
// kills one of two.
func measureReplicas(n *numbers) {
	each := max(n.scaled(320), 16)
	w := newWorkshop(n.t, 4*each, bridgetest.Options{})
	w.Planning.SetLatency(replicaLatency)
	var running []*process
	defer func() {
		for _, p := range running {
			p.kill()
		}
	}()
	rates := map[int]float64{}
	for replicas := 1; replicas <= 4; replicas++ {
		p, err := newReplica(w.World, n.t.TempDir())
		if err != nil {
			n.t.Fatal(err)
		}
		running = append(running, p)
		if replicas == 1 { // the first takes over from the world's own
			if err := w.StopBridge(); err != nil {
				n.t.Fatal(err)
			}
		}
		w.wait("the replica is ready", patience, func() bool { return p.ready(n.t.Context()) })
		if replicas == 3 {
			continue
		}
		rates[replicas] = w.rate(each * replicas)
		n.record("replicas", fmt.Sprintf("%d at 250 ms", replicas), rates[replicas], "1/s")
	}
	n.atLeast("two replicas against one, planning-bound", rates[2]/rates[1], 1.9)
	n.atLeast("four replicas against one, planning-bound", rates[4]/rates[1], 3.6)
	n.takeOver(w, running)
}

// newReplica starts a process beside those that a world has.
func newReplica(w *bridgetest.World, dir string) (*process, error) {
	p, err := newProcess(w, dir, "replica")
	if err != nil {
		return nil, err
	}
	// The world's own bridge had an address, so that the one that was free is the admin listener's.
	p.admin = p.listen
	if p.listen, err = bridgetest.FreeAddr(); err != nil {
		return nil, err
	}
	yaml, err := os.ReadFile(p.config)
	if err != nil {
		return nil, err
	}
	own := strings.TrimSuffix(strings.TrimPrefix(w.WebhookURL(), "http://"), webhook.Path)
	if err := os.WriteFile(p.config, []byte(strings.Replace(string(yaml), own, p.listen, 1)), 0o600); err != nil {
		return nil, err
	}
	return p, p.start()
}

// takeOver kills one of the replicas in the middle of its work, and measures
// until all is done.
func (n *numbers) takeOver(w *workshop, running []*process) {
	many := max(n.scaled(320), 16)
	w.Planning.ResetJournal()
	w.edit(many)
	w.wait("half of the work", patience, func() bool { return w.Planning.Calls(planningtest.OpCardUpdate) >= many/2 })
	running[0].kill()
	killed := time.Now()
	project := mapping.ObjectID(w.Project.ID())
	ctx := w.t.Context()
	w.wait("the rest is done by the others", patience, func() bool {
		d, err := w.store.Depth(ctx, project)
		return err == nil && d.Live == 0 && len(d.Waiting) == 0
	})
	took := time.Since(killed).Seconds()
	n.record("replicas", "killed to all done, with leases of "+lease, took, "s")
	n.shown("a replica is killed: until its keys are done by others, with leases of "+lease, fmt.Sprintf("%.3g s", took))
}

func (p *process) ready(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.admin+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := admin.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close() //nolint:errcheck // it is not read
	return resp.StatusCode == http.StatusOK
}
