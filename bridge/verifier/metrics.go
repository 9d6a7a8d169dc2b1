package verifier

import (
	"maps"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/mapping"
)

// Metrics are those of verifications.
type Metrics struct {
	drift *prometheus.GaugeVec // as of the last verification; 0 before the first

	mu      sync.Mutex
	differs map[string]int  // the same, by route
	routes  map[string]bool // of the configuration; nil: not known
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{differs: map[string]int{}}
	m.drift = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "planbridge_drift_links", Help: "Links whose sides differed when they were last verified."}, []string{"route"})
	r.MustRegister(m.drift)
	return m
}

// Expect starts the series of the configured routes, and ends those of all others.
func (m *Metrics) Expect(routes []*mapping.Route) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.routes
	m.routes = map[string]bool{}
	for _, r := range routes {
		m.routes[r.Name] = true
		m.drift.WithLabelValues(r.Name)
	}
	for route := range before {
		if !m.routes[route] {
			delete(m.differs, route)
			m.drift.DeleteLabelValues(route)
		}
	}
}

func (m *Metrics) show(drift map[string]int, routes []*mapping.Route) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range routes {
		if m.routes != nil && !m.routes[r.Name] {
			continue // a reload removed it meanwhile
		}
		m.drift.WithLabelValues(r.Name).Set(float64(drift[r.Name]))
		m.differs[r.Name] = drift[r.Name]
	}
}

// Drift counts the links that differed when they were last verified, by route.
func (m *Metrics) Drift() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.differs)
}
