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
	differs map[string]int // the same, by route
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{differs: map[string]int{}}
	m.drift = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "planbridge_drift_links", Help: "Links whose sides differed when they were last verified."}, []string{"route"})
	r.MustRegister(m.drift)
	return m
}

// Expect lets the series of a route begin.
func (m *Metrics) Expect(route string) { m.drift.WithLabelValues(route) }

func (m *Metrics) show(drift map[string]int, routes []*mapping.Route) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range routes {
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
