package status

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// contentPolicy lets the page load its own style sheet, post its own forms, and
// nothing else.
const contentPolicy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// maxForm bounds the body of a request, in bytes.
const maxForm = 64 << 10

// local refuses, on a loopback listener, what is addressed to another host: a
// page of some other site whose name was made to resolve to 127.0.0.1 (DNS
// rebinding) is of the same origin as this one to a browser, but cannot choose
// the Host that the browser sends.
func (h *handler) local(next http.Handler) http.Handler {
	if !h.Loopback {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) {
			writeError(w, http.StatusForbidden, errors.New("this listener answers to localhost and loopback addresses only"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// loopback reports whether a Host header, with or without a port, names this machine.
func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// guard lets in who may ask, bounds what is asked, and keeps other sites from
// acting through a browser that is logged in.
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
		if status, err := h.admit(r); err != nil {
			if status == http.StatusUnauthorized {
				header.Set("WWW-Authenticate", `Basic realm="planbridge, any user, the token as password", charset="UTF-8"`)
			}
			writeError(w, status, err)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), askTimeout)
		defer cancel()
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// admit reports why a request is refused, and by which status.
func (h *handler) admit(r *http.Request) (int, error) {
	if h.Loopback {
		return 0, nil
	}
	token := h.Token()
	if token == "" {
		return http.StatusForbidden, errors.New("server.admin_token is not set, and this listener is not on a loopback address")
	}
	if !sameSecret(presented(r), token) {
		return http.StatusUnauthorized, errors.New("the admin token is missing or wrong")
	}
	return 0, nil
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

// sameSecret compares in a time that tells nothing, not even of the lengths.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// jsonErrors answers what the mux has no handler for (404, 405) in the API's form.
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
