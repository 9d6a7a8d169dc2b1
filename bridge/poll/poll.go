// Package poll polls the planning service, which has no events.
//
// The entry point is [Poller], one for each planning project. A Poller only observes: it
// stores what it saw (store.Observe), and the reconcile decides about links. It works under a
// named lease, so that one replica polls at a time. It does not matter which one.
//
// A round reads the sprints, the items of those that may still change, and the backlog, card
// by card as it streams in. An unchanged card costs a map look-up and a hash, and nothing in
// the store. Changed cards are observed in batches, and only then marked as seen. So a crash
// repeats an observation and never loses one.
//
// # What enters
//
// A card enters when it is first seen in a bucket of a route that makes issues, wherever it was
// before. It may have been made there, moved there later, or seen in a sprint first (a sprint's
// listing may lack the bucket). A card that has been in one of the route's buckets never enters
// again. The first complete round that knows a route, or a bucket of it, only records the cards
// that are there. The document "baseline" has the buckets of each route as of the last complete
// round. A route that was removed and put back begins anew.
//
// # Tasks
//
// A task comes from a sprint's listing, flat or nested in its card, or from the sweep. It is
// reported to the link that has it. A task without a link is reported to the link of its card,
// where the route synchronises tasks. The sweep visits every such card that no sprint shows, spread
// over the rounds. It visits recently touched cards more often, between the rounds (see recent.go).
// A round without changes costs two calls and one for each sprint that is read. Tasks that were
// seen before the end of the first complete round are old, and are reported only to a link that has
// them.
//
// # What is missing
//
// An empty or halved listing orphans nothing. Missing cards are only made due, a few per round
// and once each, and none when more than half is missing. The reconcile reads the item itself.
//
// # Adoption
//
// A new store (or one that was lost) knows no link, while the items on both sides still have
// their markers. Until every one of them has been seen again, nothing may be created. For
// GitHub's side, package catchup writes the document that [store.DocRepositoryAdopted] names
// for each repository. For planning's side, the Poller reads everything, old sprints included,
// until a reading shows every card that was seen before it. A process that saw nothing before reads
// twice. It then waits for the documents of the repositories that its project's exact routes name
// (no issue is made by a glob). With both, it writes [store.DocAdopted].
//
// Where only the store's servers restarted, the store has the observations of its marks. A mark is
// written after its observation, and a server loses its last writes. A card that equals its mark is
// then not observed again.
package poll

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/burndown"
	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/lease"
	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
	"planbridge/store"
)

// Planning is the used part of the planning project.
type Planning interface {
	// BacklogNews visits the cards of every bucket as they are decoded. It skips a card where known
	// returns true for its id and its text in its bucket's listing. A nil error means that one of
	// the two functions got every card. Or the backlog is unchanged since the answer with the tag
	// since. The tag is that of this answer; "": it has none. The functions must not keep their
	// arguments.
	BacklogNews(ctx context.Context, since string, known func(bucket mapping.ObjectID, title string, id, text []byte) bool,
		visit func(bucket mapping.ObjectID, title string, card mapping.Card) error) (tag string, unchanged bool, err error)
	Sprints(ctx context.Context) ([]Sprint, error)
	// SprintItems returns a sprint's cards, with the tasks nested in them, and the tasks that its
	// listing has outside cards.
	SprintItems(ctx context.Context, sprint mapping.ObjectID) ([]mapping.Card, []mapping.Task, error)
	Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error)
}

// Sprint is a sprint as a Poller sees it.
type Sprint struct {
	ID                   mapping.ObjectID
	Title                string
	Summary              string    // Markdown
	Start, End           time.Time // in the project's time zone; zero where not set
	Future, Active, Past bool
}

// Settings are the settings that a reload may change.
type Settings interface {
	Routes() mapping.Routes
	Keys() mapping.Keys
}

// Buckets returns all ids of a bucket. Two listings of a project may disagree, and a route may
// name either id.
type Buckets interface {
	BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
}

// Host is the program around a Poller. Its methods must not block.
type Host interface {
	// LostAt is when this process noticed that the store is another one; zero: never. A request
	// from before that time is searched for only once it must be visible.
	LostAt() time.Time
	// IsSameStore reports whether two epochs belong to one store whose servers restarted.
	IsSameStore(was, is string) bool
	// SprintsChanged is called when the projected part of the sprints (see store.DocSprints)
	// changed, or may have changed unnoticed.
	SprintsChanged()
	// Answered is called when planning answered, to wake the keys that wait for it.
	Answered(context.Context)
	// Failed is called with the error of a round that failed.
	Failed(error)
}

