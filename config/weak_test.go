package config_test

import (
	"strings"
	"testing"

	"planbridge/config"
)

func TestWeaknesses(t *testing.T) {
	const good = "b7d1c0f4e29a4e6d8f3351aa"
	for _, tc := range []struct {
		name                string
		hook, admin, marker string
		want                []string
	}{
		{"good ones", good + "1", good + "2", good + "3", nil},
		{"short", "fifteen bytes..", good + "2", good + "3", []string{"github.webhook_secrets[0]: it is shorter than 16 bytes"}},
		{"its end as its beginning", "b7d1c0f4e29a4e6b", good + "2", good + "3", nil},
		{"sixteen", "sixteen bytes...", good + "2", good + "3", nil},
		{"one character", good + "1", strings.Repeat("x", 40), good + "3", []string{"server.admin_token: it is one character, repeated"}},
		{"few bytes, again and again", strings.Repeat("abc", 7), strings.Repeat("secret", 3) + "se", good + good[:20], []string{
			"server.admin_token: it is 6 bytes, repeated", "github.webhook_secrets[0]: it is 3 bytes, repeated",
		}},
		{"placeholders", "ChangeMe", "super-secret", "your_webhook_secret", []string{
			"server.admin_token: it is a known placeholder", "github.webhook_secrets[0]: it is a known placeholder", "marker_key: it is a known placeholder",
		}},
		{"used twice", good, good, good, []string{
			"github.webhook_secrets[0]: it is the value of server.admin_token too: each needs one of its own",
			"marker_key: it is the value of server.admin_token too: each needs one of its own",
		}},
		{"the token of GitHub", canary + "-token", good, good + "3", []string{"github.token: it is the value of github.webhook_secrets[0] too: each needs one of its own"}},
	} {
		env := func(name string) (string, bool) {
			if v, ok := map[string]string{"HOOK": tc.hook, "ADMIN": tc.admin, "MARKER": tc.marker}[name]; ok {
				return v, true
			}
			return environ(name)
		}
		c, err := config.Parse([]byte(minimal+"server: {admin_token: env:ADMIN}\n"), "p.yaml", env)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var got []string
		for _, w := range c.Weaknesses() {
			got = append(got, w.Path+": "+w.Reason)
		}
		if strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestWebhookSecretsOfTwoScopes: a holder of a secret that stands in two places is believed about
// the repositories of both, so that the separate one protects nothing.
func TestWebhookSecretsOfTwoScopes(t *testing.T) {
	values := map[string]string{"ONE": "b7d1c0f4e29a4e6d8f3351aa", "TWO": "0a9d33c17be84f21a65f9e02", "MARKER": "51c0aa7de3f94b08b2c6d911"}
	env := func(name string) (string, bool) {
		if v, ok := values[name]; ok {
			return v, true
		}
		return environ(name)
	}
	const scopes = `  webhook_secrets: [env:ONE, env:ONE]
  webhooks:
    - {repositories: [beta/*], secrets: [env:ONE]}
    - {repositories: [gamma/*], secrets: [env:TWO, env:TWO]}
    - {repositories: [delta/*], secrets: [env:TWO]}
`
	c, err := config.Parse([]byte(strings.Replace(minimal, "  webhook_secrets: [env:HOOK]\n", scopes, 1)), "p.yaml", env)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range c.Weaknesses() {
		got = append(got, w.Path+": "+w.Reason)
	}
	want := []string{
		"github.webhooks[0].secrets[0]: it is the value of github.webhook_secrets[0] too: each needs one of its own",
		"github.webhooks[2].secrets[0]: it is the value of github.webhooks[1].secrets[0] too: each needs one of its own",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProtectMetricsNeedsToken(t *testing.T) {
	faults := faultsOf(t, minimal+"server: {protect_metrics: true}\n")
	if want := `p.yaml:13:27: server.protect_metrics: true, expected server.admin_token to be set, which is what is demanded then`; faults[0].Error() != want || len(faults) != 1 {
		t.Errorf("faults %v", faults)
	}
	parse(t, minimal+"server: {protect_metrics: true, admin_token: env:ADMIN, admin_hosts: [planbridge.example.com]}\n")
	faults = faultsOf(t, minimal+"server: {admin_hosts: [\"planbridge.example.com:9090\"]}\n")
	if want := `p.yaml:13:24: server.admin_hosts[0]: "planbridge.example.com:9090", expected a host's name without a port`; faults[0].Error() != want {
		t.Errorf("faults %v", faults)
	}
}
