package poll

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the metrics of all Pollers of a process.
type Metrics struct {
	duration *prometheus.HistogramVec
	success  *prometheus.GaugeVec
}

// NewMetrics registers the metrics with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "planbridge_poll_duration_seconds",
			Help:    "How long a poll of a planning project took.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
		}, []string{"project"}),
		success: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "planbridge_poll_last_success_timestamp_seconds",
			Help: "When a planning project was last polled completely.",
		}, []string{"project"}),
	}
	reg.MustRegister(m.duration, m.success)
	return m
}
