package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Process has the metrics of this process's last events.
type Process struct {
	caughtUp prometheus.Gauge
	reloads  *prometheus.CounterVec
	refused  prometheus.Gauge
}

// The values of the label result of reloads.
const (
	reloadDone    = "done"
	reloadRefused = "refused"
)

// NewProcess registers the metrics.
func NewProcess(reg prometheus.Registerer) *Process {
	p := &Process{
		caughtUp: prometheus.NewGauge(prometheus.GaugeOpts{Name: "planbridge_catch_up_last_success_timestamp_seconds", Help: "When GitHub was last listed; 0 while this process has not."}),
		reloads:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "planbridge_reloads_total", Help: "Reloads of the configuration, by result."}, []string{"result"}),
		refused:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "planbridge_configuration_refused", Help: "Whether the last reload was refused and the configuration before it is in force."}),
	}
	for _, result := range []string{reloadDone, reloadRefused} {
		p.reloads.WithLabelValues(result)
	}
	reg.MustRegister(p.caughtUp, p.reloads, p.refused)
	return p
}

// Reloaded counts a reload, which failed where err is not nil.
func (p *Process) Reloaded(err error) {
	result := reloadDone
	if err != nil {
		result = reloadRefused
	}
	p.reloads.WithLabelValues(result).Inc()
	p.refused.Set(oneIf(err != nil))
}

// CaughtUp records when GitHub was listed.
func (p *Process) CaughtUp(at time.Time) { p.caughtUp.Set(float64(at.UnixMilli()) / 1000) }
