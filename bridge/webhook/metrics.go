package webhook

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/mapping"
)

// The values of the label result.
const (
	stored      = "stored"
	duplicate   = "duplicate"   // stored before; its key was made due again
	ignored     = "ignored"     // understood, and nothing to store
	refused     = "refused"     // a public repository whose route does not allow it
	foreign     = "foreign"     // signed by a secret that does not cover it, and not configured
	forged      = "forged"      // no secret of its repository verifies it
	panicked    = "panic"       // the program panicked
	malformed   = "malformed"   // not understood, or cut off
	tooLarge    = "too_large"   // over 25 MiB
	slow        = "slow"        // the body did not come in time
	overloaded  = "overloaded"  // too many unverified bytes or connections at once
	full        = "full"        // the queue is at its bound
	unavailable = "unavailable" // the store did not take it
)

// results are all values.
var results = []string{stored, duplicate, ignored, refused, foreign, forged, malformed, panicked, tooLarge, slow, overloaded, full, unavailable}

// words are the answers to deliveries that were not taken.
var words = map[string]string{
	forged: "signature missing or wrong", malformed: "not understood", panicked: "internal error", tooLarge: "too large", slow: "too slow",
	overloaded: "too much at once",
	full:       "the queue is full", unavailable: "the store does not take it",
}

// Metrics are the intake's metrics.
type Metrics struct {
	deliveries  *prometheus.CounterVec
	last        prometheus.Gauge
	quarantined *prometheus.GaugeVec
}

// NewMetrics registers the metrics with reg. Series of the events that are read, and of unknown
// ones, start at zero.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "planbridge_webhook_deliveries_total",
			Help: "Webhook deliveries by event and by what became of them.",
		}, []string{"event", "result"}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "planbridge_webhook_last_delivery_timestamp_seconds",
			Help: "When a delivery that a secret verifies came last; 0 while none came.",
		}),
		quarantined: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "planbridge_quarantined",
			Help: "Issues that wait in quarantine, of those that this process saw in the last 30 days.",
		}, []string{"route"}),
	}
	for _, event := range append(slices.Sorted(maps.Keys(acted)), "other") {
		for _, result := range results {
			m.deliveries.WithLabelValues(event, result)
		}
	}
	reg.MustRegister(m.deliveries, m.last, m.quarantined)
	return m
}

// Expect starts the series of a route with a quarantine at zero: one that takes issues of public
// repositories.
func (m *Metrics) Expect(r *mapping.Route) {
	if r.Quarantine == mapping.QuarantineAuto && r.AllowPublic && r.Direction != mapping.ToGitHub {
		m.quarantined.WithLabelValues(r.Name)
	}
}

func (m *Metrics) count(event, result string) {
	if !events[event] {
		event = "other"
	}
	m.deliveries.WithLabelValues(event, result).Inc()
}

// acted are the events whose payload is read.
var acted = map[string]bool{"issues": true, "sub_issues": true, "repository": true, "ping": true}

// events bounds the label event, as anybody can send any name.
var events = map[string]bool{
	"ping": true, "issues": true, "issue_comment": true, "sub_issues": true, "issue_dependencies": true,
	"repository": true, "label": true, "milestone": true, "push": true, "pull_request": true,
	"installation": true, "installation_repositories": true, "meta": true, "member": true,
	"organization": true, "public": true, "discussion": true, "projects_v2_item": true,
}
