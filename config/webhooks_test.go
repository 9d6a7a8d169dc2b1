package config_test

import (
	"strings"
	"testing"
)

// hooks is minimal with other webhook secrets.
func hooks(yaml string) string {
	return strings.Replace(minimal, "  webhook_secrets: [env:HOOK]\n", yaml, 1)
}

func TestWebhooks(t *testing.T) {
	c := parse(t, hooks(`  webhooks:
    - {repositories: [Acme/web, other], secrets: [env:HOOK, env:ADMIN]}
    - {repositories: [acme/*], secrets: [env:WEB]}
`))
	for repository, want := range map[string]int{
		"acme/web": 0, "ACME/Web": 0, "other/x": 0, "acme/api": 1, "acme/w*": 1, "acme/*": 1, "nobody/x": -1,
	} {
		if got := c.GitHub.WebhooksOf(repository); got != want {
			t.Errorf("%s: %d, want %d", repository, got, want)
		}
	}
	if len(c.GitHub.Webhooks[0].Secrets) != 2 || len(c.GitHub.WebhookSecrets) != 0 {
		t.Errorf("secrets %+v", c.GitHub)
	}
	parse(t, hooks("  webhooks: []\n  webhook_secrets: [env:HOOK]\n"))
	parse(t, hooks("  webhooks: [{repositories: [other/x], secrets: [env:WEB]}]\n  webhook_secrets: [env:HOOK]\n"))
}

func TestWebhooksFaults(t *testing.T) {
	for _, tc := range []struct{ yaml, want string }{
		{"", `p.yaml:1:1: github.webhook_secrets: nothing, expected a list of one secret or more, each env:NAME or file:PATH`},
		{"  webhooks: []\n", `p.yaml:1:1: github.webhook_secrets: nothing, expected a list of one secret or more, each env:NAME or file:PATH`},
		{"  webhooks: [{repositories: [acme/web]}]\n", `p.yaml:2:14: github.webhooks[0].secrets: nothing, expected a list of one secret or more, each env:NAME or file:PATH`},
		{"  webhooks: [{secrets: [env:HOOK], repositories: []}]\n  webhook_secrets: [env:WEB]\n", `p.yaml:2:50: github.webhooks[0].repositories: nothing, expected a list of one or more of owner/name, owner/* and owner`},
		{
			"  webhooks: [{secrets: [env:HOOK], repositories: [acme/w*]}]\n  webhook_secrets: [env:WEB]\n",
			`p.yaml:2:51: github.webhooks[0].repositories[0]: "acme/w*", expected owner/name, or owner/* or owner for all of an owner's repositories`,
		},
		{
			"  webhooks: [{secrets: [env:HOOK], repositories: [acme, \"Acme/*\"]}]\n",
			`p.yaml:2:57: github.webhooks[0].repositories[1]: "Acme/*", expected what no other entry names: github.webhooks[0].repositories[0] does already`,
		},
		{
			"  webhooks: [{secrets: [env:HOOK], repositories: [acme/web]}, {secrets: [env:WEB], repositories: [ACME/web]}]\n",
			`p.yaml:2:99: github.webhooks[1].repositories[0]: "ACME/web", expected what no other entry names: github.webhooks[0].repositories[0] does already`,
		},
		{
			"  webhooks: [{secrets: [env:HOOK], repositories: [acme/api]}]\n",
			`p.yaml:1:1: github.webhook_secrets: nothing, expected a list of one secret or more: github.webhooks names no secret for "acme/web" (routes[0])`,
		},
		{"  webhooks: [{secrets: [env:NONE], repositories: [acme]}]\n", `p.yaml:2:25: github.webhooks[0].secrets[0]: env:NONE, expected environment variable NONE to be set`},
	} {
		var lines []string
		for _, f := range faultsOf(t, hooks(tc.yaml)) {
			lines = append(lines, f.Error())
		}
		if got := strings.Join(lines, "\n"); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.yaml, got, tc.want)
		}
	}
}
