package webhook

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/mapping"
)

// TestSeriesOfQuarantines: a route has a series of its quarantine where strangers' issues can wait
// in one: it takes issues of public repositories.
func TestSeriesOfQuarantines(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	for _, r := range []mapping.Route{
		{Name: "public", AllowPublic: true, Quarantine: mapping.QuarantineAuto},
		{Name: "off", AllowPublic: true, Quarantine: mapping.QuarantineOff},
		{Name: "private", Quarantine: mapping.QuarantineAuto},
		{Name: "to GitHub", AllowPublic: true, Quarantine: mapping.QuarantineAuto, Direction: mapping.ToGitHub},
	} {
		m.Expect(&r)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		if f.GetName() == "planbridge_quarantined" {
			for _, s := range f.GetMetric() {
				got = append(got, s.GetLabel()[0].GetValue())
			}
		}
	}
	if !slices.Equal(got, []string{"public"}) {
		t.Errorf("series of %q", got)
	}
}
