package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"planbridge/bridge/factlog"
	"planbridge/mapping"
)

// wire is the innermost layer. Every request passes it, also an App's for tokens. It reads
// answers whole, so that one that is cut off is a failure of its request.
type wire struct {
	base      http.RoundTripper
	breaker   *gobreaker.CircuitBreaker[*http.Response]
	gate      gate
	metrics   Metrics
	observer  Observer
	log       *slog.Logger
	allowance atomic.Pointer[allowance]
	answered  atomic.Pointer[call]          // the last answered read of an issue or a listing
	ahead     atomic.Pointer[time.Duration] // see ClockAhead
}

const (
	breakerTrips = 5        // consecutive failures
	maxAnswer    = 64 << 20 // bytes; a page of 100 issues with full bodies has under 30 MB
)

// errServer makes the breaker count a 5xx; it never leaves this file.
var errServer = errors.New("server error")

func newWire(o Options) *wire {
	w := &wire{base: o.Transport, metrics: *o.Metrics, observer: o.Observer, log: o.Logger, gate: gate{holds: o.Holds, log: o.Logger}}
	w.breaker = gobreaker.NewCircuitBreaker[*http.Response](gobreaker.Settings{ //nolint:bodyclose // takes the type for an answer
		Name:        "github",
		Timeout:     o.Recovery,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= breakerTrips },
		// A cancelled request says nothing about GitHub.
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			switch {
			case to == gobreaker.StateOpen && from == gobreaker.StateClosed:
				w.log.Warn("GitHub does not answer: what needs it waits", "service", "github", "fact", factlog.Away)
			case to == gobreaker.StateClosed:
				w.log.Info("GitHub answers again", "service", "github", "over", factlog.Away)
			}
		},
	})
	return w
}

func (w *wire) down() bool { return w.breaker.State() != gobreaker.StateClosed }

// ready returns the error that a request would get before it leaves.
func (w *wire) ready(ctx context.Context, k call) error {
	if w.breaker.State() == gobreaker.StateOpen {
		return fmt.Errorf("%w: %w", mapping.ErrUnavailable, gobreaker.ErrOpenState)
	}
	return w.gate.check(ctx, k)
}

// RoundTrip implements http.RoundTripper. It returns a rate limit as a *mapping.RateLimited
// inside *notSent.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	k := callOf(req.Context())
	if err := w.gate.check(req.Context(), k); err != nil {
		closeBody(req)
		return nil, &notSent{err}
	}
	if bypassesBreaker(k.op) && !k.class.writes() {
		ctx, cancel := bounded(req.Context(), bypassTimeout)
		defer cancel()
		req = req.WithContext(ctx)
	}
	resp, err := w.guarded(k.op, func() (*http.Response, error) {
		resp, err := w.send(req, k)
		if err == nil && resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented {
			err = errServer
		}
		return resp, err
	})
	switch {
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		closeBody(req)
		return nil, &notSent{fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)}
	case err != nil && !errors.Is(err, errServer):
		return nil, err
	}
	w.noteRate(resp.Header)
	if l, ok := readLimit(resp.StatusCode, resp.Header, bodyOf(resp), time.Now()); ok {
		resource := w.shut(req.Context(), k, l)
		w.log.Warn("github rate limit", "operation", k.op, "why", l.Why, "after", l.After, "resource", resource, factlog.Fact, factlog.Limited)
		return nil, &notSent{l.RateLimited}
	}
	if resp.StatusCode < 400 {
		w.gate.passed(k)
	}
	if resp.StatusCode < 400 && req.Method == http.MethodGet && k.class == classRead && !bypassesBreaker(k.op) && k.op != "probe" {
		w.answered.Store(&k)
	}
	return resp, nil
}

// send makes the request and reads the whole answer.
func (w *wire) send(req *http.Request, k call) (*http.Response, error) {
	var asked, connected atomic.Bool
	trace := &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}
	begin := time.Now()
	resp, err := w.base.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err == nil {
		err = buffer(resp)
	}
	code := "error"
	if err == nil {
		code = strconv.Itoa(resp.StatusCode)
		w.noteDate(resp.StatusCode, resp.Header, begin, time.Now())
		resp.Header.Del(fromCache) // only this client may set it
	}
	if w.metrics.Requests != nil {
		w.metrics.Requests.WithLabelValues("github", k.op, code).Inc()
	}
	if w.observer != nil {
		w.observer.Asked(k.op, asWhole(resp, err))
	}
	if w.metrics.Duration != nil {
		w.metrics.Duration.WithLabelValues("github", k.op).Observe(time.Since(begin).Seconds())
	}
	if err == nil {
		return resp, nil
	}
	if (asked.Load() && !connected.Load()) || isDial(err) {
		return nil, &notSent{fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)}
	}
	return nil, err
}

