package poll

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/burndown"
	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/lease"
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

// The names of the sets of marks.
const (
	SetCards = store.MarksCards
	SetTasks = "tasks"
)
