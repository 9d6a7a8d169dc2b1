package planning

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/sony/gobreaker/v2"

	"planbridge/mapping"
)

// Bounds on one answer, in bytes. A backlog is streamed, so that its bound guards time, not
// memory.
const (
	maxAnswer  = 32 << 20
	maxBacklog = 256 << 20
)

// call is one request to make.
type call struct {
	Request
	operation string // label of the metrics, "card.update"
	method    string
	path      string // below the project, "" or with a leading slash
	body      []byte
	invalid   error // why the request is invalid

	// take consumes the body of a 2xx answer; its error means that the answer is unintelligible.
	take func([]byte) error
	// stream consumes the body as it arrives. It is called at most once for a call.
	stream func(io.Reader) error
	// condition asks for the answer only where it changed; nil: always.
	condition *condition
	// refused reads the answer of an update before the general rules do. It returns nil where
	// those apply.
	refused func(status int, body []byte) error
}

// read begins a call; the segments are literal path segments, and ids to escape.
func (c *Client) read(operation, what string, segments ...any) call {
	k := call{Request: Request{What: what}, operation: operation, method: http.MethodGet}
	for _, s := range segments {
		switch s := s.(type) {
		case string:
			k.path += "/" + s
		case mapping.ObjectID:
			k.refuse(CheckID(s))
			k.path += "/" + url.PathEscape(string(s))
		}
	}
	return k
}

// refuse records why the request is invalid; nil: it is valid.
func (k *call) refuse(err error) {
	if k.invalid == nil {
		k.invalid = err
	}
}

// do makes the call: reads are retried, writes never. It wraps the error with the operation.
func (c *Client) do(ctx context.Context, k call) error {
	_, err := c.retried(ctx, k)
	return k.Failed(err)
}

func (c *Client) retried(ctx context.Context, k call) (body []byte, err error) {
	if k.invalid != nil {
		return nil, k.invalid
	}
	if k.Writes || c.opts.ReadRetries < 0 {
		return c.guarded(ctx, k)
	}
	policy := backoff.WithContext(backoff.WithMaxRetries(c.newPause(), uint64(c.opts.ReadRetries)), ctx)
	//nolint:errcheck // err is the last attempt's, also where ctx ended the pause after it.
	_ = backoff.Retry(func() error {
		body, err = c.guarded(ctx, k)
		var o *outage
		if errors.As(err, &o) && !o.streamed {
			return err
		}
		return backoff.Permanent(err)
	}, policy)
	return body, err
}

// spreadPause draws each pause between half and three halves of a growing one.
type spreadPause struct {
	backoff.BackOff
	random func(n int64) int64
}

func (c *Client) newPause() spreadPause {
	return spreadPause{backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(c.opts.RetryPause), backoff.WithRandomizationFactor(0),
		backoff.WithMaxElapsedTime(0), // the number of attempts and the context bound it
	), c.opts.Random.Int64N}
}

// NextBackOff implements [backoff.BackOff].
func (s spreadPause) NextBackOff() time.Duration {
	d := s.BackOff.NextBackOff()
	return d/2 + time.Duration(s.random(int64(max(d, 1))))
}

// guarded makes one attempt under the circuit breaker.
func (c *Client) guarded(ctx context.Context, k call) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)
	}
	body, err := c.breaker.Execute(func() ([]byte, error) {
		body, err := c.attempt(ctx, k)
		if c.opts.Observer != nil {
			c.opts.Observer.Asked(k.operation, err)
		}
		return body, err
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return nil, fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)
	}
	return body, err
}

// attempt sends the request once and judges the answer.
func (c *Client) attempt(caller context.Context, k call) ([]byte, error) {
	timeout := c.opts.Timeout
	if k.stream != nil {
		timeout = c.opts.BulkTimeout
	}
	ctx, cancel := context.WithTimeout(caller, timeout)
	defer cancel()
	var conn connection
	req, err := http.NewRequestWithContext(conn.traced(ctx), k.method, c.base+k.path, bytes.NewReader(k.body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)
	}
	if err := c.setHeader(req, k); err != nil {
		return nil, err
	}
	start, code := time.Now(), "error"
	defer func() {
		took := time.Since(start)
		c.opts.Metrics.observe(k.operation, code, took)
		c.opts.Logger.Debug("planning request", "operation", k.operation, "code", code, "duration", took)
	}()
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, k.lost(caller, err, !conn.missed(err))
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is written through it
	code = strconv.Itoa(resp.StatusCode)
	return c.answer(caller, k, resp)
}

func (c *Client) setHeader(req *http.Request, k call) error {
	secret := *c.secret.Load()
	if strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("%w: the secret holds characters that no header can carry", mapping.ErrUnauthorized)
	}
	req.Header.Set("Authorization", "secret "+secret)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "planbridge")
	k.condition.ask(req.Header)
	if k.Writes {
		req.Header.Set("Content-Type", "application/json")
	}
	return nil
}

// answer reads and judges the body of an answer.
func (c *Client) answer(caller context.Context, k call, resp *http.Response) ([]byte, error) {
	if k.condition.met(resp) {
		return nil, nil
	}
	ok := resp.StatusCode/100 == 2
	if ok && k.stream != nil {
		return nil, k.streamed(caller, resp.Body)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, k.lost(caller, err, true)
	}
	if len(body) > maxAnswer {
		return nil, k.Misread(errTooLarge(maxAnswer))
	}
	if k.refused != nil {
		if err := k.refused(resp.StatusCode, body); err != nil {
			return nil, err
		}
	}
	if !ok {
		return nil, k.Fault(resp.StatusCode, resp.Header.Get("Retry-After"), c.errorMessage(body), time.Now())
	}
	if k.take != nil {
		if err := k.take(body); err != nil {
			return nil, k.Misread(err)
		}
	}
	return body, nil
}

// streamed passes the body to the call's consumer. It distinguishes errors of the visitor, of the
// connection and of the text.
func (k *call) streamed(caller context.Context, body io.Reader) error {
	watched := &bounded{r: body, left: maxBacklog}
	err := k.stream(watched)
	var visit *visitError
	var o *outage
	switch {
	case err == nil:
		return nil
	case errors.As(err, &visit):
		return visit.err
	case watched.err == nil:
		return k.Misread(err)
	case errors.Is(watched.err, errBound):
		return k.Misread(watched.err)
	}
	if err = k.lost(caller, watched.err, true); errors.As(err, &o) {
		o.streamed = true
	}
	return err
}

// visitError carries the error of a caller's own function through the decoder.
type visitError struct{ err error }

func (e *visitError) Error() string { return e.err.Error() }

var errBound = errors.New("answer too large")

func errTooLarge(bound int) error {
	return fmt.Errorf("%w: more than %d MiB", errBound, bound>>20)
}

// bounded reads at most left bytes and remembers why it ended early.
type bounded struct {
	r    io.Reader
	left int
	err  error // of the connection, or errBound
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.err = errTooLarge(maxBacklog)
		return 0, b.err
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// connection remembers how far a request came.
type connection struct{ sought, got atomic.Bool }

func (c *connection) traced(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { c.sought.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { c.got.Store(true) },
	})
}

// missed reports whether a failed request certainly was not sent. That is so where there was no
// connection, or where dialling was the last attempt, as the transport repeats only unsent
// requests. Without proof it may have been sent.
func (c *connection) missed(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true
	}
	return c.sought.Load() && !c.got.Load()
}
