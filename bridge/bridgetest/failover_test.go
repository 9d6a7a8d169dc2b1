//go:build faults

package bridgetest_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/store/redisstore/redistest"
)

// TestRedisFailsOverToAReplicaThatLags: a Sentinel promotes a replica that lacks the last writes.
// The bridge finds the new master by itself, and restores its missing data from the markers.
func TestRedisFailsOverToAReplicaThatLags(t *testing.T) {
	t.Parallel()
	master, replica := redistest.Start(t), redistest.Start(t)
	masterHost, masterPort := hostPort(t, master.Addr)
	tell(t, master, "ACL", "SETUSER", "replica", "on", ">secret", "~*", "&*", "+@all")
	tell(t, replica, "CONFIG", "SET", "masteruser", "replica")
	tell(t, replica, "CONFIG", "SET", "masterauth", "secret")
	tell(t, replica, "REPLICAOF", masterHost, masterPort)
	conf := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("sentinel monitor main %s %s 1\nsentinel down-after-milliseconds main 1000\nsentinel failover-timeout main 4000\n", masterHost, masterPort)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// WAIT answers once the replica has all there is.
	tell(t, master, "SET", "probe", "1")
	tell(t, master, "WAIT", "1", "20000")
	sentinel := redistest.StartSentinel(t, conf)

	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: sentinel.URL + "?master=main"})
	p.w.Await("the sentinel knows the replica", func() bool {
		// An array of one replica begins with its length.
		answer, err := sentinel.Do("SENTINEL", "REPLICAS", "main")
		return err == nil && answer == "*1"
	})
	p.on(10)
	tell(t, master, "ACL", "SETUSER", "replica", "off") // it cannot come back
	tell(t, master, "CLIENT", "KILL", "TYPE", "replica")
	p.on(40)
	master.Kill()
	p.w.Await("the replica is promoted", func() bool {
		// The first line of ROLE's answer is the length of a master's.
		role, err := replica.Do("ROLE")
		return err == nil && role == "*3"
	})
	p.on(20)
	stop()
	p.whole()
}

// Two projects live on a Cluster of three, one node of which is killed and comes back.
func TestCluster(t *testing.T) {
	t.Parallel()
	var nodes []*redistest.Server
	for i := range 3 {
		n := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000")
		tell(t, n, "CLUSTER", "ADDSLOTSRANGE", fmt.Sprint(i*5462), fmt.Sprint(min(i*5462+5461, 16383)))
		tell(t, n, "CLUSTER", "SET-CONFIG-EPOCH", fmt.Sprint(i+1))
		nodes = append(nodes, n)
	}
	for _, n := range nodes[1:] {
		host, port := hostPort(t, nodes[0].Addr)
		tell(t, n, "CLUSTER", "MEET", host, port)
	}
	ready := func() bool {
		for _, n := range nodes {
			// MOVED is an answer of a cluster that is up, CLUSTERDOWN is not.
			_, err := n.Do("GET", "ready")
			if err != nil && !strings.HasPrefix(err.Error(), "MOVED") {
				return false
			}
		}
		return true
	}
	for deadline, tick := time.Now().Add(bridgetest.Patience), time.NewTicker(20*time.Millisecond); !ready(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("the cluster does not come up")
		}
	}

	w, repo, board := twoProjects(t, bridgetest.Options{LeaseTTL: soon, Store: nodes[0].URL + "?cluster=1"})
	one, two := newTeam(w, "a"), newTeam(w, "b")
	two.repo, two.board = repo, board
	var stops []func()
	one.make(2)
	two.make(2)
	one.whole()
	two.whole()
	for _, p := range []*team{one, two} {
		stop := p.busy(everyAct)
		t.Cleanup(stop)
		stops = append(stops, stop)
	}
	two.on(20)
	nodes[1].Kill()
	two.on(5)
	nodes[1].Restart()
	two.on(20)
	for _, stop := range stops {
		stop()
	}
	one.whole()
	two.whole()
}

func hostPort(t *testing.T, addr string) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// tell gives a server a command that has to succeed.
func tell(t *testing.T, s *redistest.Server, command ...string) {
	t.Helper()
	if _, err := s.Do(command...); err != nil {
		t.Fatalf("%s: %v", strings.Join(command, " "), err)
	}
}
