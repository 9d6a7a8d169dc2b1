package open_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
)

// delivered is a server that takes deliveries which one secret signed.
type delivered struct {
	mu     sync.Mutex
	events []string
	forged int
}

// takeHooks has the check make webhooks to a server, which notes what it is sent.
func takeHooks(t *testing.T, c *checked) *delivered {
	t.Helper()
	d := &delivered{}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(bridgetest.WebhookSecret))
		mac.Write(body)
		d.mu.Lock()
		defer d.mu.Unlock()
		if err != nil || r.URL.Path != "/webhooks/github" || r.Header.Get("X-Hub-Signature-256") != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
			d.forged++
		}
		d.events = append(d.events, r.Header.Get("X-GitHub-Event"))
	}))
	t.Cleanup(s.Close)
	c.hookURL = s.URL + "/webhooks/github"
	return d
}

// want is what has been delivered, each signed and to the right place.
func (d *delivered) want(c *checked, events ...string) {
	c.t.Helper()
	c.idle()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.events, events) || d.forged > 0 {
		c.t.Errorf("delivered were %q, %d of them wrong; expected %q", d.events, d.forged, events)
	}
}

// TestCheckMakesHooks that are missing, once, and that deliveries follow.
func TestCheckMakesHooks(t *testing.T) {
	t.Run("of a repository", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.GitHub.AddHook(bridgetest.RepoName, "http://127.0.0.1:1/ci", "another secret")
		got := takeHooks(t, c)
		c.has("ok repository acme/web: a webhook to " + c.hookURL + " was made among the webhooks of acme/web")
		got.want(c, "ping")
		c.has("ok repository acme/web: the webhook goes to")
		c.Repo.Open("octocat", githubtest.IssueSpec{Title: "One"})
		got.want(c, "ping", "issues")
	})
	t.Run("of an account", func(t *testing.T) {
		glob := "  - {repository: 'acme/*', name: others, project: web, bucket: Later}\n"
		c := newChecked(t, bridgetest.Options{Config: func(yaml string) string { return yaml + glob }})
		got := takeHooks(t, c)
		c.has("was made among the webhooks of acme\n")
		got.want(c, "ping")
	})
	t.Run("beside another one", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.GitHub.AddHook(bridgetest.RepoName, "http://127.0.0.1:1/webhooks/github", bridgetest.WebhookSecret)
		got := takeHooks(t, c)
		c.has("warn repository acme/web: the webhook goes to 127.0.0.1:1/webhooks/github, and not to " + c.hookURL)
		got.want(c)
	})
	t.Run("that may not be made", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		got := takeHooks(t, c)
		c.GitHub.Fault(githubtest.Fault{
			Times: -1, Kind: githubtest.Status, Code: http.StatusForbidden,
			When: func(call githubtest.Call) bool { return call.Method == http.MethodPost },
		})
		c.has("fault repository acme/web: no webhook was made: the token may not make the webhooks of acme/web")
		got.want(c)
	})
}

// TestCheckAppHooks: an App has one webhook, whose events are the App's.
func TestCheckAppHooks(t *testing.T) {
	t.Run("none yet", func(t *testing.T) {
		c, _ := newCheckedApp(t)
		got := takeHooks(t, c)
		c.has("ok repository acme/web: a webhook to " + c.hookURL + " was made among the app's webhook")
		got.want(c, "ping")
	})
	t.Run("elsewhere", func(t *testing.T) {
		c, app := newCheckedApp(t)
		c.GitHub.AddAppHook(app, "http://127.0.0.1:1/other", "another secret")
		got := takeHooks(t, c)
		c.has("fault repository acme/web: no webhook was made: the app's webhook leads elsewhere")
		got.want(c)
	})
	t.Run("without issues", func(t *testing.T) {
		c, app := newCheckedApp(t)
		c.GitHub.AddAppHook(app, "http://127.0.0.1:1/webhooks/github", bridgetest.WebhookSecret, "push")
		c.idle()
		c.has("fault repository acme/web: the webhook to 127.0.0.1:1/webhooks/github does not send issues (it sends: push)")
	})
}

func TestCheckHook(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.GitHub.AddHook(bridgetest.RepoName, "http://127.0.0.1:1/ci", "another secret")
		c.idle()
		c.has("fault repository acme/web: there is no webhook whose URL ends in /webhooks/github: changes on GitHub would be seen every 400ms only")
	})
	t.Run("of the organisation", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.hook("acme", http.StatusOK, "issues")
		c.has("ok repository acme/web: the webhook goes to")
	})
	t.Run("other events", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.hook(bridgetest.RepoName, http.StatusOK, "push", "label")
		c.has("does not send issues (it sends: push, label)")
	})
	t.Run("issues alone", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.hook(bridgetest.RepoName, http.StatusOK, "issues")
		c.has("warn repository acme/web: the webhook does not send sub_issues, repository: ", "ok repository acme/web: the webhook goes to")
	})
	t.Run("issues alone where sub-issues are nothing", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{Route: "tasks: none"})
		c.hook(bridgetest.RepoName, http.StatusOK, "issues")
		c.has("warn repository acme/web: the webhook does not send repository: ")
	})
	t.Run("failures", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.hook(bridgetest.RepoName, http.StatusServiceUnavailable)
		c.Repo.Open("octocat", githubtest.IssueSpec{Title: "One"})
		c.idle()
		c.has("warn repository acme/web: the webhook goes to", "of 2 deliveries of the last day 2 failed, the newest of them at 20", "with status 503")
	})
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound} {
		t.Run(fmt.Sprintf("unreadable %d", status), func(t *testing.T) {
			c := newChecked(t, bridgetest.Options{})
			c.GitHub.Fault(githubtest.Fault{
				Times: -1, Kind: githubtest.Status, Code: status,
				When: func(call githubtest.Call) bool { return strings.Contains(call.Path, "/hooks") },
			})
			c.has("warn repository acme/web: whether there is a webhook cannot be told: the token may not read the webhooks of acme/web and the webhooks of acme")
		})
	}
}
