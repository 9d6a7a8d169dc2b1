package status

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// contentPolicy lets the page load its own style sheet and its own script, ask its own
// listener, post its own forms, and nothing else.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// maxForm bounds the body of a request, in bytes.
const maxForm = 64 << 10

// recovered answers 500 where the program panics on a request.
func (h *handler) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h.Guard.Do("request", r.Method+" "+r.URL.Path, func() error {
			next.ServeHTTP(w, r)
			return nil
		})
		if err != nil {
			writeError(w, http.StatusInternalServerError, err)
		}
	})
}

// local refuses requests for other hosts. A foreign site's name may have been made to resolve
// to this listener's address (DNS rebinding). To a browser that site has the origin of this
// one, but it cannot choose the Host that the browser sends. Metrics and probes are for
// machines, which may use any name where the listener is not on a loopback address. On a
// loopback address no token is demanded, so only localhost and configured names are answered.
func (h *handler) local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := !h.Loopback && (forMachines[r.URL.Path] || cannotBeOthers(hostOf(r.Host)))
		if !own && !Loopback(hostOf(r.Host)) && !h.configuredHost(hostOf(r.Host)) {
			writeError(w, http.StatusForbidden, fmt.Errorf("this listener does not answer to the host %q: name it in server.admin_hosts", hostOf(r.Host)))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// forMachines are the paths of metrics and probes.
var forMachines = map[string]bool{"/metrics": true, "/healthz": true, "/readyz": true}

// privateDomains end names that nobody can register.
var privateDomains = []string{".internal", ".local", ".localhost", ".svc", ".home.arpa"}

// hostOf is the host that a Host header names, with or without a port.
func hostOf(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return strings.Trim(strings.TrimSuffix(strings.ToLower(host), "."), "[]")
}

// cannotBeOthers reports whether no other site can have a host: it is an address, a name
// without a dot, or one of a private domain.
func cannotBeOthers(host string) bool {
	_, err := netip.ParseAddr(host)
	inPrivate := func(domain string) bool { return strings.HasSuffix(host, domain) }
	return host != "" && (err == nil || !strings.Contains(host, ".") || slices.ContainsFunc(privateDomains, inPrivate))
}

// configuredHost reports whether the configuration gives a host to this listener.
func (h *handler) configuredHost(host string) bool {
	return slices.ContainsFunc(h.Settings.Access().Hosts, func(own string) bool { return strings.EqualFold(own, host) })
}

// Loopback reports whether a host names this machine.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// guard admits authorised requests, bounds them, and keeps other sites from acting through a
// logged-in browser.
func (h *handler) guard(next http.Handler) http.Handler {
	forgery := http.NewCrossOriginProtection()
	forgery.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusForbidden, errors.New("a page of another origin may not act here"))
	}))
	next = forgery.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		if !h.Loopback && !h.admit(w, r) {
			return
		}
		r = h.withActor(r)
		ctx, cancel := bounded(r)
		defer cancel()
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// bounded is the context of a request. A backup or an export lasts as long as the store is
// large, and is bounded by its client's reading alone.
func bounded(r *http.Request) (context.Context, context.CancelFunc) {
	if isUnbounded(r) {
		return context.WithCancel(r.Context())
	}
	return context.WithTimeout(r.Context(), askTimeout)
}

// protectedMetrics demands the token for the metrics where that is configured.
func (h *handler) protectedMetrics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.Settings.Access().ProtectMetrics || h.admit(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// admit reports whether a request has the token, and answers it otherwise.
func (h *handler) admit(w http.ResponseWriter, r *http.Request) bool {
	token := h.Settings.Access().Token
	if token == "" {
		writeError(w, http.StatusForbidden, errors.New("server.admin_token is not set, and this listener is not on a loopback address"))
		return false
	}
	given, from := presented(r), source(r.RemoteAddr)
	if given != "" {
		if wait := h.attempts.wait(from); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
			writeError(w, http.StatusTooManyRequests, errors.New("too many wrong admin tokens"))
			return false
		}
		if sameSecret(given, token) {
			return true
		}
		if h.attempts.count(from) {
			h.Logger.Warn("too many wrong admin tokens: no more are looked at for a while", "remote", from)
		}
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="planbridge, any user, the token as password", charset="UTF-8"`)
	writeError(w, http.StatusUnauthorized, errors.New("the admin token is missing or wrong"))
	return false
}

// presented returns the token of a request: as commands send it, or as a
// browser does with the password that a person typed.
func presented(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// sameSecret compares in a time that reveals nothing, not even the lengths.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// jsonErrors answers requests without a handler (404, 405) in the API's form.
func jsonErrors(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fallback, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		s := statusOnly{ResponseWriter: w, status: http.StatusNotFound}
		fallback.ServeHTTP(&s, r) // sets Allow on a 405
		writeError(w, s.status, errors.New(strings.ToLower(http.StatusText(s.status))))
	})
}

// statusOnly takes an answer's status and headers, and drops its body.
type statusOnly struct {
	http.ResponseWriter
	status int
}

func (s *statusOnly) WriteHeader(status int)      { s.status = status }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
