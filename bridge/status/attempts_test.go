package status_test

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/status"
)

// from asks for the links from an address, with a token, and returns the status and Retry-After.
func (a *admin) from(addr, token string) (int, string) {
	r := httptest.NewRequest("GET", "http://127.0.0.1:9090/api/v1/links", nil)
	r.RemoteAddr = addr
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, r)
	return w.Code, w.Header().Get("Retry-After")
}

// TestWrongTokensAreLimited: an address has ten guesses a minute, and others are not
// kept out by them.
func TestWrongTokensAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmin(t, public)
		for n := range 10 {
			if got, _ := a.from("192.0.2.1:1000", fmt.Sprint("guess-", n)); got != 401 {
				t.Fatalf("guess %d: %d", n, got)
			}
		}
		for _, guess := range []string{"one more", token} {
			got, after := a.from("192.0.2.1:2000", guess)
			if s, err := strconv.Atoi(after); got != 429 || err != nil || s < 1 || s > 61 {
				t.Errorf("after ten guesses: %d, Retry-After %q", got, after)
			}
		}
		if got, _ := a.from("192.0.2.1:2000", ""); got != 401 {
			t.Errorf("without a token: %d", got)
		}
		if got, _ := a.from("192.0.2.2:1000", token); got != 200 {
			t.Errorf("the right token from another address: %d", got)
		}
		time.Sleep(time.Minute)
		if got, _ := a.from("192.0.2.1:1000", token); got != 200 {
			t.Errorf("the right token a minute later: %d", got)
		}
	})
}

// TestWrongTokensAreLimitedInAll: many addresses that guess have one guess each beyond the
// bound, of IPv6 a host's whole network; the right token from elsewhere works.
func TestWrongTokensAreLimitedInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmin(t, public)
		evaluated := 0
		for n := range 1000 {
			if got, _ := a.from(fmt.Sprintf("192.0.2.%d:1", n%50), fmt.Sprint("guess-", n)); got == 401 {
				evaluated++
			}
		}
		if evaluated != 100 {
			t.Errorf("%d guesses of 1000 were looked at, want 100", evaluated)
		}
		if got, _ := a.from("198.51.100.1:1", token); got != 200 {
			t.Errorf("the right token from elsewhere: %d", got)
		}
		for n := range 3 {
			want := []int{401, 429, 429}[n]
			if got, _ := a.from(fmt.Sprintf("[2001:db8::%d]:1", n+1), "guess"); got != want {
				t.Errorf("guess %d of a network: %d, want %d", n, got, want)
			}
		}
	})
}

// TestHostElsewhere: with a token too only a Host that no other site can have is answered.
func TestHostElsewhere(t *testing.T) {
	a := newAdmin(t, public, func(o *status.Options) { access(o).Hosts = []string{"Planbridge.Example.com"} })
	for host, want := range map[string]int{
		"10.0.0.1:9090": 200, "[2001:db8::1]:9090": 200, "localhost": 200, "planbridge:9090": 200, "planbridge.ns.svc:9090": 200,
		"planbridge.ns.svc.cluster.local": 200, "bridge.internal": 200, "planbridge.example.com:9090": 200, "planbridge.example.com.": 200,
		"evil.example:9090": 403, "10.0.0.1.evil.example": 403, "internal.evil.example": 403, "": 403,
	} {
		for _, path := range []string{"/", "/api/v1/links"} {
			if got := a.do("GET", path, "", "Host", host, "Authorization", "Bearer "+token).StatusCode; got != want {
				t.Errorf("%s with Host %q: %d, want %d", path, host, got, want)
			}
		}
		if got := a.do("GET", "/metrics", "", "Host", host).StatusCode; got != 200 {
			t.Errorf("/metrics with Host %q: %d", host, got)
		}
	}
	a.refused(a.do("POST", "/api/v1/failures/retry", retryAll, "Host", "evil.example", "Authorization", "Bearer "+token), 403)
	if len(a.mem.failed) != 2 {
		t.Error("another host's page acted")
	}
}

// TestProtectedMetrics: where that is configured, on any listener, the metrics demand the
// token, and the probes do not.
func TestProtectedMetrics(t *testing.T) {
	for _, loopback := range []bool{true, false} {
		a := newAdmin(t, public, func(o *status.Options) { o.Loopback, access(o).ProtectMetrics = loopback, true })
		a.refused(a.do("GET", "/metrics", ""), 401)
		a.refused(a.do("GET", "/metrics", "", "Authorization", "Bearer wrong"), 401)
		a.text(a.do("GET", "/metrics", "", "Authorization", "Bearer "+token), 200)
		a.text(a.do("GET", "/metrics", "", "Authorization", basic("prometheus", token)), 200)
		a.text(a.do("GET", "/healthz", ""), 200)
		a.text(a.do("GET", "/readyz", ""), 200)
	}
}