// asWhole is the error about GitHub as a whole in an answer, or in a missing one.
func asWhole(resp *http.Response, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)
	case resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: answer 401", mapping.ErrUnauthorized)
	case resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented:
		return fmt.Errorf("%w: answer %d", mapping.ErrUnavailable, resp.StatusCode)
	}
	return nil
}

// isDial recognises a connection that failed, for transports without httptrace.
func isDial(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return (errors.As(err, &op) && op.Op == "dial") || errors.As(err, &dns)
}

// noteRate stores the primary limit's count. Search, GraphQL and others have windows of their
// own.
func (w *wire) noteRate(h http.Header) {
	if r := h.Get("X-RateLimit-Resource"); r != "" && r != "core" {
		return
	}
	n, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	if err != nil {
		return
	}
	a := allowance{remaining: n}
	limit, err := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	reset, resetErr := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	date, dateErr := http.ParseTime(h.Get("Date"))
	if err == nil && resetErr == nil && dateErr == nil {
		a.limit, a.reset = limit, time.Now().Add(time.Unix(reset, 0).Sub(date))
	}
	w.allowance.Store(&a)
}

// allowance is GitHub's primary limit in an answer.
type allowance struct {
	remaining, limit int       // requests; a limit of 0: unknown
	reset            time.Time // the end of the limit's hour, by this process's clock
}

// RateScarce is true once more than these parts of an hour's requests are spent: a fifth at once,
// and two fifths more over the hour.
const scarceAtOnce, scarceByTime = 0.2, 0.4

// scarce reports whether more than that is spent at a moment.
func (a *allowance) scarce(now time.Time) bool {
	if a == nil || a.limit <= 0 || !now.Before(a.reset) {
		return false
	}
	past := 1 - min(1, a.reset.Sub(now).Hours())
	return float64(a.limit-a.remaining) > float64(a.limit)*(scarceAtOnce+scarceByTime*past)
}

// whole is a body read to its end.
type whole struct {
	*bytes.Reader
	data []byte
}

func (whole) Close() error { return nil }

func setBody(resp *http.Response, data []byte) {
	resp.Body = whole{bytes.NewReader(data), data}
	resp.ContentLength = int64(len(data))
}

func buffer(resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	resp.Body.Close()
	if err == nil && len(data) > maxAnswer {
		err = errors.New("answer has more than " + strconv.Itoa(maxAnswer) + " bytes")
	}
	setBody(resp, data)
	return err
}

// bodyOf returns the bytes of a body that the wire has read, without moving it.
func bodyOf(resp *http.Response) []byte {
	w, _ := resp.Body.(whole)
	return w.data
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

func (w *wire) closeIdle() {
	(&http.Client{Transport: w.base}).CloseIdleConnections()
}

// ClockAhead returns how far GitHub's clock is ahead of this process's, negative where behind,
// according to the last answer; false before the first one. A GitHub without a Date counts as
// having our time. It is safe for concurrent use.
func (c *Client) ClockAhead() (time.Duration, bool) {
	if d := c.wire.ahead.Load(); d != nil {
		return *d, true
	}
	return 0, false
}

// noteDate uses the Date of an answer. It ignores a 5xx, which may come from a proxy with its own
// clock. Date has whole seconds: a difference within these and the request's time counts as none.
// Of a larger difference the smallest possible value is used.
func (w *wire) noteDate(status int, h http.Header, sent, received time.Time) {
	if status >= http.StatusInternalServerError {
		return
	}
	ahead := time.Duration(0)
	date, err := http.ParseTime(h.Get("Date"))
	if err == nil && (date.After(received) || date.Add(time.Second).Before(sent)) {
		ahead = date.Sub(received)
	}
	if err == nil || w.ahead.Load() == nil {
		w.ahead.Store(&ahead)
	}
}
