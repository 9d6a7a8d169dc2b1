package config_test

import (
	"strings"
	"testing"

	"planbridge/config"
)

// TestFlowLists: a list of references may stand in a flow mapping, too; a mapping there is still
// none.
func TestFlowLists(t *testing.T) {
	const file = `
github: {webhook_secrets: LIST, token: env:TOKEN}
planning:
  base_url: http://127.0.0.1:1
  projects: {web: {id: 54744060c955ca8169c61ee6, secret: env:PLANNING, username: bridge}}
store: {url: "file:planbridge.db"}
marker_key: [env:KEY, env:OLD]
routes: [{repository: acme/web, project: web, bucket: Incoming}]
`
	env := func(name string) (string, bool) { return strings.Repeat(name, 10), true }
	for list, want := range map[string]int{
		"[env:ONE]": 1, "[ env:ONE ]": 1, "[env:ONE, env:TWO]": 2, "[env:ONE,\n    env:TWO]": 2, `["env:ONE"]`: 1,
		"[env: ONE]": 0, "[{env: ONE}]": 0, "[env :ONE]": 0, "[other:ONE]": 0,
	} {
		c, err := config.Parse([]byte(strings.Replace(file, "LIST", list, 1)), "planbridge.yaml", env)
		switch {
		case want == 0 && err == nil:
			t.Errorf("%s: no fault", list)
		case want > 0 && err != nil:
			t.Errorf("%s: %v", list, err)
		case want > 0 && (len(c.GitHub.WebhookSecrets) != want || c.GitHub.WebhookSecrets[0].Reveal() != strings.Repeat("ONE", 10)):
			t.Errorf("%s: %d secrets", list, len(c.GitHub.WebhookSecrets))
		}
	}
}
