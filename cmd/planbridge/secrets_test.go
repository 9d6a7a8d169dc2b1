package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
)

// posted is the status of a delivery about an issue of a repository.
func posted(t *testing.T, addr, secret, repository string, id int) int {
	t.Helper()
	body := fmt.Sprintf(`{"action":"opened","issue":{"id":%d,"number":%d,"title":"T","state":"open","user":{"login":"o"},"created_at":"2030-01-01T00:00:00Z",`+
		`"updated_at":"2030-01-01T00:00:00Z"},"repository":{"id":2500000001,"full_name":%q,"private":true},"sender":{"login":"o"}}`, id, id, repository)
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/webhooks/github", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("X-GitHub-Event", "issues")
	req.Header.Set("X-GitHub-Delivery", fmt.Sprint("guid-", id))
	req.Header.Set("X-Hub-Signature-256", githubtest.Sign(secret, []byte(body)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body) //nolint:errcheck // its status is what counts
	res.Body.Close()
	return res.StatusCode
}

// TestServeTellsSecretsApart: a repository that github.webhooks names is believed with
// those secrets only, and check says with which.
func TestServeTellsSecretsApart(t *testing.T) {
	addr := freePort(t)
	webhooks := func(text string) string {
		i := strings.Index(text, "  webhook_secrets:")
		end := i + strings.Index(text[i:], "\n") + 1
		return text[:i] + "  webhooks:\n    - {repositories: [acme/web], secrets: [env:GITHUB_WEBHOOK_SECRET]}\n    - {repositories: [beta], secrets: [env:BETA_SECRET]}\n" + text[end:]
	}
	op := newOperator(t, bridgetest.Options{}, func(text string) string { return webhooks(public(addr)(admin(freePort(t))(text))) })
	op.env["BETA_SECRET"] = "a secret of beta, of some length"
	op.serve()
	op.until("it is ready", func() bool { return op.run("health", "--ready").status == exitOK })
	for _, tc := range []struct {
		secret, repository string
		want               int
	}{
		{op.env["BETA_SECRET"], "acme/web", 401},
		{"nobody's", "acme/web", 401},
		{op.env["BETA_SECRET"], "beta/x", 202},
		{bridgetest.WebhookSecret, "acme/web", 202},
		{bridgetest.WebhookSecret, "gamma/x", 202},
	} {
		if got := posted(t, addr, tc.secret, tc.repository, 9000+tc.want); got != tc.want {
			t.Errorf("%s: answered %d, want %d", tc.repository, got, tc.want)
		}
	}
	if out := op.run("check").out; !strings.Contains(out, "repository acme/web: its deliveries are believed with github.webhooks[0] (acme/web)") {
		t.Errorf("check does not say which secrets cover the route:\n%s", out)
	}
}

// TestWeakSecrets: check fails on a weak secret and serve warns of it, at the start and
// at a reload, and nobody shows it.
func TestWeakSecrets(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, nil)
	if r := op.run("check"); strings.Contains(r.out, "is weak") {
		t.Errorf("check of a world's secrets:\n%s", r.out)
	}
	op.env["PLANBRIDGE_MARKER_KEY"] = "change-me"
	r := op.run("check")
	if want := "marker_key is weak: it is a known placeholder; the next major version refuses it"; r.status != exitFailure || !strings.Contains(r.out, want) {
		t.Errorf("check: %+v", r)
	}
	if strings.Contains(r.out+r.stderr, "change-me") {
		t.Errorf("check shows the secret:\n%s", r.out)
	}
	s := op.serve()
	reload := func() { s.signal(syscall.SIGHUP) }
	for _, then := range []func(){reload, func() {}} {
		line := s.says("a secret is weak: the next major version refuses it")
		if line["level"] != "WARN" || line["key"] != "marker_key" || line["reason"] != "it is a known placeholder" {
			t.Errorf("warned %v", line)
		}
		then()
	}
	s.says("configuration reloaded")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.log {
		if strings.Contains(fmt.Sprint(line), "a secret is weak") {
			t.Errorf("warned once more: %v", line)
		}
	}
}
