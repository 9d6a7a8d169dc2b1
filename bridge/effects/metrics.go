package effects

import (
	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// Metrics are the core's counters, with the names of docs/operations.md. Labels are bounded:
// routes, sides and attributes, never issues.
//
// CountConflicts counts a conflict when its values are kept: under the side that the policy lets
// win, or under ask. A conflict under ask counts once more, under the side that an operator or a
// later policy chose, when that is carried out. It does not where people made both sides equal,
// as then neither won.
type Metrics struct {
	Lag      *prometheus.HistogramVec
	Counters map[reconcile.Counter]*prometheus.CounterVec
}

// counters has the name, the help and the labels of each counter.
var counters = map[reconcile.Counter]struct {
	name, help string
	labels     []string
}{
	reconcile.CountWrites:      {"attribute_writes_total", "Attribute values written, by the side written.", []string{"route", "side", "attribute"}},
	reconcile.CountConflicts:   {"conflicts_total", "Conflicts, by how they were resolved.", []string{"route", "attribute", "resolution"}},
	reconcile.CountEchoes:      {"echoes_total", "Own writes that came back and were recognised, by the side that was written.", []string{"side"}},
	reconcile.CountPrevented:   {"duplicates_prevented_total", "Items that would have been made twice, by how it was noticed.", []string{"how"}},
	reconcile.CountRecovered:   {"lost_updates_recovered_total", "Edits of people that a write of ours ran over and that were brought back.", []string{"route"}},
	reconcile.CountUserRefused: {"users_refused_total", "Writes in a person's name that planning refused and the route's user made instead.", []string{"route"}},
	reconcile.CountBraked:      {"braked_total", "Acts that a route's brake put off, by kind.", []string{"route", "kind"}},
	reconcile.CountViolations:  {"invariant_violations_total", "Claims that broke an invariant of their record: the key is parked and nothing is written.", []string{"route", "invariant"}},
	reconcile.CountAbsences:    {"absences_total", "Items that answered gone twice, by whether that was believed, or held because many others did at once.", []string{"route", "side", "result"}},
}

// NewMetrics makes the metrics and registers them with reg, unless that is nil. Series without a
// route start at zero; see also Expect.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{Counters: map[reconcile.Counter]*prometheus.CounterVec{}, Lag: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "planbridge_sync_lag_seconds", Help: "From a change being seen to it being written on the other side.", Buckets: prometheus.ExponentialBuckets(0.01, 2.5, 16),
	}, []string{"direction"})}
	all := []prometheus.Collector{m.Lag}
	for c, of := range counters {
		m.Counters[c] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "planbridge_" + of.name, Help: of.help}, of.labels)
		all = append(all, m.Counters[c])
	}
	for _, side := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		m.Lag.WithLabelValues("to_" + string(side))
		m.of(reconcile.CountEchoes, string(side))
	}
	for _, how := range []string{"poll", "lookup", "webhook", "comment", "transfer", "project"} {
		m.of(reconcile.CountPrevented, how)
	}
	if reg != nil {
		reg.MustRegister(all...)
	}
	return m
}

// of returns a counter's series with some labels. A new series starts at zero.
func (m *Metrics) of(c reconcile.Counter, labels ...string) prometheus.Counter {
	return m.Counters[c].WithLabelValues(labels...)
}

// Expect starts a route's series at zero, so that the first event shows as a rise. An act that
// the route never does has no series.
func (m *Metrics) Expect(r *mapping.Route) {
	for _, a := range mapping.Attributes {
		if synchronises(r, a) {
			m.expectAttribute(r, a)
		}
	}
	m.of(reconcile.CountBraked, r.Name, "creates")
	for _, side := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		for _, result := range []string{"believed", "held"} {
			m.of(reconcile.CountAbsences, r.Name, string(side), result)
		}
	}
	for _, invariant := range reconcile.Invariants() {
		m.of(reconcile.CountViolations, r.Name, invariant)
	}
	if r.Direction != mapping.ToPlanning {
		m.of(reconcile.CountBraked, r.Name, "closes")
		m.of(reconcile.CountRecovered, r.Name)
	}
	if r.Direction != mapping.ToGitHub {
		m.of(reconcile.CountUserRefused, r.Name)
	}
}

// synchronises reports whether a route has pairs with the attribute.
func synchronises(r *mapping.Route, a mapping.Attribute) bool {
	return a != mapping.State || r.TrackingTask || r.HasTasks()
}

// expectAttribute starts the series of an attribute: for the sides that the route writes, and for
// those that may win.
func (m *Metrics) expectAttribute(r *mapping.Route, a mapping.Attribute) {
	if r.Direction != mapping.ToPlanning {
		m.of(reconcile.CountWrites, r.Name, string(mapping.GitHub), string(a))
		m.of(reconcile.CountConflicts, r.Name, string(a), string(mapping.Planning))
	}
	if r.Direction != mapping.ToGitHub {
		m.of(reconcile.CountWrites, r.Name, string(mapping.Planning), string(a))
		m.of(reconcile.CountConflicts, r.Name, string(a), string(mapping.GitHub))
	}
	if r.Asks(a) {
		m.of(reconcile.CountConflicts, r.Name, string(a), string(mapping.PolicyAsk))
	}
}
