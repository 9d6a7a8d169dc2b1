package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestAbandonedBeginsAtZero: an abandoned claim adds no series, so that the first one shows as a
// rise.
func TestAbandonedBeginsAtZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		e := newEngine(s, core{}, "p")
		reg := prometheus.NewRegistry()
		e.Metrics = NewMetrics(reg)
		e.Metrics.Expect("") // a link without a route
		before := resultCounts(t, reg)
		observe(t, s, "p", 1, 0)
		for range 2 { // processes that end while they work the key
			if claim, _, err := s.Claim(t.Context(), "p", time.Minute); claim == nil {
				t.Fatal("no key is due:", err)
			}
			time.Sleep(2 * time.Minute)
		}
		stop := inBackground(e)
		time.Sleep(time.Minute)
		stop()
		after := resultCounts(t, reg)
		if after["abandoned"] != 1 || after["done"] != 1 {
			t.Errorf("results %v, want one abandoned and one done", after)
		}
		for result := range after {
			if _, known := before[result]; !known {
				t.Errorf("%s did not begin at zero", result)
			}
		}
	})
}

// resultCounts counts the worked keys by result.
func resultCounts(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "planbridge_reconcile_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "result" {
					counts[l.GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
	}
	return counts
}
