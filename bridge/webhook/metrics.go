package webhook

import "github.com/prometheus/client_golang/prometheus"

// The values of the label result.
const (
	stored      = "stored"
	duplicate   = "duplicate"   // stored before; its key was made due again
	ignored     = "ignored"     // understood, and nothing to remember
	refused     = "refused"     // a public repository whose route does not allow it
	forged      = "forged"      // no secret verifies it
	malformed   = "malformed"   // signed, but not understood; or cut
	tooLarge    = "too_large"   // over 25 MiB
	slow        = "slow"        // the body did not come in time
	full        = "full"        // the queue is at its bound
	unavailable = "unavailable" // the store did not take it
)

// results are all of them.
var results = []string{stored, duplicate, ignored, refused, forged, malformed, tooLarge, slow, full, unavailable}

// words are what a delivery is answered with that was not taken.
var words = map[string]string{
	forged: "signature missing or wrong", malformed: "not understood", tooLarge: "too large", slow: "too slow",
	full: "the queue is full", unavailable: "the store does not take it",
}

// Metrics are the intake's metrics.
type Metrics struct{ deliveries *prometheus.CounterVec }

// NewMetrics registers the metrics with reg. The series of the events that are
// read, and of those nobody knows, begin at zero.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "planbridge_webhook_deliveries_total",
		Help: "Webhook deliveries by event and by what became of them.",
	}, []string{"event", "result"})}
	for _, event := range []string{"issues", "sub_issues", "repository", "other"} {
		for _, result := range results {
			m.deliveries.WithLabelValues(event, result)
		}
	}
	reg.MustRegister(m.deliveries)
	return m
}

func (m *Metrics) count(event, result string) {
	if !events[event] {
		event = "other"
	}
	m.deliveries.WithLabelValues(event, result).Inc()
}

// events bounds the label event: a stranger can send any name.
var events = map[string]bool{
	"ping": true, "issues": true, "issue_comment": true, "sub_issues": true, "issue_dependencies": true,
	"repository": true, "label": true, "milestone": true, "push": true, "pull_request": true,
	"installation": true, "installation_repositories": true, "meta": true, "member": true,
	"organization": true, "public": true, "discussion": true, "projects_v2_item": true,
}
