// Package webhook takes GitHub's deliveries in: it verifies, bounds, decides
// what each shows and of which link, makes that durable, and only then answers.
//
// Its door is [New]: the [Intake] it returns is the http.Handler of the public
// listener and, through [Intake.Listed], the one place where issues that a
// catch-up listing shows are judged by the same rules. [Server] is the
// http.Server that stands slow clients.
//
// A delivery passes these steps; the first that fails answers it:
//
//	method and path    405, 404
//	size               413 when the body is over 25 MiB (GitHub sends up to 25 MB)
//	read in time       408
//	signature          401, HMAC-SHA256 over the raw body by any of the secrets
//	headers, payload   400
//	what it shows      202 when nothing has to be remembered of it
//	store              503 with Retry-After when it does not answer or is full
//	stored             202
//
// Everything after the signature is decided by [mapping.Routes.Entering] and
// the store's indexes; nothing is decided by what the bridge remembers having
// sent. Of what did not enter the newest sighting is remembered for a while, so
// that an older one which arrives later does not either. All methods are safe for concurrent use.
package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"planbridge/mapping"
	"planbridge/store"
)

// Path is where GitHub delivers.
const Path = "/webhooks/github"

// Store is what the intake asks of the store.
type Store interface {
	Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error)
	Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error)
}

// Event is what the intake needs to know of a delivery's payload.
type Event struct {
	Action string
	Issue  *mapping.Issue // nil in events that concern none
	// OldIssue is the issue that this one was before a transfer, as the
	// `opened` event in the new repository tells.
	OldIssue *mapping.Issue
	NewIssue *mapping.Issue // what this one is now, as a `transferred` event tells
	// Parent and SubIssue are the two issues of a `sub_issues` event.
	Parent, SubIssue *mapping.Issue
	Repo             string // owner/name
	Private          bool   // only members can read the repository
	Told             bool   // the payload says so, or that anybody can
	Sender           string // login
	// TitleFrom and BodyFrom are what stood there before an `edited` event.
	TitleFrom, BodyFrom *string
	OldRepo             string // owner/name before a repository was renamed or transferred
}

// Options configure an Intake. The functions are asked at each delivery, so
// that a reload takes effect at once. All fields but Visible and Timeout are required.
type Options struct {
	// Secrets are the webhook secrets that verify, any of them.
	Secrets func() [][]byte
	// Verify reports an error unless header is the SHA-256 signature of body
	// by one of the secrets.
	Verify func(secrets [][]byte, body []byte, header string) error
	// Payload takes the JSON out of a body, which can be a form.
	Payload func(contentType string, body []byte) ([]byte, error)
	// Parse reads a payload, which it must not keep. An unknown event is no
	// error.
	Parse func(name string, payload []byte) (Event, error)

	Store  Store
	Routes func() mapping.Routes
	Scheme func() mapping.LabelScheme
	Keys   func() mapping.Keys
	Whose  func(login string) mapping.Whose
	// FirstRun tells when a route began to run; zero while that is not known.
	FirstRun func(route string) time.Time
	// Renamed is told that a repository has another name, and Writable that
	// one is archived no more.
	Renamed  func(ctx context.Context, from, to string) error
	Writable func(ctx context.Context, repo string)
	// Visible is told by each event whether anybody can read its repository; nil:
	// nobody wants to know.
	Visible func(ctx context.Context, repo string, public bool)
	// EnterDelay is how long a new issue waits for its labels and its parent.
	EnterDelay time.Duration
	// Timeout bounds a delivery from its first byte to the answer; 0 means
	// 9 s.
	Timeout time.Duration
	Metrics *Metrics
	Logger  *slog.Logger
}

// Intake takes in what is seen of issues. It serves POST [Path] and nothing
// else.
type Intake struct {
	o   Options
	mux *http.ServeMux
	// strangers keeps those who are not GitHub from filling the log: the
	// metric counts them all.
	strangers rate.Sometimes
	public    sync.Map // repositories whose refusal has been logged
	refusals  *refusals
	bounds    bounds
}

// New returns an Intake.
func New(o Options) *Intake {
	if o.Timeout == 0 {
		o.Timeout = usualTimeout
	}
	in := &Intake{o: o, mux: http.NewServeMux(), strangers: rate.Sometimes{First: 5, Interval: time.Minute}, refusals: newRefusals(), bounds: bounds{timeout: o.Timeout}}
	in.mux.HandleFunc("POST "+Path, in.deliver)
	return in
}

// ServeHTTP implements http.Handler.
func (in *Intake) ServeHTTP(w http.ResponseWriter, r *http.Request) { in.mux.ServeHTTP(w, r) }

// usualTimeout leaves a second of the ten after which GitHub gives up.
const usualTimeout = 9 * time.Second

// Server returns a server for the public listener with the bounds that keep
// slow or greedy clients from holding it up. The caller starts and stops it.
func Server(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr: addr, Handler: handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       usualTimeout, // an Intake sets no other where its own is as long
		WriteTimeout:      20 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    32 << 10,
	}
}
