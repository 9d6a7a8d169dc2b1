// Package monitor remembers how this process meets both services, and what it did last:
// what the status page shows beside the store. It remembers a bounded number of things,
// in memory alone.
package monitor

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

// maxRecent bounds the activities that are remembered.
const maxRecent = 1000

// Monitor remembers. It is safe for concurrent use.
type Monitor struct {
	now func() time.Time

	mu       sync.Mutex
	services map[string]*Meeting
	leases   map[string]bool // by name: whether this process has it
	recent   []status.Activity
	next     int            // in recent, once it is full
	refused  string         // why the last reload was; "": it was not
	unproven []status.Fault // what of the configuration in force does not work
}

// New returns a Monitor that dates by a clock.
func New(now func() time.Time) *Monitor {
	return &Monitor{now: now, services: map[string]*Meeting{}, leases: map[string]bool{}}
}

// Meeting is how a service was last met.
type Meeting struct {
	Answered time.Time // the last time
	Failed   time.Time // the last time; zero: never
	Error    string    // why
	Refused  bool      // the last failure was that the service does not take the secret
	// Heard tells when each source of changes last succeeded.
	Heard map[string]time.Time
}

// Shut reports whether a service was last met with a secret that it does not take.
func (m *Meeting) Shut() bool { return m.Refused && m.Failed.After(m.Answered) }

// Asked takes in how a service answered one request. Nil, and an error that is about the
// request alone, is an answer. A request that its caller gave up says nothing.
func (m *Monitor) Asked(service string, err error) {
	refused := errors.Is(err, mapping.ErrUnauthorized)
	failed := refused || errors.Is(err, mapping.ErrUnavailable) || errors.Is(err, mapping.ErrUncertain)
	if failed && errors.Is(err, context.Canceled) {
		return
	}
	now := m.now().UTC()
	m.mu.Lock()
	defer m.mu.Unlock()
	met := m.met(service)
	if !failed {
		met.Answered = now
		return
	}
	met.Failed, met.Error, met.Refused = now, err.Error(), refused
}

// Heard takes in that a source of changes succeeded.
func (m *Monitor) Heard(service, source string) {
	now := m.now().UTC()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.met(service).Heard[source] = now
}

// Service returns how a service was last met.
func (m *Monitor) Service(name string) Meeting {
	m.mu.Lock()
	defer m.mu.Unlock()
	met := *m.met(name)
	met.Heard = map[string]time.Time{}
	for source, at := range m.met(name).Heard {
		met.Heard[source] = at
	}
	return met
}

// met is what is known of a service. The caller holds mu.
func (m *Monitor) met(service string) *Meeting {
	if m.services[service] == nil {
		m.services[service] = &Meeting{Heard: map[string]time.Time{}}
	}
	return m.services[service]
}

// Elsewhere reports whether another replica has a lease, as this process last knew.
func (m *Monitor) Elsewhere(lease string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	held, known := m.leases[lease]
	return known && !held
}

// Reloaded takes in how a reload of the configuration went.
func (m *Monitor) Reloaded(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused = ""; err != nil {
		m.refused = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
}

// Proven takes in what of the configuration in force does not work, which is not changed
// afterwards.
func (m *Monitor) Proven(faults []status.Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unproven = faults
}

// Configuration says what of the configuration does not work, a sentence each.
func (m *Monitor) Configuration() (out []status.Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused != "" {
		out = append(out, status.Fault{Says: "The last reload was refused, and the configuration before it is in force: " + m.refused})
	}
	for _, fault := range m.unproven {
		out = append(out, status.Fault{Says: "A part of the configuration does not work: " + fault.Says, Service: fault.Service})
	}
	return out
}

// Leases is what tells a Monitor which leases its process has: a store in whose place it
// stands.
type Leases interface {
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
}

// Acquire acquires a lease, and remembers whether this process has it.
func (m *Monitor) Acquire(ctx context.Context, from Leases, name, owner string, ttl time.Duration) (bool, error) {
	held, err := from.Acquire(ctx, name, owner, ttl)
	if err == nil {
		m.mu.Lock()
		m.leases[name] = held
		m.mu.Unlock()
	}
	return held, err
}

// Did takes in what was done to a link.
func (m *Monitor) Did(l *mapping.Link, history []mapping.Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range history {
		a := status.ActivityOf(l, &history[i])
		if len(m.recent) < maxRecent {
			m.recent = append(m.recent, a)
			continue
		}
		m.recent[m.next] = a
		m.next = (m.next + 1) % maxRecent
	}
}

// Recent lists what was done last, newest first.
func (m *Monitor) Recent(limit int) []status.Activity {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(limit, len(m.recent))
	out := make([]status.Activity, 0, n)
	for i := range n {
		at := (m.next - 1 - i + 2*len(m.recent)) % len(m.recent)
		out = append(out, m.recent[at])
	}
	return out
}
