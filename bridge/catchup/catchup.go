// Package catchup finds changes on GitHub whose deliveries did not come.
//
// A [CatchUp] lists, per repository, the issues that were updated since a watermark. It asks
// for failed deliveries again, and finds the marked issues of a store that is new or was lost.
// It only observes: the intake stores the listings, and the reconcile decides. It works under
// a named lease, so that one replica lists at a time.
//
// A new store (or one that was lost) knows no link, while the items on both sides still have
// their markers. For GitHub's side, the CatchUp lists the issues that the bridge's own account
// made in a repository, and then writes the document that [store.DocRepositoryAdopted] names.
// A repository that cannot be read at all (renamed, mistyped, no access) does not hold up the
// others. No issue can be made there either. It is tried again in each round.
package catchup

import (
	"context"
	"log/slog"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/lease"
	"planbridge/mapping"
	"planbridge/store"
)

// GitHub is the used part of the GitHub client.
type GitHub interface {
	// ListIssues passes the issues of a repository, open or closed, to page, the least recently
	// updated first. The argument date is the time of the page's answer by GitHub's clock. An error
	// of page ends the walk. The result notModified says that the same query would again return the
	// result of an earlier complete walk. It did not call page then.
	ListIssues(ctx context.Context, repo string, q Query, page func(issues []mapping.Issue, date time.Time) error) (notModified bool, err error)
	// Repositories returns those that a glob such as acme/* can mean.
	Repositories(ctx context.Context, glob string) ([]string, error)
	// Locate returns the current name of the repository that a name stands for, as GitHub
	// reported it at asOf or later. A [mapping.StrangerError] says that another repository has
	// the name.
	Locate(ctx context.Context, repo string, asOf time.Time) (string, error)
	// Private reports whether only members can read the repository.
	Private(ctx context.Context, repo string) (bool, error)
	// RateScarce reports whether so many of the hour's requests are spent that less urgent
	// ones should wait.
	RateScarce() bool
	// Accounts returns the logins that the bridge has or had; none where its current one is
	// not known.
	Accounts() []string
}

// Query says which issues to list.
type Query struct {
	Since   time.Time // updated at or after; zero: all
	Creator string    // login; "": anybody's
	Afresh  bool      // pass all on, also where nothing changed; without Since, by creation
}

// Hooks reads GitHub's own deliveries. An owner is a repository ("acme/web"), an organisation
// ("acme"), or the App itself ("").
type Hooks interface {
	ListHooks(ctx context.Context, owner string) ([]Hook, error)
	// Deliveries lists a hook's deliveries at and after a time, newest first.
	Deliveries(ctx context.Context, owner string, hook int64, since time.Time) ([]Delivery, error)
	// Redeliver asks GitHub to repeat a delivery.
	Redeliver(ctx context.Context, owner string, hook, delivery int64) error
	// Down reports whether GitHub is known to be away.
	Down() bool
}

// Hook is a webhook on GitHub.
type Hook struct {
	ID     int64
	URL    string
	Active bool
}

// Delivery is one attempt to deliver an event.
type Delivery struct {
	ID         int64
	GUID       string // of the event: a redelivery keeps it
	Event      string
	At         time.Time
	Redelivery bool
	OK         bool // it was answered with 2xx
}

// Intake stores issues of a listing. A repeated call does no harm. Everything is durable when
// it returns nil.
type Intake interface {
	Listed(ctx context.Context, issues []mapping.Issue, private func() (bool, error)) error
	// Marked reports whether an issue has a marker of ours. Adopt stores all such issues where
	// the bridge's account is not known.
	Marked(issue *mapping.Issue) bool
	Adopt(ctx context.Context, issues []mapping.Issue) error
}

// Settings are the settings that a reload may change.
type Settings interface {
	Routes() mapping.Routes
	// FirstRun is when a route began to run; zero while that is not known.
	FirstRun(route string) time.Time
}

// Host is the program around a CatchUp.
type Host interface {
	// LostAt is when this process noticed that the store is another one; zero: never. A request
	// from before that time is searched for only once it must be visible.
	LostAt() time.Time
	// Answered is called when GitHub answered, to wake the keys that wait for it.
	Answered(context.Context)
	// Failed is called with the error of a round that failed.
	Failed(error)
}

// Options configure a CatchUp. All fields are required, except those that give nil or zero a
// meaning.
type Options struct {
	GitHub   GitHub
	Intake   Intake
	Store    store.Store
	Settings Settings
	Host     Host
	Owner    string        // names this replica in leases
	Session  lease.Session // that leases end with; nil: with none
	Clock    clock.Source  // nil: the runtime's
	Interval time.Duration
	// Settle is how long GitHub's lists may lag.
	Settle time.Duration
	Logger *slog.Logger
	Guard  *guard.Guard // sets items aside on which the program panics; nil: it records none
	// Hooks shows GitHub's own deliveries; nil: failed ones are not searched for. App says that the
	// App's own hook is one of them.
	Hooks Hooks
	App   bool
	// RedeliverInterval is the least time between two reads of one hook; 0: the interval, or five
	// minutes where that is less.
	RedeliverInterval time.Duration
}

// CatchUp lists, per repository, the issues that were updated since a watermark. Its methods
// may be called concurrently; rounds run one after the other.
type CatchUp struct {
	o     Options
	clock clock.Source
	lease lease.Lease
	soon  chan<- struct{} // begins a round early

	round guard.Turn // held during a round; guards the fields below
	epoch string     // of the store that has the seen issues
	// seen holds, per repository, the issues at and after its watermark, so that the overlap of two
	// listings makes nothing due. After its loss some links are worked once more.
	seen map[string]map[int64]lastSeen
	told map[string]bool // repositories whose whole listing this store got
	// refused are the repositories and globs whose refused listing was logged.
	refused map[string]bool

	putOff      string    // the repository that the next round begins with; "": any
	redelivered time.Time // when all hooks were last read
	// hookAccessDenied holds the owners that do not show their hooks, and until when
	// they are not asked again.
	hookAccessDenied map[string]time.Time
}

// lastSeen is an issue as the last listing showed it.
type lastSeen struct {
	at     time.Time
	digest string
}

// minRedeliverInterval is the least time between two reads of a hook.
const minRedeliverInterval = 5 * time.Minute

// New returns a CatchUp; nothing runs until Run.
func New(o Options) *CatchUp {
	if o.Clock == nil {
		o.Clock = clock.Runtime{}
	}
	if o.RedeliverInterval == 0 {
		o.RedeliverInterval = max(o.Interval, minRedeliverInterval)
	}
	soon := make(chan struct{}, 1)
	return &CatchUp{
		soon: soon, o: o, clock: o.Clock, round: guard.NewTurn(), hookAccessDenied: map[string]time.Time{}, refused: map[string]bool{},
		lease: lease.Lease{Clock: o.Clock, Store: o.Store, Session: o.Session, Name: "catchup", Owner: o.Owner, TTL: lease.TTL(o.Interval), Early: soon},
	}
}

// unsettled is how long issues from before the loss of the store may still be missing from
// listings.
func (c *CatchUp) unsettled() time.Duration { return c.o.Settle - c.clock.Now().Sub(c.o.Host.LostAt()) }

// firstRun is when the first of the routes began to run; zero while that is
// not known.
func (c *CatchUp) firstRun(routes []*mapping.Route) (first time.Time) {
	for _, r := range routes {
		if at := c.o.Settings.FirstRun(r.Name); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}
