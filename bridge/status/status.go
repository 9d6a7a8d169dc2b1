// Package status is the private side of planbridge. It answers operators, probes and Prometheus.
//
// Its entry point is [New], the handler of the admin listener. The handler serves /metrics,
// /healthz, /readyz, the status page at / and the JSON API under /api/v1/ that the commands use.
// File operator.go has the interfaces to planbridge, shapes.go the answers of the API, and guard.go
// the access rules.
package status

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/store"
)

// ErrName is the error of [Operator].Find for words that cannot name an item.
var ErrName = errors.New("expected owner/name#number, a card's id or a link's id")

// BadAsk is an [ErrName] with a text of its own.
func BadAsk(format string, args ...any) error { return &worded{fmt.Errorf(format, args...), ErrName} }

// Unknown is a [store.ErrNotFound] with a text of its own.
func Unknown(format string, args ...any) error {
	return &worded{fmt.Errorf(format, args...), store.ErrNotFound}
}

// worded is an error with the text of one error and the identity of another.
type worded struct {
	error
	means error
}

func (e *worded) Is(target error) bool { return target == e.means }

func (e *worded) Unwrap() error { return e.error }

// ErrState is the error of [Operator] for an act that the current state does not allow.
var ErrState = errors.New("not possible")

// ErrStarting is the error of a service that has just started, or is stopping.
var ErrStarting = errors.New("try again")

// ErrAway is the error for a necessary service that does not answer.
var ErrAway = errors.New("a service gives no answer")

// Away is an [ErrAway] with a text of its own.
func Away(format string, args ...any) error { return &worded{fmt.Errorf(format, args...), ErrAway} }

// Readiness reports whether the process can do its work.
type Readiness interface {
	// Ready reports why deliveries cannot be taken, nil where they can.
	Ready(ctx context.Context) error
}

// Settings are asked at each request, so that a reload takes effect at once.
type Settings interface {
	Access() Access
}

// CardPages knows the pages of cards.
type CardPages interface {
	// CardPage returns the address of a card's page; "": not known.
	CardPage(project, card string, cid int64) string
}

// Access has the rules of access, and addresses for pages.
type Access struct {
	// Token is demanded, for all but metrics and probes, where the listener is
	// not on a loopback address.
	Token string
	// ProtectMetrics says that the metrics demand the token too.
	ProtectMetrics bool
	// Hosts are names of the listener, besides addresses and names that nobody can register.
	Hosts []string
	// Proxy may name the acting user; with the zero Proxy only commands and browsers may.
	Proxy Proxy
	// WebURL is the address of GitHub's pages, without a slash at its end; "": not known.
	WebURL string
	Cards  CardPages // nil: not known
}

// Access returns a itself, so that fixed settings can stand for changing ones.
func (a Access) Access() Access { return a }

// Options configure the handler. All fields but Services, Monitor, Guard and Clock are required.
type Options struct {
	Operator Operator
	// Services is nil where the store alone was opened.
	Services Services
	// Monitor is nil where the store alone was opened.
	Monitor   Monitor
	Registry  *prometheus.Registry
	Readiness Readiness
	Settings  Settings
	Version   string
	Loopback  bool // the listener is on a loopback address
	Logger    *slog.Logger
	Clock     clock.Clock // nil: the runtime's
	// Guard sets requests aside on which the program panics; nil: it records none.
	Guard *guard.Guard
}

// These bound the resources of one request.
const (
	askTimeout   = 30 * time.Second // the store, for one answer
	readyTimeout = 5 * time.Second
	maxScrapes   = 4 // at the same time
)

// handler answers all but metrics and probes.
type handler struct {
	Options
	attempts attempts   // to guess the token
	walked   census     // of the links
	dumping  sync.Mutex // held while a backup or an export reads the whole store: one at a time
}

// New returns the admin listener's handler.
func New(o Options) http.Handler {
	if o.Monitor == nil {
		o.Monitor = blind{}
	}
	if o.Clock == nil {
		o.Clock = clock.Runtime{}
	}
	h := &handler{Options: o}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", h.protectedMetrics(promhttp.HandlerFor(o.Registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", h.readyz)
	mux.Handle("/", h.guard(h.onlyRead(jsonErrors(h.routes()))))
	return h.recovered(h.local(mux))
}

func (h *handler) routes() *http.ServeMux {
	mux := http.NewServeMux()
	h.pageRoutes(mux)
	mux.HandleFunc("GET /api/v1/links", h.links)
	mux.HandleFunc("GET /api/v1/links/{key}", h.link)
	mux.HandleFunc("GET /api/v1/queue", h.queue)
	mux.HandleFunc("GET /api/v1/failures", h.failures)
	mux.HandleFunc("POST /api/v1/failures/retry", h.retry)
	mux.HandleFunc("GET /api/v1/conflicts", h.conflicts)
	mux.HandleFunc("POST /api/v1/conflicts/{id}/resolve", h.resolve)
	mux.HandleFunc("POST /api/v1/conflicts/{id}/undo", h.undo)
	mux.HandleFunc("POST /api/v1/rebuild", h.rebuild)
	mux.HandleFunc("POST /api/v1/erase", h.erase)
	mux.HandleFunc("POST "+pathBackup, h.backup)
	mux.HandleFunc("POST "+pathExport, h.export)
	mux.HandleFunc("POST /api/v1/routes/{key}/pause", h.act("route paused", "route", h.Operator.Pause))
	mux.HandleFunc("POST /api/v1/routes/{key}/resume", h.act("route resumed", "route", h.Operator.Resume))
	mux.HandleFunc("POST /api/v1/links/{key}/unlink", h.act("pair parted", "item", h.Operator.Unlink))
	mux.HandleFunc("POST /api/v1/accept/repository/{key}", h.act("repository accepted", "repo", h.Operator.AcceptRepository))
	mux.HandleFunc("POST /api/v1/accept/account/{key}", h.act("account accepted", "account", h.Operator.AcceptAccount))
	h.jobRoutes(mux)
	mux.HandleFunc("GET /api/v1/overview", h.overview)
	mux.HandleFunc("GET /api/v1/burndown", h.burndown)
	mux.HandleFunc("GET /api/v1/health", h.health)
	mux.HandleFunc("GET /api/v1/activity", h.activity)
	mux.HandleFunc("GET /api/v1/version", h.version)
	mux.HandleFunc("GET "+PathRoutes, func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, Configured{h.Operator.Routes()})
	})
	return mux
}

// onlyRead refuses changes of a store that was copied, as no service would see them.
func (h *handler) onlyRead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reads := r.URL.Path == pathBackup || r.URL.Path == pathExport; r.Method != http.MethodPost || reads {
			next.ServeHTTP(w, r)
			return
		}
		switch err := h.ready(r); {
		case !errors.Is(err, store.ErrCopied):
			next.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/api/"):
			writeError(w, http.StatusConflict, err)
		default:
			h.failPage(w, r, http.StatusConflict, err)
		}
	})
}

// ready asks, for a bounded time, why this process is not ready; nil: it is.
func (h *handler) ready(r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	return h.Readiness.Ready(ctx)
}

func (h *handler) readyz(w http.ResponseWriter, r *http.Request) {
	if err := h.ready(r); err != nil {
		writeText(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	writeText(w, http.StatusOK, "ok")
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a caller who has left needs no answer
}
