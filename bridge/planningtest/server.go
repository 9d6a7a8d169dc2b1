package planningtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"planbridge/bridge/nettest"
	"planbridge/bridge/planningtest/planningmodel"
)

// Options configure a [Server]. The zero value is usable.
type Options struct {
	Addr   string           // where to listen; "" means 127.0.0.1 on any free port
	Prefix string           // path before /api, such as "/planning"
	Logger *slog.Logger     // one debug line a call; nil: none
	Traits Traits           // the first traits; see [Server.SetTraits]
	Clock  func() time.Time // nil means time.Now
	// Network brings the calls; nil: loopback sockets.
	Network nettest.Network
}

// Server is a running planning service.
type Server struct {
	prefix  string
	addr    string // as bound, so that Down(false) comes back to the same address
	log     *slog.Logger
	clock   func() time.Time
	handler http.Handler
	service *planningmodel.Service
	closed  chan struct{}
	work    sync.WaitGroup // calls in flight and late effects

	network  nettest.Network
	life     sync.Mutex // held while the listener goes up or down
	unlisten func()     // nil: it is down

	mu      sync.Mutex
	changed chan struct{} // closed and replaced on every change
	closing bool
	latency time.Duration
	held    chan struct{} // closed to go on; nil: nothing is held
	// shown has the last answers, by path, where they have a Last-Modified.
	shown   map[string]shown
	faults  []*ActiveFault
	journal []Call
	counts  map[string]int
	seq     int
}

// Start runs a planning service until Close.
func Start(o Options) (*Server, error) {
	s := &Server{
		addr: or(o.Addr, "127.0.0.1:0"), log: or(o.Logger, slog.New(slog.DiscardHandler)), clock: o.Clock,
		closed: make(chan struct{}), changed: make(chan struct{}), counts: map[string]int{}, shown: map[string]shown{},
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.service = planningmodel.New(planningmodel.Options{
		Traits: o.Traits, Now: s.clock, Shuffle: Shuffle(), Changed: func() { s.act()() },
	})
	if p := strings.Trim(o.Prefix, "/"); p != "" {
		s.prefix = "/" + p
	}
	if s.network = o.Network; s.network == nil {
		s.network = nettest.NewLoopback()
	}
	s.handler = s.routes()
	if err := s.up(); err != nil {
		return nil, err
	}
	return s, nil
}

// URL is the base URL with its prefix, without a slash at its end.
func (s *Server) URL() string { return "http://" + s.addr + s.prefix }

// Close stops the service and waits for its calls. Calls that a fault still holds never happen.
// Closing twice is fine.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closing {
		s.closing = true
		close(s.closed)
	}
	s.mu.Unlock()
	s.Down(true)
	s.work.Wait()
}

// Down takes the service off the network (connections are refused, open ones
// are cut) or brings it back on the same address. It panics where that
// address cannot be had again for some seconds.
func (s *Server) Down(down bool) {
	s.life.Lock()
	defer s.life.Unlock()
	switch {
	case down && s.unlisten != nil:
		s.unlisten()
		s.unlisten = nil
	case !down && s.unlisten == nil:
		err := s.up()
		for end := time.Now().Add(upWait); errors.Is(err, syscall.EADDRINUSE) && time.Now().Before(end); err = s.up() {
			<-time.After(5 * time.Millisecond)
		}
		if err != nil {
			panic("planningtest: " + err.Error())
		}
	}
}

// upWait bounds the wait for a former address. A process that is started meanwhile may hold it for
// a moment.
const upWait = 5 * time.Second

func (s *Server) up() error {
	bound, unlisten, err := s.network.Serve(s.addr, s.handler)
	if err != nil {
		return err
	}
	s.unlisten = unlisten
	if s.addr != bound { // URL reads it without a lock from the first time on
		s.addr = bound
	}
	return nil
}

// SetTraits changes the service's behaviour from the next call on. The
// function must not call the server.
func (s *Server) SetTraits(change func(*Traits)) { s.service.SetTraits(change) }

// Service is the service behind the HTTP.
func (s *Server) Service() *planningmodel.Service { return s.service }

// Shuffle is the order of shuffled answers, the same with each server.
func Shuffle() func(n int, swap func(i, j int)) { return rand.New(rand.NewPCG(1, 2)).Shuffle }

// AddProject creates a project.
func (s *Server) AddProject(spec ProjectSpec) *Project { return s.service.AddProject(spec) }

// SetLatency makes every call wait d after its arrival before it is handled.
func (s *Server) SetLatency(d time.Duration) {
	defer s.act()()
	s.latency = d
}

// Hold makes calls wait before they are handled, until the returned function is called. People's
// acts meanwhile are one moment for the callers.
func (s *Server) Hold() (goOn func()) {
	defer s.act()()
	held := make(chan struct{})
	s.held = held
	return func() {
		defer s.act()()
		s.held = nil
		close(held)
	}
}

// Wait returns nil as soon as cond holds. It asks at once and then after every
// change of any kind: an act, a call, a fault that met its call. When ctx
// ends first, its error is returned.
func (s *Server) Wait(ctx context.Context, cond func(*Server) bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if cond(s) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the planning service: %w", ctx.Err())
		}
	}
}

// act locks the server for a change; the returned function unlocks it and wakes waiting goroutines.
func (s *Server) act() func() {
	s.mu.Lock()
	return func() {
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
	}
}

// enter counts a call in, unless the server is closing.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.work.Add(1)
	return true
}

// pause waits for d, for goOn, or for the server's end, and then reports false. With hold it waits
// for goOn without a bound.
func (s *Server) pause(d time.Duration, hold bool, goOn <-chan struct{}) bool {
	var after <-chan time.Time
	if !hold {
		if d <= 0 {
			return true
		}
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
		return true
	case <-goOn:
		return true
	case <-s.closed:
		return false
	}
}
