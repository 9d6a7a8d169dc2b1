package engine

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the engine's, in the names of docs/operations.md. Labels are bounded: routes and results.
type Metrics struct {
	Reconciles *prometheus.CounterVec
	Duration   *prometheus.HistogramVec
}

// NewMetrics makes the metrics and registers them with reg, where it is not nil.
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

// results are those that every route may have at any time.
var results = []string{"done", "again", "waiting", "limited", "retry", "parked", "removed", "lost", "abandoned"}

// Expect lets a route's series begin at zero, so that what happens for the first
// time is seen to rise.
func (m *Metrics) Expect(route string) {
	for _, result := range results {
		m.Reconciles.WithLabelValues(route, result)
	}
	m.Duration.WithLabelValues(route)
}
