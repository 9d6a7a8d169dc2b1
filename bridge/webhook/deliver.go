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

// GitHub's headers in net/http's spelling.
const (
	headerHook      = "X-Github-Hook-Id"
	headerDelivery  = "X-Github-Delivery"
	headerEvent     = "X-Github-Event"
	headerSignature = "X-Hub-Signature-256"
)

// retryAfter is the Retry-After of a 503, in seconds. GitHub itself redelivers nothing; proxies
// and people do.
const retryAfter = "10"

// fault is an answer other than 2xx.
type fault struct {
	status int
	result string
	err    error
}

func (f *fault) Error() string { return f.err.Error() }

// verdict is the result of an understood delivery.
type verdict struct {
	result string
	why    string // why it was not stored
	key    store.Key
}

// delivery is one request in the intake.
type delivery struct {
	id    string // hook id, if given, and GUID: two hooks can send different payloads of one event under one GUID
	key   string // key in the store: see signer.key
	event string // X-GitHub-Event
	// authentic says that a secret verified the signature.
	authentic bool
	signer    signer

	// Set once the payload is parsed.
	action string
	issue  *mapping.Issue
}

// log writes a line with the known facts of the delivery. It builds the attributes only for the
// line, as most deliveries have only one.
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

// deliver answers one delivery. Nothing remains to do after the answer.
func (in *Intake) deliver(w http.ResponseWriter, r *http.Request) {
	ctx := in.deadline.context()
	d := &delivery{
		id:    strings.TrimPrefix(r.Header.Get(headerHook)+":"+r.Header.Get(headerDelivery), ":"),
		event: r.Header.Get(headerEvent),
	}
	var v verdict
	err := in.o.Guard.Do("delivery", clip(d.id), func() (err error) {
		v, err = in.process(ctx, w, r, d)
		return err
	})
	if d.authentic {
		in.o.Metrics.last.SetToCurrentTime()
		if in.o.Monitor != nil {
			in.o.Monitor.Delivered()
		}
	}
	if guard.Panicked(err) { // like a failed delivery, it is asked for again
		err = &fault{http.StatusInternalServerError, panicked, err}
	}
	if err != nil {
		in.refuse(ctx, w, d, err)
		return
	}
	in.o.Metrics.count(d.event, v.result)
	if v.key.Link != "" {
		in.log(ctx, slog.LevelInfo, d, "delivery", slog.String("result", v.result), slog.String("link", string(v.key.Link)))
	} else {
		in.log(ctx, slog.LevelDebug, d, "delivery", slog.String("result", v.result), slog.String("why", v.why))
	}
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, strings.TrimSuffix(v.result+": "+v.why, ": ")+"\n") //nolint:errcheck // the sender may be gone
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

// clip bounds a stranger's text for the log.
func clip(s string) string { return s[:min(len(s), maxHeader)] }

// process runs the steps of the package comment and sets the fields of d. An error other than *fault
// says that the store did not take the delivery.
func (in *Intake) process(ctx context.Context, w http.ResponseWriter, r *http.Request, d *delivery) (verdict, error) {
	rejection := admit(r.Header, d.id)
	if rejection != nil || !acted[d.event] {
		w.Header().Set("Connection", "close") // otherwise net/http reads the body to find the next request
		return verdict{result: ignored, why: "nothing is read from this event"}, rejection
	}
	b, err := in.read(ctx, w, r)
	defer b.free() // take copied what it needs
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
	if v, err := in.identify(ctx, &ev, d.signer); err != nil || v.result != "" {
		return v, err
	}
	in.o.Accounts.Met(ctx, ev.Sender, ev.SenderID)
	if ev.VisibilityKnown && ev.Repo != "" {
		ev.Private = !in.o.Repositories.Visible(ctx, ev.Repo, !ev.Private)
	}
	return in.classify(ctx, d, ev)
}

// identify gives the event's repositories their present names. A late event may have a former name.
// A verdict with a result says that another repository has the name.
func (in *Intake) identify(ctx context.Context, ev *Event, s signer) (verdict, error) {
	type named struct {
		name string
		id   int64
	}
	issues := []*mapping.Issue{ev.Issue, ev.Parent, ev.SubIssue}
	repos := []named{{ev.Repo, ev.RepoID}}
	for _, issue := range issues[1:] {
		if issue != nil && !strings.EqualFold(issue.Repo, ev.Repo) {
			repos = append(repos, named{issue.Repo, issue.RepoID})
		}
	}
	for _, r := range repos {
		now, err := in.o.Repositories.Identify(ctx, r.name, r.id)
		switch {
		case err != nil:
			return verdict{}, err
		case now == "" && r.name != "":
			return verdict{result: refused, why: "another repository has the name"}, nil
		case s.confined() && now != "" && !s.covers(now) && in.covers(s, r.name, r.id):
			return in.uncovered(now)
		case strings.EqualFold(now, r.name):
			continue
		}
		if r.name == ev.Repo {
			ev.Repo = now
		}
		for _, issue := range issues {
			if issue != nil && strings.EqualFold(issue.Repo, r.name) {
				issue.Renamed(now)
			}
		}
	}
	return verdict{}, nil
}

func bad(err error) *fault { return &fault{http.StatusBadRequest, malformed, err} }

// sharedDeadline gives deliveries a context that ends after the timeout, or up to a hundredth of
// it earlier. Successive deliveries share one, since a timer for each costs as much as the log
// line. The context outlives the sender's connection, as a received body is worth keeping. It is
// safe for concurrent use.
type sharedDeadline struct {
	timeout time.Duration

	mu    sync.Mutex
	ctx   context.Context
	until time.Time // when the next context begins
}

func (b *sharedDeadline) context() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); !now.Before(b.until) {
		ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
		context.AfterFunc(ctx, cancel) // the timer has ended by then; go vet demands a call of cancel
		b.ctx, b.until = ctx, now.Add(b.timeout/100)
	}
	return b.ctx
}
