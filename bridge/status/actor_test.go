package status

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// TestActor: a proxy is believed from its addresses alone, and what nobody says is an operator.
func TestActor(t *testing.T) {
	h := &handler{Options: Options{Settings: Access{Proxy: Proxy{"X-Forwarded-User", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}}}
	for name, c := range map[string]struct {
		remote string
		set    func(*http.Request)
		want   string
	}{
		"a trusted proxy": {"10.1.2.3:4", func(r *http.Request) { r.Header.Set("X-Forwarded-User", "octocat\n") }, "octocat"},
		"its mapped form": {"[::ffff:10.1.2.3]:4", func(r *http.Request) { r.Header.Set("X-Forwarded-User", "octocat") }, "octocat"},
		"another address": {"192.0.2.1:4", func(r *http.Request) { r.Header.Set("X-Forwarded-User", "octocat") }, "an operator"},
		"a command":       {"192.0.2.1:4", func(r *http.Request) { r.Header.Set(CommandUser, "alice") }, "alice"},
		"a browser":       {"192.0.2.1:4", func(r *http.Request) { r.SetBasicAuth("bob", "token") }, "bob"},
		"the proxy first": {"10.1.2.3:4", func(r *http.Request) { r.Header.Set("X-Forwarded-User", "octocat"); r.SetBasicAuth("bob", "token") }, "octocat"},
		"nobody":          {"10.1.2.3:4", func(*http.Request) {}, "an operator"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.RemoteAddr = c.remote
		c.set(r)
		if got := Actor(h.withActor(r).Context()); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
