// Package webhook receives GitHub's deliveries. It bounds and verifies each one, decides what it
// shows and for which link, makes that durable, and only then answers.
//
// Its entry point is [New]. The [Intake] is the http.Handler of the public listener. Through
// [Intake.Listed] it also applies the same rules to the issues of a catch-up listing.
// [Intake.Server] is the http.Server that withstands slow and greedy clients.
//
// A delivery passes these steps; the first that fails answers it:
//
//	method and path    405, 404
//	headers            401 without one well-formed signature, 400 without GitHub's others
//	event              202 when its payload is not needed; the body is not read
//	size               413 when the body is over 25 MiB (GitHub sends up to 25 MB)
//	room               503 with Retry-After when too much is unverified at once
//	read in time       408
//	signature          401, HMAC-SHA256 over the raw body by any of the secrets
//	payload            400
//	decision           202 when nothing has to be stored
//	store              503 with Retry-After when it does not answer or is full
//	stored             202
//
// [mapping.Routes.Entering] and the store's indexes decide everything after the signature. The
// bridge's memory of its own requests decides nothing. The newest rejected observation of an issue
// is remembered for a while, so that an older one that arrives later is rejected too. All methods
// are safe for concurrent use.
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

// Path is the path of GitHub's deliveries.
const Path = "/webhooks/github"

// Store is the part of the store that the intake uses.
type Store interface {
	Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error)
	Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error)
	Link(ctx context.Context, key store.Key) (*mapping.Link, error)
	// Projects lists the projects with data in the store, configured or not.
	Projects(ctx context.Context) ([]mapping.ObjectID, error)
}

// Event is the part of a delivery's payload that the intake needs.
type Event struct {
	Action string
	Issue  *mapping.Issue // nil in events without an issue
	// OldIssue is this issue before its transfer, as the `opened` event in the new repository
	// shows it.
	OldIssue *mapping.Issue
	NewIssue *mapping.Issue // this issue after its transfer, as a `transferred` event shows it
	// Parent and SubIssue are the two issues of a `sub_issues` event.
	Parent, SubIssue *mapping.Issue
	Repo             string // owner/name
	RepoID           int64  // 0 where the payload lacks it
	Private          bool   // only members can read the repository
	VisibilityKnown  bool   // the payload says whether the repository is private, or that it is public
	Label            string // the label of a `labeled` or `unlabeled` event; "" where it was deleted
	Sender           string // login
	SenderType       string // User, Bot, Organization; "" where the payload lacks it
	SenderID         int64  // 0 where the payload lacks it
	// TitleFrom and BodyFrom are the texts before an `edited` event.
	TitleFrom, BodyFrom *string
	OldRepo             string // owner/name before a repository was renamed or transferred
	Installation        int64  // the app's installation that the delivery is for; 0: the hook belongs to no app

	parentLess bool // the signer's secret does not cover Parent
}

// Decoder verifies and reads deliveries.
type Decoder interface {
	// Verify returns the index of the secret whose SHA-256 signature of the body, given in parts,
	// is header.
	Verify(secrets [][]byte, body [][]byte, header string) (int, error)
	// Payload returns the JSON of a body, which can be a form.
	Payload(contentType string, body []byte) ([]byte, error)
	// Parse reads a payload. It must keep no reference to it. An unknown event is no error.
	Parse(name string, payload []byte) (Event, error)
}

// Settings are read at each delivery, so that a reload takes effect at once.
type Settings interface {
	// Trust returns the secrets and the repositories that each covers.
	Trust() *Trust
	Routes() mapping.Routes
	Scheme() mapping.LabelScheme
	Keys() mapping.Keys
	// FirstRun returns when a route began to run; zero while unknown.
	FirstRun(route string) time.Time
}

// Accounts has facts about GitHub's accounts.
type Accounts interface {
	// Authorship reports whether an account is the bridge's own.
	Authorship(login string) mapping.Authorship
	// Met reports each account in an event or a listing, by login and id (0: unknown).
	Met(ctx context.Context, login string, id int64)
	// OtherInstallation reports whether the owner is known to have another installation of the
	// app than id.
	OtherInstallation(owner string, id int64) bool
	// Released asks GitHub whether a person let an issue out of quarantine. The intake calls it
	// for listed issues without a link.
	Released(ctx context.Context, issue *mapping.Issue) (bool, error)
}

// Repositories has facts about repositories, and learns from events.
type Repositories interface {
	// Identify returns the present name of the repository of an event, by the event's name and id
	// (0: none). It returns "" where another repository has the name. On an error the delivery is
	// put off.
	Identify(ctx context.Context, repo string, id int64) (string, error)
	// NameOf returns the name under which the repository with an id was last met, or "".
	NameOf(id int64) string
	// Visible reports for each event whether anybody can read its repository. It returns whether
	// anybody is known to be able to, as an event that denies it may be old.
	Visible(ctx context.Context, repo string, public bool) (now bool)
	// Renamed reports that a repository has another name, and Writable that one is no longer
	// archived.
	Renamed(ctx context.Context, from, to string) error
	Writable(ctx context.Context, repo string)
}

// Monitor watches whether GitHub delivers.
type Monitor interface {
	// Delivered is called for each delivery that a secret verifies.
	Delivered()
}

// Options configure an Intake. All fields but Monitor, Guard and Timeout are required.
type Options struct {
	Decoder      Decoder
	Settings     Settings
	Accounts     Accounts
	Repositories Repositories
	Store        Store
	// EnterDelay is how long a new issue waits for its labels and its parent.
	EnterDelay time.Duration
	// Timeout bounds a delivery from its first byte to the answer; 0 means 9 s.
	Timeout time.Duration
	Monitor Monitor // nil: nobody watches
	Metrics *Metrics
	Logger  *slog.Logger
	// Guard handles panics; nil: panics are not recorded.
	Guard *guard.Guard
}

// Intake stores observations of issues. It serves only POST [Path].
type Intake struct {
	o               Options
	mux             *http.ServeMux
	unauthenticated unauthenticatedLogLimit
	public          sync.Map // repositories with a logged refusal
	rejected        *rejectedCache
	waiting         *quarantine
	deadline        sharedDeadline

	clients    clients
	unverified *budget
	pace       *rate.Limiter // for the rest of large bodies
}

// New returns an Intake.
func New(o Options) *Intake {
	if o.Timeout == 0 {
		o.Timeout = usualTimeout
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

// usualTimeout is a second less than the ten after which GitHub gives up.
const usualTimeout = 9 * time.Second

// Server returns the server of the public listener: [Server] with bounds on its connections and
// its log lines. The caller starts and stops it.
func (in *Intake) Server(addr string) *http.Server {
	srv := Server(addr, in)
	srv.ErrorLog = log.New(&httpErrors{in.o.Logger, &in.unauthenticated}, "", 0)
	in.clients.bind(srv)
	return srv
}

// Server returns a server for the public listener with bounds against slow or greedy clients. The
// caller starts and stops it.
func Server(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr: addr, Handler: handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       usualTimeout, // an Intake with the same timeout sets no other
		WriteTimeout:      20 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10, // GitHub's and a proxy's are some 2 KiB
	}
}
