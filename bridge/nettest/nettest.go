// Package nettest connects the simulated services and the bridges of a test: over loopback sockets,
// or inside the process.
package nettest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Network transports requests and answers.
type Network interface {
	http.RoundTripper
	// Serve has a handler answer at an address until stop is called, which cuts the requests under
	// way. The result bound is the address that it listens on.
	Serve(addr string, h http.Handler) (bound string, stop func(), err error)
}

// Loopback is the [Network] of the system, for addresses of this machine.
type Loopback struct{ http.Transport }

// NewLoopback returns a network that keeps few idle connections.
func NewLoopback() *Loopback { return &Loopback{http.Transport{MaxIdleConnsPerHost: 2}} }

// Serve implements [Network].
func (*Loopback) Serve(addr string, h http.Handler) (bound string, stop func(), err error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	srv, done := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}, make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic("nettest: serve: " + err.Error())
		}
	}()
	return l.Addr().String(), func() {
		srv.Close() //nolint:errcheck // the listener goes away either way
		<-done
	}, nil
}
