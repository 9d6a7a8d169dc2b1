package verifier

import (
	"maps"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/mapping"
)

// TestDriftOfARouteThatIsGone: a route that a reload removed has no differing links any more, also
// where a verification began before. Else its alert would last until a restart.
func TestDriftOfARouteThatIsGone(t *testing.T) {
	t.Parallel()
	web, api := &mapping.Route{Name: "web"}, &mapping.Route{Name: "api"}
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	series := func() map[string]int {
		got := map[string]int{}
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, s := range f.GetMetric() {
				got[s.GetLabel()[0].GetValue()] = int(s.GetGauge().GetValue())
			}
		}
		return got
	}
	m.Expect([]*mapping.Route{web, api})
	m.show(map[string]int{"web": 3, "api": 1}, []*mapping.Route{web, api})
	if got, want := series(), map[string]int{"web": 3, "api": 1}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	m.Expect([]*mapping.Route{api})
	m.show(map[string]int{"web": 3, "api": 2}, []*mapping.Route{web, api})
	want := map[string]int{"api": 2}
	if got := series(); !maps.Equal(got, want) {
		t.Errorf("after the reload %v, want %v", got, want)
	}
	if got := m.Drift(); !maps.Equal(got, want) {
		t.Errorf("after the reload the page tells of %v, want %v", got, want)
	}
}
