//go:build bench

package benchtest_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/webhook"
	"planbridge/mapping"
)

// replicaLatency makes planning what bounds a replica of sixteen workers.
const replicaLatency = 250 * time.Millisecond

// measureReplicas works the same queue with one, two and four processes, and
// kills one of four. Each has forty rounds of planning's to work: the queue
// seldom ends with all of them at once, and the last round counts whole.
func measureReplicas(n *numbers) {
	each := max(n.scaled(640), 16)
	w := newWorkshop(n.t, 4*each, bridgetest.Options{})
	w.Planning.SetLatency(replicaLatency)
	var running []*bridgetest.Process
	defer func() {
		for _, p := range running {
			p.Kill()
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
		w.AwaitWithin("the replica is ready", bridgetest.Patience, func() bool { return isReady(n.t.Context(), p) })
		if replicas == 3 {
			continue
		}
		w.settled()
		rates[replicas] = w.rate(each * replicas)
		n.record("replicas", fmt.Sprintf("%d at 250 ms", replicas), rates[replicas], "1/s")
	}
	n.atLeast("%s replicas against one, planning at 250 ms", "2", rates[2]/rates[1], 1.9)
	n.atLeast("%s replicas against one, planning at 250 ms", "4", rates[4]/rates[1], 3.6)
	n.takeOver(w, running)
}

// empty reports whether nothing is in the queue, nor worked.
func (w *workshop) empty() bool {
	d, err := w.store.Depth(w.T.Context(), mapping.ObjectID(w.Project.ID()))
	return err == nil && d.Live+d.Bulk == 0 && len(d.Waiting) == 0
}

// settled waits until two whole polls saw the writes and all their consequences are done. So at
// most a few edits are written before they are due.
func (w *workshop) settled() {
	w.T.Helper()
	polls := w.Planning.Calls(planningtest.OpBacklogItems)
	w.AwaitWithin("polls have seen all", 2*bridgetest.Patience, func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) >= polls+3 && w.empty() })
}

// newReplica starts a process beside those that a world has.
func newReplica(w *bridgetest.World, dir string) (*bridgetest.Process, error) {
	p, err := bridgetest.NewProcess(w, dir, "replica")
	if err != nil {
		return nil, err
	}
	// The world's own bridge had an address, so that the one that was free is the admin listener's.
	p.Admin = p.Listen
	if p.Listen, err = bridgetest.FreeAddr(); err != nil {
		return nil, err
	}
	yaml, err := os.ReadFile(p.Config)
	if err != nil {
		return nil, err
	}
	own := strings.TrimSuffix(strings.TrimPrefix(w.WebhookURL(), "http://"), webhook.Path)
	if err := os.WriteFile(p.Config, []byte(strings.Replace(string(yaml), own, p.Listen, 1)), 0o600); err != nil {
		return nil, err
	}
	return p, p.Start()
}

// takeOver kills one of the replicas in the middle of its work, and measures
// until all is done.
func (n *numbers) takeOver(w *workshop, running []*bridgetest.Process) {
	many := max(n.scaled(320), 16)
	w.Planning.ResetJournal()
	w.edit(many)
	w.AwaitWithin("half of the work", bridgetest.Patience, func() bool { return w.Planning.Calls(planningtest.OpCardUpdate) >= many/2 })
	running[0].Kill()
	killed := time.Now()
	w.AwaitWithin("the rest is done by the others", bridgetest.Patience, w.empty)
	took := time.Since(killed).Seconds()
	n.record("replicas", "killed to all done, with leases of "+bridgetest.ShortLease, took, "s")
	n.atMost("a replica is killed: until its keys are done by others (s), leases of %s", bridgetest.ShortLease, took, 15)
}

func isReady(ctx context.Context, p *bridgetest.Process) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Admin+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := bridgetest.AdminClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close() //nolint:errcheck // it is not read
	return resp.StatusCode == http.StatusOK
}
