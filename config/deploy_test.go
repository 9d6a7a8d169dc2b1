package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"planbridge/mapping/pagetest"
)

// deployed reads a file of deploy/ into v.
func deployed(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestDeployedConfigurations: planbridge's configurations in deploy/ are valid.
func TestDeployedConfigurations(t *testing.T) {
	t.Parallel()
	var compose struct {
		Configs map[string]struct{ Content string }
	}
	deployed(t, "compose.yaml", &compose)
	var values struct{ Config map[string]any }
	deployed(t, "helm/planbridge/values.yaml", &values)
	chart, err := yaml.Marshal(values.Config)
	if err != nil {
		t.Fatal(err)
	}
	kubernetes, err := os.ReadFile(filepath.Join(root, "deploy/kubernetes/planbridge.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	env := func(string) (string, bool) { return "7d1c2f0f5f3e4a0c9a55c1a4b8a9e7d2", true }
	for name, text := range map[string][]byte{"compose.yaml": []byte(compose.Configs["planbridge"].Content), "the chart": chart, "kubernetes/planbridge.yaml": kubernetes} {
		c, err := Parse(text, name, env)
		if err != nil {
			t.Errorf("%v", err)
		} else if _, file := c.Store.File(); file || c.Server.AdminListen != ":9090" || c.Server.Listen != ":8080" {
			t.Errorf("%s: the ports of its containers and its store are %s, %s, %s", name, c.Server.Listen, c.Server.AdminListen, c.Store.URL)
		}
	}
}

// TestAlertsAreDeployed: the PrometheusRule of the manifests and the one of the chart have the
// alerts of deploy/prometheus.
func TestAlertsAreDeployed(t *testing.T) {
	t.Parallel()
	var want, chart struct{ Groups []map[string]any }
	deployed(t, "prometheus/alerts.yml", &want)
	deployed(t, "helm/planbridge/files/alerts.yml", &chart)
	var rule struct {
		Kind string
		Spec struct{ Groups []map[string]any }
	}
	deployed(t, "kubernetes/monitoring/prometheusrule.yaml", &rule)
	if len(want.Groups) == 0 || !reflect.DeepEqual(rule.Spec.Groups, want.Groups) || rule.Kind != "PrometheusRule" {
		t.Error("kubernetes/monitoring/prometheusrule.yaml has other alerts: make rules writes it anew")
	}
	if !reflect.DeepEqual(chart.Groups, want.Groups) {
		t.Error("helm/planbridge/files/alerts.yml has other alerts")
	}
}

// unshown are the metrics for which the dashboard has no panel.
var unshown = []string{"planbridge_gauges_age_seconds"}

// TestDashboardShowsMetrics: the dashboard shows each documented metric, and the alerts and the
// dashboard name no other one.
func TestDashboardShowsMetrics(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, row := range pagetest.Read(t, root, "docs/operations.md").Rows {
		if strings.HasPrefix(row[0], "planbridge_") {
			documented[row[0]] = true
		}
	}
	shown := map[string]bool{}
	for _, file := range []string{"grafana/dashboard.json", "prometheus/alerts.yml"} {
		data, err := os.ReadFile(filepath.Join(root, "deploy", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bplanbridge_[a-z_]+`).FindAllString(string(data), -1) {
			if name = strings.TrimSuffix(name, "_bucket"); !documented[name] {
				t.Errorf("%s names %s, which is no metric", file, name)
			}
			if file == "grafana/dashboard.json" {
				shown[name] = true
			}
		}
	}
	for name := range documented {
		if !shown[name] && !slices.Contains(unshown, name) {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// TestGrafanaReadsTheDashboard: the Compose file puts the dashboard where the provider looks for
// it, and the source has the kind that the dashboard asks for.
func TestGrafanaReadsTheDashboard(t *testing.T) {
	t.Parallel()
	var compose struct {
		Services map[string]struct{ Volumes []string }
	}
	deployed(t, "compose.yaml", &compose)
	var provider struct {
		Providers []struct{ Options struct{ Path string } }
	}
	deployed(t, "grafana/provisioning/dashboards/planbridge.yaml", &provider)
	var sources struct{ Datasources []struct{ Type, URL string } }
	deployed(t, "grafana/provisioning/datasources/prometheus.yaml", &sources)
	mount := fmt.Sprintf("./grafana/dashboard.json:%s/dashboard.json:ro", provider.Providers[0].Options.Path)
	if volumes := compose.Services["grafana"].Volumes; !slices.Contains(volumes, mount) || !slices.Contains(volumes, "./grafana/provisioning:/etc/grafana/provisioning:ro") {
		t.Errorf("%s is not among %v", mount, volumes)
	}
	if s := sources.Datasources[0]; s.Type != "prometheus" || s.URL != "http://prometheus:9090" {
		t.Errorf("the source is %+v", s)
	}
}
