package config_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"planbridge/config"
)

const deploy = "../deploy"

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// secretsOf is an environment that has the given names only.
func secretsOf(names ...string) func(string) (string, bool) {
	return func(name string) (string, bool) { return canary, slices.Contains(names, name) }
}

// TestDeployedConfigurationsLoad: what compose and Kubernetes mount is right, given the
// secrets that their own examples name.
func TestDeployedConfigurationsLoad(t *testing.T) {
	var compose struct {
		Configs map[string]struct{ Content string }
	}
	if err := yaml.Unmarshal(readFile(t, filepath.Join(deploy, "compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	var named []string
	for line := range strings.Lines(string(readFile(t, filepath.Join(deploy, "secrets.example.env")))) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && value == "" {
			named = append(named, name)
		}
	}
	var secret struct {
		StringData map[string]string `yaml:"stringData"`
	}
	if err := yaml.Unmarshal(readFile(t, filepath.Join(deploy, "kubernetes", "secret.example.yaml")), &secret); err != nil {
		t.Fatal(err)
	}
	var inSecret []string
	for name := range secret.StringData {
		inSecret = append(inSecret, name)
	}
	for _, tt := range []struct {
		name  string
		data  []byte
		names []string
	}{
		{"compose.yaml", []byte(compose.Configs["planbridge"].Content), named},
		{"kubernetes/planbridge.yaml", readFile(t, filepath.Join(deploy, "kubernetes", "planbridge.yaml")), inSecret},
	} {
		c, err := config.Parse(tt.data, tt.name, secretsOf(tt.names...))
		if err != nil {
			t.Errorf("%s:\n%v", tt.name, err)
			continue
		}
		if !strings.HasPrefix(c.Store.URL, "redis://") {
			t.Errorf("%s: replicas need a store that they share, not %v", tt.name, c.Store)
		}
	}
}

// metricNames are those of the design. A histogram's series end in _bucket.
var metricNames = []string{
	"webhook_deliveries_total", "queue_depth", "queue_oldest_seconds", "reconcile_total", "reconcile_duration_seconds",
	"sync_lag_seconds", "attribute_writes_total", "conflicts_total", "api_requests_total", "api_request_duration_seconds",
	"github_rate_limit_remaining", "poll_duration_seconds", "poll_last_success_timestamp_seconds", "links", "failures",
	"drift_links", "echoes_total", "duplicates_prevented_total", "lost_updates_recovered_total", "sprint_remaining_hours",
	"invariant_violations_total",
}

// TestDeployKnowsItsMetrics: alerts and dashboard ask for metrics that planbridge exports,
// and the dashboard shows all of them.
func TestDeployKnowsItsMetrics(t *testing.T) {
	metric := regexp.MustCompile(`\bplanbridge_([a-z_]+)`)
	shown := map[string]bool{}
	for _, name := range []string{"prometheus/alerts.yml", "prometheus/alerts_test.yml", "grafana/dashboard.json"} {
		for _, m := range metric.FindAllSubmatch(readFile(t, filepath.Join(deploy, name)), -1) {
			base := strings.TrimSuffix(string(m[1]), "_bucket")
			if !slices.Contains(metricNames, base) {
				t.Errorf("%s asks for %s, which is none of planbridge's", name, m[0])
			}
			shown[base] = shown[base] || strings.HasSuffix(name, "dashboard.json")
		}
	}
	for _, name := range metricNames {
		if !shown[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// TestDeployHoldsNoSecret: whoever copies an example must not copy a secret that
// everybody knows.
func TestDeployHoldsNoSecret(t *testing.T) {
	err := filepath.WalkDir(deploy, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "secrets.env" || d.Name() == "secret.yaml" {
			return err
		}
		for line := range bytes.Lines(readFile(t, path)) {
			if m := regexp.MustCompile(`\b[A-Z_]+_(TOKEN|SECRET|KEY)(=|: ")([^"\s]+)`).FindSubmatch(line); m != nil {
				t.Errorf("%s: %s", path, line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
