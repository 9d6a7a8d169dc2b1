package planning

import (
	"bytes"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"planbridge/mapping"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	if again := NewMetrics(registry); again.Requests != m.Requests || again.Duration != m.Duration {
		t.Error("a second client must share the collectors")
	}
	var log bytes.Buffer
	asked := 0
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			dropping(w, r)
		}
		answering(200, fullCard)(w, r)
	}, func(o *Options) {
		o.Metrics = m
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	if _, err := c.Card(ctx(), cardID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UpdateCard(ctx(), cardID, "u", mapping.LinkImages, title("A card", 6)); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"card.get 200": 1, "card.get error": 1, "card.update 200": 1}
	if diff := cmp.Diff(want, counted(t, registry)); diff != "" {
		t.Error(diff)
	}
	if s := log.String(); !strings.Contains(s, "card.update") || strings.Contains(s, testSecret) {
		t.Errorf("log %s", s)
	}
}

// counted reads the counter of requests, by operation and code, and asserts
// that every duration was measured.
func counted(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts, requests, measured := map[string]float64{}, 0.0, 0.0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["api"] != "planning" {
				t.Errorf("api is %q", labels["api"])
			}
			switch f.GetName() {
			case "planbridge_api_requests_total":
				counts[labels["operation"]+" "+labels["code"]] = m.GetCounter().GetValue()
				requests += m.GetCounter().GetValue()
			case "planbridge_api_request_duration_seconds":
				measured += float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	if requests != measured {
		t.Errorf("%v requests counted, %v measured", requests, measured)
	}
	return counts
}

func TestMetricsUnregistered(t *testing.T) {
	if m := NewMetrics(nil); m.Requests == nil || m.Duration == nil {
		t.Error("no collectors")
	}
	(*Metrics)(nil).observe("card.get", "200", 0)
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "planbridge_api_requests_total"}))
	defer func() {
		if recover() == nil {
			t.Error("a name that is taken by something else must not pass")
		}
	}()
	NewMetrics(registry)
}

// An id in a label would make the metrics unbounded.
func TestOperationsAreBounded(t *testing.T) {
	registry := prometheus.NewRegistry()
	c, _ := serve(t, answering(404, ""), func(o *Options) { o.Metrics = NewMetrics(registry) })
	for i := range 20 {
		id := mapping.ObjectID(strconv.Itoa(i))
		for _, ask := range []func() error{
			func() error { _, err := c.Card(ctx(), id); return err },
			func() error { _, err := c.SprintItems(ctx(), id); return err },
			func() error { _, err := c.UpdateTask(ctx(), id, "u", mapping.LinkImages, title("x", 1)); return err },
		} {
			wantFault(t, ask(), mapping.ErrNotFound)
		}
	}
	want := map[string]float64{"card.get 404": 20, "sprint.items 404": 20, "task.update 404": 20}
	if diff := cmp.Diff(want, counted(t, registry)); diff != "" {
		t.Error(diff)
	}
}
