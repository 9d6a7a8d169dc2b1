package engine

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the engine's metrics, with the names of docs/operations.md. Their labels are
// bounded: routes and results.
type Metrics struct {
	Reconciles *prometheus.CounterVec
	Duration   *prometheus.HistogramVec
}

// NewMetrics makes the metrics and registers them with reg, unless that is nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		Reconciles: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "planbridge_reconcile_total", Help: "Keys worked, by route and result."}, []string{"route", "result"}),
		Duration:   prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "planbridge_reconcile_duration_seconds", Help: "How long working a key took.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 16)}, []string{"route"}),
	}
	if reg != nil {
		reg.MustRegister(m.Reconciles, m.Duration)
	}
	return m
}

// results are the results that any route may have.
var results = []string{"done", "again", "waiting", "limited", "retry", "parked", "removed", "lost", "abandoned"}

// Expect starts a route's series at zero, so that the first event shows as a rise.
func (m *Metrics) Expect(route string) {
	for _, result := range results {
		m.Reconciles.WithLabelValues(route, result)
	}
	m.Duration.WithLabelValues(route)
}
