package status_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"planbridge/bridge/status"
)

const (
	token    = "a-token-of-the-operator"
	retryAll = `{"key":"all"}`
)

func public(o *status.Options) {
	o.Loopback = false
	access(o).Token = token
}

// access is what the settings of an admin say, to be changed.
func access(o *status.Options) *status.Access { return o.Settings.(*status.Access) }

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func TestHostOnLoopback(t *testing.T) {
	a := newAdmin(t)
	for host, want := range map[string]int{
		"127.0.0.1:9090": 200, "127.0.0.1": 200, "127.9.9.9:1": 200, "localhost:9090": 200, "LOCALHOST": 200,
		"[::1]:9090": 200, "[::1]": 200, "::1": 200,
		"evil.example:9090": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403,
		"10.0.0.1:9090": 403, "0.0.0.0:9090": 403, "": 403, "user@localhost": 403,
	} {
		for _, path := range []string{"/", "/metrics", "/healthz", "/api/v1/links"} {
			if got := a.do("GET", path, "", "Host", host).StatusCode; got != want {
				t.Errorf("%s with Host %q: %d, want %d", path, host, got, want)
			}
		}
	}
	a.refused(a.do("POST", "/api/v1/failures/retry", retryAll, "Host", "evil.example"), 403)
	if len(a.mem.failed) != 2 {
		t.Error("another host's page acted")
	}
}

// TestNamesOnLoopback: a listener on a loopback address asks for no token. It answers to a name, such
// as a container's or a proxy's, where server.admin_hosts has it, and else says so.
func TestNamesOnLoopback(t *testing.T) {
	a := newAdmin(t)
	for _, path := range []string{"/", "/metrics", "/api/v1/links"} {
		if got := a.refused(a.do("GET", path, "", "Host", "planbridge:9090"), 403); !strings.Contains(got, `does not answer to the host "planbridge": name it in server.admin_hosts`) {
			t.Errorf("%s says %s", path, got)
		}
	}
	a = newAdmin(t, func(o *status.Options) { access(o).Hosts = []string{"planbridge"} })
	for host, want := range map[string]int{"planbridge:9090": 200, "PlanBridge": 200, "localhost": 200, "other": 403, "planbridge.evil.example": 403} {
		if got := a.do("GET", "/", "", "Host", host).StatusCode; got != want {
			t.Errorf("Host %q: %d, want %d", host, got, want)
		}
	}
}

func TestTokenElsewhere(t *testing.T) {
	a := newAdmin(t, public)
	for _, tt := range []struct {
		name, authorization string
		want                int
	}{
		{"none", "", 401},
		{"bearer", "Bearer " + token, 200},
		{"any case", "bearer  " + token, 200},
		{"a browser", basic("anybody", token), 200},
		{"the token as the user", basic(token, ""), 401},
		{"another", "Bearer " + token + "x", 401},
		{"a part", "Bearer " + token[:5], 401},
		{"empty", "Bearer ", 401},
		{"without scheme", token, 401},
		{"another scheme", "Digest " + token, 401},
	} {
		for _, path := range []string{"/", "/style.css", "/api/v1/links", "/api/v1/overview"} {
			resp := a.do("GET", path, "", "Authorization", tt.authorization)
			if resp.StatusCode != tt.want {
				t.Errorf("%s, %s: %d, want %d", tt.name, path, resp.StatusCode, tt.want)
			}
			if asks := strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Basic "); asks != (tt.want == 401) {
				t.Errorf("%s, %s: asks for a password: %v", tt.name, path, asks)
			}
		}
		a.mem.failed = filled().failed
		got := a.do("POST", "/api/v1/failures/retry", retryAll, "Authorization", tt.authorization).StatusCode
		if acted := len(a.mem.failed) == 0; got != tt.want || acted != (tt.want == 200) {
			t.Errorf("%s, retry: %d, acted %v", tt.name, got, acted)
		}
	}
	for _, open := range []string{"/metrics", "/healthz", "/readyz"} {
		a.text(a.do("GET", open, "", "Host", "planbridge.internal:9090"), 200)
	}
	a.refused(a.do("GET", "/nothing", ""), 401)
}

func TestTokenMissing(t *testing.T) {
	a := newAdmin(t, public, func(o *status.Options) { access(o).Token = "" })
	for _, authorization := range []string{"", "Bearer ", basic("", "")} {
		for _, path := range []string{"/", "/api/v1/links"} {
			if got := a.refused(a.do("GET", path, "", "Authorization", authorization), 403); !strings.Contains(got, "server.admin_token is not set") {
				t.Errorf("%s says %q", path, got)
			}
		}
	}
	a.text(a.do("GET", "/healthz", ""), 200)
	a.text(a.do("GET", "/metrics", ""), 200)
}

// The token is asked for each time: a reload changes it.
func TestTokenChanges(t *testing.T) {
	a := newAdmin(t, public, func(o *status.Options) { access(o).Token = "first" })
	a.text(a.do("GET", "/", "", "Authorization", "Bearer first"), 200)
	access(&a.o).Token = "second"
	a.refused(a.do("GET", "/", "", "Authorization", "Bearer first"), 401)
	a.text(a.do("GET", "/", "", "Authorization", "Bearer second"), 200)
}

func TestOtherOrigins(t *testing.T) {
	for _, tt := range []struct {
		name    string
		headers []string
		acts    bool
	}{
		{"a command", nil, true},
		{"the page itself", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:9090"}, true},
		{"typed by a person", []string{"Sec-Fetch-Site", "none"}, true},
		{"an old browser, the page itself", []string{"Origin", "http://127.0.0.1:9090"}, true},
		{"another site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, false},
		{"another port", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:8000"}, false},
		{"an old browser, another site", []string{"Origin", "https://evil.example"}, false},
	} {
		a := newAdmin(t)
		for path, ask := range map[string]struct{ body, kind string }{
			"/api/v1/failures/retry": {retryAll, "application/json"},
			"/failures/retry":        {"key=all", "application/x-www-form-urlencoded"},
		} {
			a.mem.failed = filled().failed
			resp := a.do("POST", path, ask.body, append(tt.headers, "Content-Type", ask.kind)...)
			if acted := len(a.mem.failed) == 0; acted != tt.acts {
				t.Errorf("%s, %s: acted %v with status %d", tt.name, path, acted, resp.StatusCode)
			}
			if !tt.acts {
				a.refused(resp, 403)
			}
		}
	}
}

// Reads never change anything.
func TestReadingActsOnNothing(t *testing.T) {
	a := newAdmin(t)
	for _, path := range []string{"/", "/failures/retry?key=all", "/api/v1/failures/retry?key=all", "/api/v1/failures"} {
		a.do("GET", path, "")
		a.do("HEAD", path, "")
	}
	if len(a.mem.failed) != 2 {
		t.Error("a GET took failures up again")
	}
}
