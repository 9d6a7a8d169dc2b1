package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"planbridge/mapping"
	"planbridge/store"
)

// GitHub's headers, as net/http spells their names.
const (
	headerHook      = "X-Github-Hook-Id"
	headerDelivery  = "X-Github-Delivery"
	headerEvent     = "X-Github-Event"
	headerSignature = "X-Hub-Signature-256"
)

const (
	maxBody   = 25 << 20 // GitHub delivers at most 25 MB
	maxHeader = 128      // of the identifiers that become keys of the store
	// retryAfter is what a 503 asks for, in seconds. GitHub redelivers nothing
	// by itself; proxies and people do.
	retryAfter = "10"
)

// fault is an answer other than 2xx.
type fault struct {
	status int
	result string
	err    error
}

func (f *fault) Error() string { return f.err.Error() }

// verdict is what became of a delivery that was understood.
type verdict struct {
	result string
	why    string // of what was not stored
	key    store.Key
}

// delivery is one request on its way through the intake.
type delivery struct {
	key   string // hook id, where it is told, and GUID: a GUID names the event, and two hooks can carry different payloads under one
	event string // X-GitHub-Event

	// What the payload turned out to be of.
	action string
	issue  *mapping.Issue
}

// log writes a line that carries what is known of the delivery. Attributes are
// put together for it alone: most deliveries have one line.
func (in *Intake) log(ctx context.Context, level slog.Level, d *delivery, text string, more ...slog.Attr) {
	if !in.o.Logger.Enabled(ctx, level) {
		return
	}
	attrs := append(make([]slog.Attr, 0, 8), slog.String("delivery", clip(d.key)), slog.String("event", clip(d.event)))
	if d.action != "" {
		attrs = append(attrs, slog.String("action", d.action))
	}
	if d.issue != nil {
		attrs = append(attrs, slog.String("issue", d.issue.Repo+"#"+strconv.Itoa(d.issue.Number)))
	}
	in.o.Logger.LogAttrs(ctx, level, text, append(attrs, more...)...)
}

// deliver answers one delivery. Nothing is left to do after the answer.
func (in *Intake) deliver(w http.ResponseWriter, r *http.Request) {
	ctx := in.bounds.context()
	d := &delivery{
		key:   strings.TrimPrefix(r.Header.Get(headerHook)+":"+r.Header.Get(headerDelivery), ":"),
		event: r.Header.Get(headerEvent),
	}
	v, err := in.take(ctx, w, r, d)
	if err != nil {
		in.refuse(ctx, w, d, err)
		return
	}
	in.o.Metrics.count(d.event, v.result)
	if v.key.Link != "" {
		in.log(ctx, slog.LevelInfo, d, "delivery", slog.String("result", v.result), slog.String("link", v.key.String()))
	} else {
		in.log(ctx, slog.LevelDebug, d, "delivery", slog.String("result", v.result), slog.String("why", v.why))
	}
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, strings.TrimSuffix(v.result+": "+v.why, ": ")+"\n") //nolint:errcheck // who sent it may be gone
}

// refuse answers a delivery that was not taken.
func (in *Intake) refuse(ctx context.Context, w http.ResponseWriter, d *delivery, err error) {
	f := &fault{http.StatusServiceUnavailable, unavailable, err}
	errors.As(err, &f)
	in.o.Metrics.count(d.event, f.result)
	write := func() {
		in.log(ctx, slog.LevelWarn, d, "delivery not taken", slog.String("result", f.result), slog.Any("err", err))
	}
	switch f.result {
	case forged, tooLarge, slow: // whoever sent it has not proven to be GitHub
		in.strangers.Do(write)
	default:
		write()
	}
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	http.Error(w, words[f.result], f.status)
}

// clip bounds what a stranger can put into the log.
func clip(s string) string { return s[:min(len(s), maxHeader)] }

// take goes through the steps of the package comment and adds to d what it
// learns. An error that is no *fault means that the store did not take it.
func (in *Intake) take(ctx context.Context, w http.ResponseWriter, r *http.Request, d *delivery) (verdict, error) {
	buffer := bodies.Get().(*bytes.Buffer)
	defer reuse(buffer) // what was read of it are copies
	body, err := in.read(ctx, w, r, buffer)
	if err != nil {
		return verdict{}, err
	}
	if err := in.o.Verify(in.o.Secrets(), body, r.Header.Get(headerSignature)); err != nil {
		return verdict{}, &fault{http.StatusUnauthorized, forged, err}
	}
	if d.event == "" || r.Header.Get(headerDelivery) == "" || len(d.key) > maxHeader {
		return verdict{}, bad(errors.New("GitHub's headers are missing or too long"))
	}
	payload, err := in.o.Payload(r.Header.Get("Content-Type"), body)
	if err != nil {
		return verdict{}, bad(err)
	}
	ev, err := in.o.Parse(d.event, payload)
	if err != nil {
		return verdict{}, bad(err)
	}
	if d.action, d.issue = ev.Action, ev.Issue; in.o.Visible != nil && ev.Told && ev.Repo != "" {
		in.o.Visible(ctx, ev.Repo, !ev.Private)
	}
	return in.judge(ctx, d, ev)
}

// bodies are buffers to read bodies into.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// usualBody is what a body hardly ever exceeds. A buffer that grew beyond is
// not kept.
const usualBody = 64 << 10

func reuse(b *bytes.Buffer) {
	if b.Cap() <= 2*usualBody {
		b.Reset()
		bodies.Put(b)
	}
}

func bad(err error) *fault { return &fault{http.StatusBadRequest, malformed, err} }

// over refuses a body that is too large. As much again is read and forgotten: a
// client that sends all before it looks for an answer gets one, and no reset.
func over(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Connection", "close")
	io.CopyN(io.Discard, r.Body, maxBody) //nolint:errcheck // what comes is of no use, however it ends
	return &fault{http.StatusRequestEntityTooLarge, tooLarge, errors.New("body is over 25 MiB")}
}

// read reads the body into a buffer until ctx's deadline. Memory grows with what arrives and
// not with what is announced.
func (in *Intake) read(ctx context.Context, w http.ResponseWriter, r *http.Request, body *bytes.Buffer) ([]byte, error) {
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); !ok || srv.ReadTimeout <= 0 || srv.ReadTimeout > in.o.Timeout {
		deadline, _ := ctx.Deadline()
		// A writer that knows no deadlines (a test's recorder) has none to keep.
		if err := http.NewResponseController(w).SetReadDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return nil, bad(fmt.Errorf("bound the read: %w", err))
		}
	}
	if r.ContentLength > maxBody {
		return nil, over(w, r)
	}
	body.Grow(int(min(max(r.ContentLength, 0), usualBody)) + bytes.MinRead)
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, over(w, r)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &fault{http.StatusRequestTimeout, slow, errors.New("body did not come in time")}
	case err != nil:
		return nil, bad(fmt.Errorf("read body: %w", err))
	}
	return body.Bytes(), nil
}
