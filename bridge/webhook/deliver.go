package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"planbridge/store"
)

const (
	maxBody   = 26 << 20 // GitHub delivers at most 25 MB
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
	log   *slog.Logger
}

// deliver answers one delivery. Nothing is left to do after the answer.
func (in *Intake) deliver(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), in.o.Timeout)
	defer cancel()
	d := &delivery{
		key:   strings.TrimPrefix(r.Header.Get("X-GitHub-Hook-ID")+":"+r.Header.Get("X-GitHub-Delivery"), ":"),
		event: r.Header.Get("X-GitHub-Event"),
	}
	d.log = in.o.Logger.With("delivery", clip(d.key), "event", clip(d.event))
	v, err := in.take(ctx, w, r, d)
	if err != nil {
		in.refuse(w, d, err)
		return
	}
	in.o.Metrics.count(d.event, v.result)
	if v.key.Link != "" {
		d.log.Info("delivery", "result", v.result, "link", v.key.String())
	} else {
		d.log.Debug("delivery", "result", v.result, "why", v.why)
	}
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintln(w, strings.TrimSuffix(v.result+": "+v.why, ": "))
}

// refuse answers a delivery that was not taken.
func (in *Intake) refuse(w http.ResponseWriter, d *delivery, err error) {
	f := &fault{http.StatusServiceUnavailable, unavailable, err}
	errors.As(err, &f)
	in.o.Metrics.count(d.event, f.result)
	write := func() { d.log.Warn("delivery not taken", "result", f.result, "err", err) }
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

// take goes through the steps of the package comment and adds to d's log what
// it learns. An error that is no *fault means that the store did not take it.
func (in *Intake) take(ctx context.Context, w http.ResponseWriter, r *http.Request, d *delivery) (verdict, error) {
	body, err := in.read(ctx, w, r)
	if err != nil {
		return verdict{}, err
	}
	if err := in.o.Verify(in.o.Secrets(), body, r.Header.Get("X-Hub-Signature-256")); err != nil {
		return verdict{}, &fault{http.StatusUnauthorized, forged, err}
	}
	if d.event == "" || r.Header.Get("X-GitHub-Delivery") == "" || len(d.key) > maxHeader {
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
	d.log = d.log.With("action", ev.Action)
	if ev.Issue != nil {
		d.log = d.log.With("issue", fmt.Sprintf("%s#%d", ev.Issue.Repo, ev.Issue.Number))
	}
	return in.judge(ctx, d, ev)
}

func bad(err error) *fault { return &fault{http.StatusBadRequest, malformed, err} }

// read reads the body until ctx's deadline. Memory grows with what arrives and
// not with what is announced.
func (in *Intake) read(ctx context.Context, w http.ResponseWriter, r *http.Request) ([]byte, error) {
	large := &fault{http.StatusRequestEntityTooLarge, tooLarge, errors.New("body is over 26 MiB")}
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close")
		return nil, large
	}
	deadline, _ := ctx.Deadline()
	// A writer that knows no deadlines (a test's recorder) has none to keep.
	if err := http.NewResponseController(w).SetReadDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, bad(fmt.Errorf("bound the read: %w", err))
	}
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0), 64<<10)) + bytes.MinRead)
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, large
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &fault{http.StatusRequestTimeout, slow, errors.New("body did not come in time")}
	case err != nil:
		return nil, bad(fmt.Errorf("read body: %w", err))
	}
	return body.Bytes(), nil
}
