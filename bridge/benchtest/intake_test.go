//go:build bench

package benchtest_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"planbridge/store/redisstore/redistest"
)

const (
	intakeIssues = 500  // that the deliveries are of
	intakeRate   = 1000 // a second, in an open loop
	intakeRounds = 15   // of each server, by turns
)

// intakeAtOnce is how many deliveries are under way at once in closed loops.
var intakeAtOnce = []int{32, 128}

// measureIntake compares the webhook listener with a bare server that reads the body and checks the
// signature. The floor of a durable intake is that server when it also makes something durable, as
// cheaply as possible. An intake keeps either the parsed parts of the payload or the payload
// itself, so that there are two such floors. A third one needs no parsing. Each has a process of
// its own, with the heap that it needs and no other, as have Redis and the clients. The bridge has
// its settings of the runtime (see package tuning), the others have Go's, but for one more bare
// server. Nothing works the queue meanwhile, so that what is measured is the intake.
func measureIntake(n *numbers) {
	// Each has a Redis of its own. A Redis that has to rewrite a floor's data, or is large by it,
	// would be slower for all.
	n.intake("intake on Redis (AOF everysec)", true, func(kind string) keeper {
		if kind == peerBare || kind == peerTuned {
			return keeper{used: func() time.Duration { return 0 }}
		}
		server := redistest.Start(n.t)
		return keeper{server.URL, func() time.Duration { return redisTime(n.t, server) }}
	})
	dir := n.t.TempDir()
	n.intake("intake on the file store", false, func(kind string) keeper {
		return keeper{filepath.Join(dir, kind+".db"), func() time.Duration { return 0 }}
	})
}

// keeper is what a peer keeps things in: a URL of Redis or a file, and the processor time
// so far of what serves it.
type keeper struct {
	where string
	used  func() time.Duration
}

// intakePeer is one of the servers that are compared, with what was measured of it.
type intakePeer struct {
	*peer
	keeper
	name  string
	rates map[int][]float64 // by how many are at once
	costs []float64         // µs of processor time a delivery, clients and Redis included, with the fewest at once
	took  []time.Duration
	slow  []float64 // p99 of each open loop, in ms
}

// intake measures the intake on one kind of store, for which the design may have goals. The
// function on returns each kind of peer's storage.
func (n *numbers) intake(row string, held bool, on func(kind string) keeper) {
	d := newDeliverer(n.t, intakeIssues)
	start := func(name, kind string) *intakePeer {
		k := on(kind)
		return &intakePeer{peer: startPeer(n.t, kind, k.where), keeper: k, name: name, rates: map[int][]float64{}}
	}
	bare, own := start("bare server", peerBare), start("intake", peerIntake)
	others := []*intakePeer{
		start("bare server with the bridge's settings of the runtime", peerTuned),
		start("floor", peerSome), start("floor, payload kept unread", peerUnread), start("floor, payload read", peerRead),
	}
	peers := append([]*intakePeer{bare, own}, others...)
	closedLoop(n.t, own.url, intakeAtOnce[0], d.make(len(d.templates))) // makes the links
	own.ask(askDrain)

	rounds := func(many, requests int, measure func(p *intakePeer, requests [][]byte)) {
		for round := range many {
			requests := d.make(n.scaled(requests))
			for i := range peers {
				p := peers[(round+i)%len(peers)] // nobody always comes after the same one
				p.ask(askCollect)                // nobody pays for what was before
				runtime.GC()
				measure(p, requests)
			}
			own.ask(askDrain)
		}
	}
	spent := func(p *intakePeer) time.Duration {
		return processorTime(n.t) + time.Duration(p.ask(askUsed))*time.Microsecond + p.used()
	}
	for i, atOnce := range intakeAtOnce {
		rounds(intakeRounds, 2000, func(p *intakePeer, requests [][]byte) {
			before := spent(p)
			p.rates[atOnce] = append(p.rates[atOnce], closedLoop(n.t, p.url, atOnce, requests))
			if i == 0 {
				p.costs = append(p.costs, (spent(p)-before).Seconds()*1e6/float64(len(requests)))
			}
		})
	}
	rounds(5, 2*intakeRate, func(p *intakePeer, requests [][]byte) {
		took := openLoop(n.t, p.url, requests)
		p.took = append(p.took, took...)
		p.slow = append(p.slow, quantile(took, 0.99).Seconds()*1000)
	})
	n.compareIntake(row, held, bare, own, others)
}

func (n *numbers) compareIntake(row string, held bool, bare, own *intakePeer, others []*intakePeer) {
	for _, p := range append([]*intakePeer{bare, own}, others...) {
		n.record(row, p.name+": processor time of a delivery", median(p.costs), "µs")
		n.record(row, p.name+": processor time of a delivery, least of all rounds", slices.Min(p.costs), "µs")
		for _, atOnce := range intakeAtOnce {
			n.record(row, fmt.Sprintf("%s: closed loop, %d at once", p.name, atOnce), median(p.rates[atOnce]), "1/s")
		}
		n.record(row, fmt.Sprintf("%s: p50 at %d/s", p.name, intakeRate), quantile(p.took, 0.5).Seconds()*1000, "ms")
		n.record(row, fmt.Sprintf("%s: p99 at %d/s", p.name, intakeRate), quantile(p.took, 0.99).Seconds()*1000, "ms")
	}
	rate, slow := row+": rate with %s at once against a bare server's", row+": p99 at 1,000/s against the bare server's"
	for _, atOnce := range intakeAtOnce {
		if at, got := strconv.Itoa(atOnce), ratio(own.rates[atOnce], bare.rates[atOnce]); held {
			n.atLeast(rate, at, got, 0.6)
		} else {
			n.shown(rate, at, figure(got))
		}
	}
	if got := ratio(own.slow, bare.slow); held {
		n.atMost(slow, "", got, 3)
	} else {
		n.shown(slow, "", figure(got))
	}
	n.shown(row+": by processor time, its clients' and its store's included", "", figure(ratio(bare.costs, own.costs)))
	for _, p := range others {
		var rates []string
		for _, atOnce := range intakeAtOnce {
			rates = append(rates, figure(ratio(p.rates[atOnce], bare.rates[atOnce])))
		}
		n.shown(row+": "+p.name+": rates; by processor time; p99", "", fmt.Sprintf("%s; %s; %s",
			strings.Join(rates, ", "), figure(ratio(bare.costs, p.costs)), figure(ratio(p.slow, bare.slow))))
	}
}

// ratio is the median of what each round found.
func ratio(of, to []float64) float64 {
	each := make([]float64, len(of))
	for i := range of {
		each[i] = of[i] / to[i]
	}
	return median(each)
}
