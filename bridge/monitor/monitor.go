// Package monitor remembers how both services answered this process, and its last actions. The
// status page shows these beside the store. The memory is bounded and ends with the process.
package monitor

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// maxRecent bounds the remembered activities.
const maxRecent = 1000

// Monitor remembers answers and activities. It is safe for concurrent use.
type Monitor struct {
	clock clock.Clock

	mu       sync.Mutex
	services map[string]*Meeting
	leases   map[string]bool // by name: whether this process has it
	recent   []status.Activity
	next     int            // index in recent, once it is full
	refused  string         // why the last reload failed; "": it did not
	unproven []status.Fault // faults of the present configuration
}

// New returns a Monitor with a clock.
func New(c clock.Clock) *Monitor {
	return &Monitor{clock: c, services: map[string]*Meeting{}, leases: map[string]bool{}}
}

// Meeting is how a service last answered.
type Meeting struct {
	Answered time.Time // the last time
	Failed   time.Time // the last time; zero: never
	Error    string    // of the last failure
	Refused  bool      // the last failure was a refused secret
	// Failing are the operations whose last request failed.
	Failing map[string]Failing
	// Heard is when each source of changes last succeeded.
	Heard map[string]time.Time
}

// Failing is how an operation failed since it last succeeded.
type Failing struct {
	Since, Last time.Time
	Times       int
	Error       string // the last one
}

// Shut reports whether a service last refused the secret.
func (m *Meeting) Shut() bool { return m.Refused && m.Failed.After(m.Answered) }

// Asked records how a service answered one request of an operation. Nil, and an error about the
// request alone, is an answer. A request that its caller cancelled says nothing.
func (m *Monitor) Asked(service, operation string, err error) {
	refused := errors.Is(err, mapping.ErrUnauthorized)
	failed := refused || errors.Is(err, mapping.ErrUnavailable) || errors.Is(err, mapping.ErrUncertain)
	if failed && errors.Is(err, context.Canceled) {
		return
	}
	now := m.clock.Now().UTC()
	m.mu.Lock()
	defer m.mu.Unlock()
	met := m.met(service)
	if !failed {
		met.Answered = now
		delete(met.Failing, operation)
		return
	}
	met.Failed, met.Error, met.Refused = now, err.Error(), refused
	f := met.Failing[operation]
	if f.Times == 0 {
		f.Since = now
	}
	met.Failing[operation] = Failing{f.Since, now, f.Times + 1, err.Error()}
}

// Heard records a success of a source of changes.
func (m *Monitor) Heard(service, source string) {
	now := m.clock.Now().UTC()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.met(service).Heard[source] = now
}

// Service returns how a service last answered.
func (m *Monitor) Service(name string) Meeting {
	m.mu.Lock()
	defer m.mu.Unlock()
	met := *m.met(name)
	met.Heard, met.Failing = maps.Clone(met.Heard), maps.Clone(met.Failing)
	return met
}

// met returns the entry of a service. The caller holds mu.
func (m *Monitor) met(service string) *Meeting {
	if m.services[service] == nil {
		m.services[service] = &Meeting{Heard: map[string]time.Time{}, Failing: map[string]Failing{}}
	}
	return m.services[service]
}

// Elsewhere reports whether another replica had a lease when last checked.
func (m *Monitor) Elsewhere(lease string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	held, known := m.leases[lease]
	return known && !held
}

// Reloaded records the result of a reload of the configuration.
func (m *Monitor) Reloaded(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused = ""; err != nil {
		m.refused = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
}

// Proven records the faults of the present configuration. The caller must not change the slice.
func (m *Monitor) Proven(faults []status.Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unproven = faults
}

// Configuration returns the faults of the configuration.
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

// Leases takes leases: the store.
type Leases interface {
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
}

// Acquire takes a lease, and remembers whether this process has it.
func (m *Monitor) Acquire(ctx context.Context, from Leases, name, owner string, ttl time.Duration) (bool, error) {
	held, err := from.Acquire(ctx, name, owner, ttl)
	if err == nil {
		m.mu.Lock()
		m.leases[name] = held
		m.mu.Unlock()
	}
	return held, err
}

// Did records the history of a link.
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

// Recent lists the last activities, newest first.
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
