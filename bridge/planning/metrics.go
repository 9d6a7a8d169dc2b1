package planning

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the collectors of requests, which every API client shares. The label api
// distinguishes the clients.
type Metrics struct {
	Requests *prometheus.CounterVec   // api, operation, code (a status, or "error" where no answer came)
	Duration *prometheus.HistogramVec // api, operation; seconds, the body's reading included
}

// NewMetrics makes and registers the collectors, or returns those registered already. A nil
// Registerer registers nothing.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		Requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "planbridge_api_requests_total",
			Help: "Requests to the APIs of both sides, by operation and status code.",
		}, []string{"api", "operation", "code"}),
		Duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "planbridge_api_request_duration_seconds",
			Help:    "Duration of requests to the APIs of both sides, by operation.",
			Buckets: prometheus.DefBuckets,
		}, []string{"api", "operation"}),
	}
	if r != nil {
		m.Requests = register(r, m.Requests)
		m.Duration = register(r, m.Duration)
	}
	return m
}

func register[C prometheus.Collector](r prometheus.Registerer, c C) C {
	err := r.Register(c)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if known, ok := already.ExistingCollector.(C); ok {
			return known
		}
	}
	if err != nil {
		panic(err) // like prometheus.MustRegister: a mistake in the program
	}
	return c
}

// observe counts one request. It is nil-safe.
func (m *Metrics) observe(operation, code string, d time.Duration) {
	if m == nil {
		return
	}
	m.Requests.WithLabelValues("planning", operation, code).Inc()
	m.Duration.WithLabelValues("planning", operation).Observe(d.Seconds())
}
