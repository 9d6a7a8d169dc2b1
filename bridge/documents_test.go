package bridge_test

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/mapping/pagetest"
)

// registered is how a metric's description names it and its labels.
var registered = regexp.MustCompile(`fqName: "(planbridge_[a-z_]+)".*variableLabels: \{([a-z,]*)\}`)

// TestMetricsInDocuments: the page on operations has each metric with its labels, and no
// page names another one.
func TestMetricsInDocuments(t *testing.T) {
	w := world(t, bridgetest.Options{Dir: t.TempDir(), Idle: true})
	registry := prometheus.NewRegistry()
	a, err := bridge.New(bridge.Options{Config: load(t, w, same), Logger: slog.New(slog.DiscardHandler), Registry: registry})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	descriptions := make(chan *prometheus.Desc, 1000)
	registry.Describe(descriptions)
	close(descriptions)
	want := map[string]string{}
	for d := range descriptions {
		m := registered.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("not understood: %s", d)
		}
		want[m[1]] = strings.ReplaceAll(m[2], ",", ", ")
	}
	got := map[string]string{}
	for _, row := range pagetest.Read(t, "..", "docs/operations.md").Rows {
		if strings.HasPrefix(row[0], "planbridge_") {
			got[row[0]] = row[1]
		}
	}
	for name, labels := range want {
		if shown, is := got[name]; !is {
			t.Errorf("docs/operations.md does not have %s", name)
		} else if shown != labels {
			t.Errorf("docs/operations.md: %s has the labels %q, not %q", name, labels, shown)
		}
	}
	named := regexp.MustCompile(`\bplanbridge_[a-z_]+`)
	for _, p := range pagetest.Pages(t, "..") {
		for _, name := range slices.Compact(named.FindAllString(p.Source, -1)) {
			if _, is := want[name]; !is {
				t.Errorf("%s names %s, which is no metric", p.Path, name)
			}
		}
	}
}