// Options configure a Poller. All fields are required, except those that give nil or zero a
// meaning.
type Options struct {
	Project  mapping.ObjectID
	Name     string // the operator's name for the project
	Planning Planning
	News     Planning        // where rounds that do not adopt look for changes; nil: Planning
	Buckets  Buckets         // nil: a bucket has the one id that the backlog shows
	Charts   burndown.Charts // nil: charts are not read
	Store    store.Store
	Settings Settings
	Host     Host
	Owner    string        // names this replica in leases
	Session  lease.Session // that leases end with; nil: with none
	Clock    clock.Source  // nil: the runtime's
	Interval time.Duration // between two rounds, at most
	// MinInterval is the shortest pause while somebody works in the project. Zero, or more
	// than Interval: the pause is always Interval.
	MinInterval time.Duration
	// TaskSweepInterval is the time of as many reads of tasks as there are linked cards that no
	// polled sprint shows; 0: no reads. Recently touched cards get more of the reads. It applies to
	// cards with a tracking task and to those of routes that synchronise tasks.
	TaskSweepInterval time.Duration
	// Settle is how long a create may still be under way.
	Settle  time.Duration
	Metrics *Metrics
	Logger  *slog.Logger
	Guard   *guard.Guard // sets items aside on which the program panics; nil: it records none
}

// Poller polls one planning project. Its methods may be called concurrently;
// rounds run one after the other.
type Poller struct {
	o     Options
	clock clock.Source
	lease lease.Lease
	grace takeoverGrace
	pace  *pace
	// confirmed are cards that exist and that no listing has shown yet.
	confirmed confirmedCards
	// dropped are the items whose cache entries go before the next round.
	dropped dropped

	atWork guard.Turn // held during a round; guards the fields below, except forgets
	// forgets counts how often the caches were dropped. loaded is that number as of the last
	// complete load; -1: the load was not completed.
	forgets      atomic.Int64
	loaded       int64
	rounds       uint32
	roundDue     time.Time                 // when the next round is
	sprintTasked map[mapping.ObjectID]bool // cards whose tasks the last full round saw in sprints
	burndowns    *burndown.Recorder        // nil: charts are not read
	memory
	adoption
}

// memory is a Poller's knowledge of one epoch of the store. It begins anew with each load of the
// caches.
type memory struct {
	epoch string // of the store that the caches belong to
	cards *seen.Cache
	tasks *seen.Cache
	// unsure are the marks since the epoch was last read. Where servers restart between an
	// observation and its mark, they may have lost the observation.
	unsure []seen.Unsure
	// buckets maps the ids of the backlog's listing to titles, for cards
	// that a sprint shows.
	buckets       map[mapping.ObjectID]string
	backlog       backlog
	storedSprints []byte // the stored sprints; nil: not known
	baseline      seen.Baseline
	sweep         sweep
	// lastComplete is when the last complete round began.
	lastComplete time.Time
	// settled says that a full round saw everything since the project was adopted and the
	// caches were loaded. Light rounds, and visits between rounds, come only after it.
	settled bool
}

// adoption is the progress of the project's adoption.
type adoption struct {
	// restarted says that the store's servers restarted since the project was adopted.
	restarted bool
	// readAll says that everything was read since the adoption began.
	readAll bool
	// observedAll says that everything was observed after all links of GitHub's markers had
	// been restored.
	observedAll bool
	listing     listingGuard
	report      adoptionReport
}

// New returns a Poller; nothing runs until Run.
func New(o Options) *Poller {
	if o.Clock == nil {
		o.Clock = clock.Runtime{}
	}
	p := &Poller{o: o, clock: o.Clock, pace: newPace(o.MinInterval, o.Interval), atWork: guard.NewTurn(), lease: lease.Lease{
		Clock: o.Clock, Store: o.Store, Session: o.Session, Name: "poll:" + string(o.Project), Owner: o.Owner, TTL: lease.TTL(o.Interval),
	}}
	if o.Charts != nil {
		p.burndowns = burndown.NewRecorder(burndown.Options{Project: o.Project, Charts: o.Charts, Store: o.Store, Clock: o.Clock, Logger: o.Logger})
	}
	return p
}

// Metrics are the metrics of all Pollers of a process.
type Metrics struct {
	duration *prometheus.HistogramVec
	success  *prometheus.GaugeVec
}

// NewMetrics registers the metrics with reg.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "planbridge_poll_duration_seconds",
			Help:    "How long a poll of a planning project took.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
		}, []string{"project"}),
		success: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "planbridge_poll_last_success_timestamp_seconds",
			Help: "When a planning project was last polled completely; 0 while this process has not.",
		}, []string{"project"}),
	}
	reg.MustRegister(m.duration, m.success)
	return m
}

// Expect lets the series of a project begin at zero.
func (m *Metrics) Expect(project string) {
	m.duration.WithLabelValues(project)
	m.success.WithLabelValues(project)
}

// Drop removes the series of a project that is no longer polled.
func (m *Metrics) Drop(project string) {
	m.duration.DeleteLabelValues(project)
	m.success.DeleteLabelValues(project)
}
