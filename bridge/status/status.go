// Package status is the private side of planbridge: what an operator, a probe
// or Prometheus can ask of a running service.
//
// Its door is [New], the handler of the admin listener: /metrics, /healthz,
// /readyz, the status page at / and the JSON API under /api/v1/ that the
// commands use.
package status

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"planbridge/mapping"
	"planbridge/store"
)

// Operator is what is asked of planbridge's memory.
type Operator interface {
	Links(ctx context.Context, route string, visit func(*mapping.Link) error) error
	Find(ctx context.Context, name string) (*mapping.Link, error)
	History(ctx context.Context, l *mapping.Link, limit int) ([]mapping.Entry, error)
	Failures(ctx context.Context) ([]store.Failure, error)
	Retry(ctx context.Context, name string) (int, error)
	Conflicts(ctx context.Context, limit int) ([]mapping.Conflict, error)
	Overview(ctx context.Context) (map[string]store.Depth, error)
}

// Options configure the handler. All fields are required.
type Options struct {
	Operator Operator
	Registry *prometheus.Registry
	// Ready reports why deliveries cannot be taken, nil where they can.
	Ready   func(ctx context.Context) error
	Version string
	// Token is demanded, for all but metrics and probes, where the listener is
	// not on a loopback address.
	Token    func() string
	Loopback bool
	Logger   *slog.Logger
}

// New returns the admin listener's handler.
func New(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(o.Registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := o.Ready(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Write([]byte("ok\n"))
	})
	return mux
}
