package sim

import (
	"errors"
	"net/http"
	"sync/atomic"

	"planbridge/bridge/nettest"
)

// ErrCrashed is what a replica that crashed gets from all that it still asks for.
var ErrCrashed = errors.New("the replica has crashed")

// Network is an actor's side of the network: each request is a step, and each answer.
type Network struct {
	nettest.Network
	Actor     string
	Scheduler *Scheduler
	crashed   atomic.Bool
}

// Crash refuses whatever the actor asks for from now on. What it asked for before has
// its effect.
func (n *Network) Crash() { n.crashed.Store(true) }

// RoundTrip implements [http.RoundTripper].
func (n *Network) RoundTrip(r *http.Request) (*http.Response, error) {
	what := r.Method + " " + r.URL.RequestURI()
	n.Scheduler.Step(n.Actor, what)
	if n.crashed.Load() {
		return nil, ErrCrashed
	}
	resp, err := n.Network.RoundTrip(r)
	n.Scheduler.Step(n.Actor, "answer to "+what)
	if n.crashed.Load() {
		return nil, ErrCrashed
	}
	return resp, err
}
