package effects

import (
	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// Metrics are the core's counters, in the names of docs/operations.md. Labels are bounded:
// routes, sides and attributes, never issues.
//
// Conflicts counts a conflict when its values are kept: under the side that the
// policy lets win, or under ask. One that was asked is counted once more, under
// the side that an operator or later the policy chose, when that is carried out; not
// where people made both sides equal, as then neither won.
type Metrics struct {
	Lag         *prometheus.HistogramVec
	Writes      *prometheus.CounterVec
	Conflicts   *prometheus.CounterVec
	Echoes      *prometheus.CounterVec
	Prevented   *prometheus.CounterVec
	Recovered   *prometheus.CounterVec
	UserRefused *prometheus.CounterVec
	Braked      *prometheus.CounterVec
	Absences    *prometheus.CounterVec
	Violations  *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them with reg, where it is not nil.
// What has no route begins at zero; see also Expect.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "planbridge_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "planbridge_" + name, Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		Lag:         histogram("sync_lag_seconds", "From a change being seen to it being written on the other side.", prometheus.ExponentialBuckets(0.01, 2.5, 16), "direction"),
		Writes:      counter("attribute_writes_total", "Attribute values written, by the side written.", "route", "side", "attribute"),
		Conflicts:   counter("conflicts_total", "Conflicts, by how they were resolved.", "route", "attribute", "resolution"),
		Echoes:      counter("echoes_total", "Own writes that came back and were recognised, by the side that was written.", "side"),
		Prevented:   counter("duplicates_prevented_total", "Items that would have been made twice, by how it was noticed.", "how"),
		Recovered:   counter("lost_updates_recovered_total", "Edits of people that a write of ours ran over and that were brought back.", "route"),
		UserRefused: counter("users_refused_total", "Writes in a person's name that planning refused and the route's user made instead.", "route"),
		Braked:      counter("braked_total", "Acts that a route's brake put off, by kind.", "route", "kind"),
		Violations:  counter("invariant_violations_total", "Claims that broke an invariant of their record: the key is parked and nothing is written.", "route", "invariant"),
		Absences:    counter("absences_total", "Items that answered gone twice, by whether that was believed, or held because many others did at once.", "route", "side", "result"),
	}
	for _, side := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		m.Lag.WithLabelValues("to_" + string(side))
		m.Echoes.WithLabelValues(string(side))
	}
	for _, how := range []string{"poll", "lookup", "webhook", "comment", "transfer", "project"} {
		m.Prevented.WithLabelValues(how)
	}
	if reg != nil {
		reg.MustRegister(m.Lag, m.Writes, m.Conflicts, m.Echoes, m.Prevented, m.Recovered, m.UserRefused, m.Braked, m.Absences, m.Violations)
	}
	return m
}

// Expect lets a route's series begin at zero, so that what happens for the first
// time is seen to rise. What the route does not do has no series.
func (m *Metrics) Expect(r *mapping.Route) {
	for _, a := range mapping.Attributes {
		if synchronises(r, a) {
			m.expectAttribute(r, a)
		}
	}
	m.Braked.WithLabelValues(r.Name, "creates")
	for _, side := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		for _, result := range []string{"believed", "held"} {
			m.Absences.WithLabelValues(r.Name, string(side), result)
		}
	}
	for _, invariant := range reconcile.Invariants() {
		m.Violations.WithLabelValues(r.Name, invariant)
	}
	if r.Direction != mapping.ToPlanning {
		m.Braked.WithLabelValues(r.Name, "closes")
		m.Recovered.WithLabelValues(r.Name)
	}
	if r.Direction != mapping.ToGitHub {
		m.UserRefused.WithLabelValues(r.Name)
	}
}

// synchronises reports whether a route has pairs with the attribute.
func synchronises(r *mapping.Route, a mapping.Attribute) bool {
	return a != mapping.State || r.TrackingTask || r.HasTasks()
}

// expectAttribute begins the series of an attribute: of the sides that the route writes, and of
// those that may win.
func (m *Metrics) expectAttribute(r *mapping.Route, a mapping.Attribute) {
	if r.Direction != mapping.ToPlanning {
		m.Writes.WithLabelValues(r.Name, string(mapping.GitHub), string(a))
		m.Conflicts.WithLabelValues(r.Name, string(a), string(mapping.Planning))
	}
	if r.Direction != mapping.ToGitHub {
		m.Writes.WithLabelValues(r.Name, string(mapping.Planning), string(a))
		m.Conflicts.WithLabelValues(r.Name, string(a), string(mapping.GitHub))
	}
	if r.Asks(a) {
		m.Conflicts.WithLabelValues(r.Name, string(a), string(mapping.PolicyAsk))
	}
}

func (m *Metrics) counter(c reconcile.Counter) *prometheus.CounterVec {
	return map[reconcile.Counter]*prometheus.CounterVec{
		reconcile.CountWrites: m.Writes, reconcile.CountConflicts: m.Conflicts, reconcile.CountEchoes: m.Echoes,
		reconcile.CountPrevented: m.Prevented, reconcile.CountRecovered: m.Recovered, reconcile.CountUserRefused: m.UserRefused,
		reconcile.CountBraked: m.Braked, reconcile.CountAbsences: m.Absences, reconcile.CountViolations: m.Violations,
	}[c]
}
