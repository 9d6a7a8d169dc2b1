// Package githubtest is a GitHub for tests: a stateful simulator of the REST API, and of the one
// GraphQL query that planbridge uses. It signs and sends webhooks over real HTTP, and can misbehave
// in every known way of GitHub.
//
// Its entry point is [Start]. A test then plays three parts:
//
//   - the owner, who sets the world up: [Server.AddRepo], [Server.AddToken],
//     [Server.AddApp], [Server.AddHook];
//   - people in the web interface, whose acts cause webhooks: [Repo.Open],
//     [Repo.Edit], [Repo.Close], [Repo.Label], [Repo.Comment] and others;
//   - fate: [Server.SetTraits], [Server.Fault], [Server.Down],
//     [Server.BeforeWrite], [Server.SetDelivery].
//
// The test reads the outcome from the state ([Repo.Issue]) and from the history of every attribute
// ([Repo.History]). It also reads it from the requests that arrived ([Server.Journal]) and the
// webhooks that left ([Server.Deliveries]). The method [Server.Wait] wakes on each change, so that
// no test has to sleep.
//
// Acts on things that do not exist panic: they are errors of the test. A
// Server and its Repos are safe for concurrent use. This package is for tests
// and for cmd/planbridge-demo only.
package githubtest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/nettest"
)

// Options say how a [Server] starts. The zero value is a GitHub without
// faults on a free port of 127.0.0.1.
type Options struct {
	Addr       string           // listen address; "": 127.0.0.1:0
	Enterprise bool             // serve the API below /api/v3 and GraphQL at /api/graphql
	Clock      func() time.Time // the clock for items and answers; nil: time.Now
	Logger     *slog.Logger     // nil: silent
	Traits     Traits
	Network    nettest.Network // nil: loopback sockets
	Seed       uint64          // of the random choices: dropped, doubled, reordered deliveries
}

// Server is one simulated GitHub.
type Server struct {
	opts     Options
	log      *slog.Logger
	unlisten func()
	client   *http.Client // sends the webhooks
	host     string       // scheme and address
	api      string       // base of the REST API
	html     string       // base of the pages people see
	ctx      context.Context
	stop     context.CancelFunc
	tasks    sync.WaitGroup // dispatcher, late effects, requests under way
	once     sync.Once

	mu       sync.Mutex // guards all below
	changed  chan struct{}
	offset   time.Duration // time added by Advance
	lastID   int64
	down     bool
	latency  time.Duration
	held     chan struct{} // closed to go on; nil: nothing is held
	heldAt   time.Time     // by the clock
	traits   Traits
	frozen   time.Duration // since start: when StaleList was switched on
	started  time.Time
	drawn    map[string]int      // how often, by purpose
	accounts map[string]*account // by lower-case login
	tokens   map[string]*token
	apps     []*App
	repos    []*Repo
	moved    map[string]*Repo // former names, lower case
	faults   []*FaultHandle
	journal  []Call
	lastSeq  int64
	hookWork hookState
	race     func(op, repo string, number int)
	content  spent // requests that made content
	points   spent // of all requests
	// graphqlPoints are those of GraphQL.
	graphqlPoints spent
	late          int // late effects under way
}

// Start listens and serves until [Server.Close].
func Start(o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Network == nil {
		o.Network = nettest.NewLoopback()
	}
	s := &Server{
		opts: o, log: o.Logger,
		client: &http.Client{
			Transport: o.Network, Timeout: deliveryTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		html:     "https://github.com",
		changed:  make(chan struct{}),
		lastID:   2_500_000_000, // beyond 32 bits, as real ids are
		traits:   o.Traits,
		started:  time.Now(),
		drawn:    map[string]int{},
		accounts: map[string]*account{},
		tokens:   map[string]*token{},
		moved:    map[string]*Repo{},
		hookWork: hookState{wake: make(chan struct{}, 1)},
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.mu.Lock() // a request that comes at once finds the rest made
	defer s.mu.Unlock()
	bound, unlisten, err := o.Network.Serve(o.Addr, http.HandlerFunc(s.serve))
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("githubtest: %w", err)
	}
	s.host, s.unlisten = "http://"+bound, unlisten
	s.api = s.host
	if o.Enterprise {
		s.api, s.html = s.host+"/api/v3", s.host
	}
	s.tasks.Go(s.dispatch)
	return s, nil
}

// URL is the base of the REST API, without a trailing slash.
func (s *Server) URL() string { return s.api }

// GraphQLURL is where GraphQL queries are posted.
func (s *Server) GraphQLURL() string {
	if s.opts.Enterprise {
		return s.host + "/api/graphql"
	}
	return s.host + "/graphql"
}

// Close ends every connection and waits until nothing runs any more. It may
// be called several times.
func (s *Server) Close() {
	s.once.Do(func() {
		s.locked(s.stop)
		s.unlisten()
		s.tasks.Wait()
		s.client.CloseIdleConnections()
	})
}

// Advance moves the server's clock forward: items changed from now on are
// stamped later, stale reads and delayed deliveries ripen.
func (s *Server) Advance(d time.Duration) {
	s.locked(func() { s.offset += d })
	s.wakeDispatcher()
}

// Now is the server's time, in whole seconds of UTC as GitHub stamps it.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

// Wait returns nil as soon as ok returns true, and ctx's error when it ends first. It calls ok
// again after every change of state, journal or deliveries. It holds no lock then, so that ok may
// use every method.
func (s *Server) Wait(ctx context.Context, ok func(*Server) bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok(s) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("githubtest: wait: %w", context.Cause(ctx))
		}
	}
}

// SetLatency makes every request wait d before it is handled.
func (s *Server) SetLatency(d time.Duration) { s.locked(func() { s.latency = d }) }

// Hold makes requests wait before they are handled, and the clock stand still, until the returned
// function is called. People's acts meanwhile are one moment for the callers. Deliveries go on.
func (s *Server) Hold() (goOn func()) {
	held := make(chan struct{})
	s.locked(func() { s.held, s.heldAt = held, s.opts.Clock() })
	return func() {
		s.locked(func() { s.held = nil })
		close(held)
	}
}

// Down true ends every connection without an answer, as an outage does; such
// requests do not reach the journal.
func (s *Server) Down(down bool) { s.locked(func() { s.down = down }) }

// BeforeWrite sets a hook that runs just before a write of the API takes effect. A person can thus
// act between a client's read and its write. It runs without locks; nil removes it. number is 0 for
// a write without an issue.
func (s *Server) BeforeWrite(f func(op, repo string, number int)) {
	s.locked(func() { s.race = f })
}

// locked runs f as one change of the world and wakes the waiting goroutines.
func (s *Server) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.notify()
}

func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// now is the time that items are stamped with.
func (s *Server) now() time.Time {
	t := s.heldAt
	if s.held == nil {
		t = s.opts.Clock()
	}
	return t.Add(s.offset).UTC().Truncate(time.Second)
}

// age is the time since the start, Advance included. Lag and delays are measured by it, as it
// always runs and has fractions of seconds, unlike now.
func (s *Server) age() time.Duration { return time.Since(s.started) + s.offset }

func (s *Server) nextID() int64 {
	s.lastID++
	return s.lastID
}

// sleep waits d, or until ctx or the server ends; it reports whether d passed.
func (s *Server) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	return false
}

// wait waits until held is closed, or until ctx or the server ends; it reports
// whether it was. nil: nothing is held.
func (s *Server) wait(ctx context.Context, held <-chan struct{}) bool {
	if held == nil {
		return true
	}
	select {
	case <-held:
		return true
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	return false
}

func lower(s string) string { return strings.ToLower(s) }
