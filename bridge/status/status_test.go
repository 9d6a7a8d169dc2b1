package status_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"planbridge/bridge/clock"
	"planbridge/bridge/status"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// admin is the handler on a memory, as a listener serves it.
type admin struct {
	t   *testing.T
	mem *memory
	o   status.Options
	h   http.Handler
}

// readiness is what tells whether the process is ready.
type readiness func(context.Context) error

func (r readiness) Ready(ctx context.Context) error { return r(ctx) }

func newAdmin(t *testing.T, edit ...func(*status.Options)) *admin {
	a := &admin{t: t, mem: filled()}
	a.o = status.Options{
		Operator: a.mem, Registry: prometheus.NewRegistry(), Readiness: readiness(func(context.Context) error { return nil }),
		Monitor: watched(), Clock: clock.Func(func() time.Time { return noon.Add(time.Minute) }),
		Settings: &status.Access{WebURL: "https://github.example"}, Version: "v1.2.3", Loopback: true, Logger: slog.New(slog.DiscardHandler),
	}
	for _, e := range edit {
		e(&a.o)
	}
	a.h = status.New(a.o)
	return a
}

// do sends a request to the listener; headers come in pairs.
func (a *admin) do(method, target, body string, headers ...string) *http.Response {
	a.t.Helper()
	r := httptest.NewRequestWithContext(a.t.Context(), method, "http://127.0.0.1:9090"+target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, r)
	return w.Result()
}

// text is the body of an answer that has the status.
func (a *admin) text(resp *http.Response, want int) string {
	a.t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	if resp.StatusCode != want {
		a.t.Errorf("status %d, want %d: %s", resp.StatusCode, want, body)
	}
	return string(body)
}

// refused wants an error in the API's form and returns its words.
func (a *admin) refused(resp *http.Response, want int) string {
	a.t.Helper()
	body := a.text(resp, want)
	var said status.Failed
	if err := json.Unmarshal([]byte(body), &said); err != nil || said.Error == "" {
		a.t.Errorf("an error that is %q", body)
	}
	if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		a.t.Errorf("an error of the type %q", got)
	}
	return said.Error
}

func TestProbes(t *testing.T) {
	var ready error
	a := newAdmin(t, func(o *status.Options) {
		o.Readiness = readiness(func(ctx context.Context) error {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("ready is asked without a deadline")
			}
			return ready
		})
	})
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := a.text(a.do("GET", path, ""), 200); got != "ok\n" {
			t.Errorf("%s says %q", path, got)
		}
	}
	ready = errors.New("the store is away")
	if got := a.text(a.do("GET", "/readyz", ""), 503); got != "the store is away\n" {
		t.Errorf("readyz says %q", got)
	}
	a.text(a.do("GET", "/healthz", ""), 200)
}

func TestMetrics(t *testing.T) {
	a := newAdmin(t)
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "planbridge_things", Help: "Things."})
	a.o.Registry.MustRegister(gauge)
	gauge.Set(3)
	body := a.text(a.do("GET", "/metrics", ""), 200)
	if !strings.Contains(body, "# HELP planbridge_things Things.\n") || !strings.Contains(body, "planbridge_things 3\n") {
		t.Errorf("metrics:\n%s", body)
	}
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
}
