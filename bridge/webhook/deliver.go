package webhook

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/guard"
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

// retryAfter is what a 503 asks for, in seconds. GitHub redelivers nothing by
// itself; proxies and people do.
const retryAfter = "10"

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
	id    string // hook id, where it is told, and GUID: a GUID names the event, and two hooks can carry different payloads under one
	key   string // in the store: see signer.key
	event string // X-GitHub-Event
	// authentic says that its signature was verified.
	authentic bool
	signer    signer

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
	attrs := append(make([]slog.Attr, 0, 8), slog.String("delivery", clip(d.id)), slog.String("event", clip(d.event)))
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
	ctx := in.deadline.context()
	d := &delivery{
		id:    strings.TrimPrefix(r.Header.Get(headerHook)+":"+r.Header.Get(headerDelivery), ":"),
		event: r.Header.Get(headerEvent),
	}
	var v verdict
	err := in.o.Guard.Do("delivery", clip(d.id), func() (err error) {
		v, err = in.take(ctx, w, r, d)
		return err
	})
	if d.authentic {
		in.o.Metrics.last.SetToCurrentTime()
		in.o.Delivered()
	}
	if guard.Panicked(err) { // it is asked for again as one that failed
		err = &fault{http.StatusInternalServerError, panicked, err}
	}
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
	write := func(more ...slog.Attr) {
		in.log(ctx, slog.LevelWarn, d, "delivery not taken", append(more, slog.String("result", f.result), slog.Any("err", err))...)
	}
	if d.authentic {
		write()
	} else {
		in.unauthenticated.log(f.result, write)
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
	rejection := admit(r.Header, d.id)
	if rejection != nil || !acted[d.event] {
		w.Header().Set("Connection", "close") // else its body would be read to find the next request behind it
		return verdict{result: ignored, why: "nothing is read from this event"}, rejection
	}
	b, err := in.read(ctx, w, r)
	defer b.free() // what was taken of it are copies
	if err != nil {
		return verdict{}, err
	}
	trust := in.o.Settings.Trust()
	secret, err := in.o.Decoder.Verify(trust.values, b.parts(), r.Header.Get(headerSignature))
	if err != nil {
		return verdict{}, &fault{http.StatusUnauthorized, forged, err}
	}
	d.authentic, d.signer = true, trust.signer(secret)
	defer in.clients.trust(r.Context())()
	payload, err := in.o.Decoder.Payload(r.Header.Get("Content-Type"), b.verified())
	if err != nil {
		return verdict{}, bad(err)
	}
	ev, err := in.o.Decoder.Parse(d.event, payload)
	if err != nil {
		return verdict{}, bad(err)
	}
	d.action, d.issue, d.key = ev.Action, ev.Issue, d.signer.key(d.id, ev.Repo)
	if v, err := in.confine(d.event, &ev, d.signer); err != nil || v.result != "" {
		return v, err
	}
	if ok, err := in.believes(ctx, &ev); err != nil || !ok {
		return verdict{result: refused, why: "another repository has the name"}, err
	}
	in.o.Accounts.Met(ctx, ev.Sender, ev.SenderID)
	if ev.VisibilityKnown && ev.Repo != "" {
		ev.Private = !in.o.Repositories.Visible(ctx, ev.Repo, !ev.Private)
	}
	return in.classify(ctx, d, ev)
}

// believes reports whether the repositories that an event names are those that their
// names stand for.
func (in *Intake) believes(ctx context.Context, ev *Event) (bool, error) {
	if ok, err := in.o.Repositories.Believes(ctx, ev.Repo, ev.RepoID); err != nil || !ok {
		return ok, err
	}
	for _, issue := range []*mapping.Issue{ev.Parent, ev.SubIssue} {
		if issue == nil || strings.EqualFold(issue.Repo, ev.Repo) {
			continue
		}
		if ok, err := in.o.Repositories.Believes(ctx, issue.Repo, issue.RepoID); err != nil || !ok {
			return ok, err
		}
	}
	return true, nil
}

func bad(err error) *fault { return &fault{http.StatusBadRequest, malformed, err} }

// sharedDeadline gives deliveries a context that ends after the timeout, or up to a hundredth
// of it before: those that come one after the other share one, since a timer for each,
// and a place in its request's context, costs as much as the log line. That its sender
// has gone does not end it: what has been read is worth keeping. It is safe for
// concurrent use.
type sharedDeadline struct {
	timeout time.Duration

	mu    sync.Mutex
	ctx   context.Context
	until time.Time // when the next one begins
}

func (b *sharedDeadline) context() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); !now.Before(b.until) {
		ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
		context.AfterFunc(ctx, cancel) // which frees nothing by then; one that is never called looks like a mistake
		b.ctx, b.until = ctx, now.Add(b.timeout/100)
	}
	return b.ctx
}
