// Package webhook takes GitHub's deliveries in: it verifies, bounds, decides
// what each shows and of which link, makes that durable, and only then answers.
//
// Its door is [New]: the [Intake] it returns is the http.Handler of the public
// listener and, through [Intake.Listed], the one place where issues that a
// catch-up listing shows are judged by the same rules. [Intake.Server] is the
// http.Server that bears slow and greedy clients.
//
// A delivery passes these steps; the first that fails answers it:
//
//	method and path    405, 404
//	headers            401 without one well-formed signature, 400 without GitHub's others
//	event              202 when nothing is read from it; its body is not read
//	size               413 when the body is over 25 MiB (GitHub sends up to 25 MB)
//	room               503 with Retry-After when too much is unverified at once
//	read in time       408
//	signature          401, HMAC-SHA256 over the raw body by any of the secrets
//	payload            400
//	what it shows      202 when nothing has to be remembered of it
//	store              503 with Retry-After when it does not answer or is full
//	stored             202
//
// Everything after the signature is decided by [mapping.Routes.Entering] and
// the store's indexes; nothing is decided by what the bridge remembers having
// sent. Of what did not enter the newest observation is remembered for a while, so
// that an older one which arrives later does not either. All methods are safe for concurrent use.
package webhook

import (
	"context"
	"log"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// Path is where GitHub delivers.
const Path = "/webhooks/github"

// Store is what the intake asks of the store.
type Store interface {
	Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error)
	Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error)
	Link(ctx context.Context, key store.Key) (*mapping.Link, error)
	// Projects lists the projects that have a space in the store, configured or not.
	Projects(ctx context.Context) ([]mapping.ObjectID, error)
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
	RepoID           int64  // 0 where the payload does not tell
	Private          bool   // only members can read the repository
	VisibilityKnown  bool   // the payload says so, or that anybody can
	Label            string // that a `labeled` or `unlabeled` event tells of; "" where it is no more
	Sender           string // login
	SenderType       string // User, Bot, Organization; "" where the payload does not tell
	SenderID         int64  // 0 where the payload does not tell
	// TitleFrom and BodyFrom are what stood there before an `edited` event.
	TitleFrom, BodyFrom *string
	OldRepo             string // owner/name before a repository was renamed or transferred
	Installation        int64  // of the app that GitHub delivers for; 0: the hook is no app's

	parentLess bool // nothing is believed of Parent
}

// Decoder verifies and reads what GitHub delivers.
type Decoder interface {
	// Verify returns by which of the secrets header is the SHA-256 signature of a
	// body, given in parts.
	Verify(secrets [][]byte, body [][]byte, header string) (int, error)
	// Payload takes the JSON out of a body, which can be a form.
	Payload(contentType string, body []byte) ([]byte, error)
	// Parse reads a payload, which it must not keep. An unknown event is no
	// error.
	Parse(name string, payload []byte) (Event, error)
}

// Settings are asked at each delivery, so that a reload takes effect at once.
type Settings interface {
	// Trust says which secrets verify, and what each is believed about.
	Trust() *Trust
	Routes() mapping.Routes
	Scheme() mapping.LabelScheme
	Keys() mapping.Keys
	// FirstRun tells when a route began to run; zero while that is not known.
	FirstRun(route string) time.Time
}

// Accounts knows the accounts of GitHub.
type Accounts interface {
	// Authorship says whether an account is the bridge's own.
	Authorship(login string) mapping.Authorship
	// Met is told of each account that an event or a listing shows, by login and id (0:
	// it is not told).
	Met(ctx context.Context, login string, id int64)
	// OtherInstallation reports whether the app's installation on an account is known
	// to be another one than that with the id.
	OtherInstallation(owner string, id int64) bool
	// Released asks GitHub whether a person let an issue out of quarantine. It is asked
	// for listed issues that no link knows.
	Released(ctx context.Context, issue *mapping.Issue) (bool, error)
}

// Repositories is told what events show of repositories.
type Repositories interface {
	// Believes is asked of each repository that an event names, by the id that the
	// event tells (0: none), whether it is the one that the name stands for. Its error
	// puts the delivery off.
	Believes(ctx context.Context, repo string, id int64) (bool, error)
	// Visible is told by each event whether anybody can read its repository, and returns
	// whether anybody can as far as is known: an event that denies it may be an old one.
	Visible(ctx context.Context, repo string, public bool) (now bool)
	// Renamed is told that a repository has another name, and Writable that
	// one is archived no more.
	Renamed(ctx context.Context, from, to string) error
	Writable(ctx context.Context, repo string)
}

// Options configure an Intake. All fields but Delivered, Guard and Timeout are required.
type Options struct {
	Decoder      Decoder
	Settings     Settings
	Accounts     Accounts
	Repositories Repositories
	Store        Store
	// EnterDelay is how long a new issue waits for its labels and its parent.
	EnterDelay time.Duration
	// Timeout bounds a delivery from its first byte to the answer; 0 means
	// 9 s.
	Timeout time.Duration
	// Delivered is told of each delivery that a secret verifies.
	Delivered func()
	Metrics   *Metrics
	Logger    *slog.Logger
	// Guard sets aside what the program panics on; nil: nothing is remembered of it.
	Guard *guard.Guard
}

// Intake takes in what is seen of issues. It serves POST [Path] and nothing
// else.
type Intake struct {
	o               Options
	mux             *http.ServeMux
	unauthenticated unauthenticatedLogLimit
	public          sync.Map // repositories whose refusal has been logged
	rejected        *rejectedCache
	waiting         *quarantine
	deadline        sharedDeadline

	clients    clients
	unverified *budget
	pace       *rate.Limiter // of what is read of large bodies
}

// New returns an Intake.
func New(o Options) *Intake {
	if o.Timeout == 0 {
		o.Timeout = usualTimeout
	}
	if o.Delivered == nil {
		o.Delivered = func() {}
	}
	in := &Intake{
		o: o, mux: http.NewServeMux(), rejected: newRejectedCache(), waiting: newQuarantine(o.Metrics, o.Logger), deadline: sharedDeadline{timeout: o.Timeout},
		unauthenticated: unauthenticatedLogLimit{window: time.Minute},
		unverified:      newBudget(maxUnverified), pace: rate.NewLimiter(pace, paceBurst),
	}
	in.clients = clients{max: maxClients, onClose: in.reportClosed}
	in.mux.HandleFunc("POST "+Path, in.deliver)
	return in
}

// ServeHTTP implements http.Handler.
func (in *Intake) ServeHTTP(w http.ResponseWriter, r *http.Request) { in.mux.ServeHTTP(w, r) }

// usualTimeout leaves a second of the ten after which GitHub gives up.
const usualTimeout = 9 * time.Second

// Server returns the server of the public listener: [Server] with a bound on its
// connections and on what it logs. The caller starts and stops it.
func (in *Intake) Server(addr string) *http.Server {
	srv := Server(addr, in)
	srv.ErrorLog = log.New(&httpErrors{in.o.Logger, &in.unauthenticated}, "", 0)
	in.clients.bind(srv)
	return srv
}

// Server returns a server for the public listener with the bounds that keep
// slow or greedy clients from holding it up. The caller starts and stops it.
func Server(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr: addr, Handler: handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       usualTimeout, // an Intake sets no other where its own is as long
		WriteTimeout:      20 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10, // GitHub's and a proxy's are some 2 KiB
	}
}
