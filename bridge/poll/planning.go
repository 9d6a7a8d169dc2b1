package poll

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// Planning is what a Poller asks of its planning project.
type Planning interface {
	// BacklogNews visits the cards of every bucket as they are decoded, but for
	// those of which known says, from how they are spelt in their bucket's
	// listing, that they are known. A nil error means that all were shown to
	// one of the two. What they are given is only read while they run.
	BacklogNews(ctx context.Context, known func(bucket mapping.ObjectID, title string, text []byte) bool,
		visit func(bucket mapping.ObjectID, title string, card mapping.Card) error) error
	Sprints(ctx context.Context) ([]Sprint, error)
	// SprintItems returns a sprint's cards, with the tasks nested in them, and
	// the tasks that stand flat in its listing.
	SprintItems(ctx context.Context, sprint mapping.ObjectID) ([]mapping.Card, []mapping.Task, error)
	Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error)
}

// Sprint is what a Poller needs to know of a sprint.
type Sprint struct {
	ID                   mapping.ObjectID
	Title                string
	Summary              string    // Markdown
	Start, End           time.Time // in the project's time zone; zero where not set
	Future, Active, Past bool
}

// Options configure a Poller. All fields are required but Guard and the last three.
type Options struct {
	Project  mapping.ObjectID
	Name     string // the operator's name for the project
	Planning Planning
	Store    store.Store
	Routes   func() mapping.Routes
	Keys     func() mapping.Keys
	Owner    string // names this replica in leases
	// Now is the clock; nil: the runtime's.
	Now func() time.Time
	// Random draws what spreads the rounds, in [0, n); nil: the runtime's.
	Random   func(n int64) int64
	Interval time.Duration
	// TaskSweepInterval is how often the tasks of a linked card that no
	// polled sprint shows are read; 0: never. It applies to cards with a
	// tracking task and to those of routes on which tasks stand for something.
	TaskSweepInterval time.Duration
	Metrics           *Metrics
	Logger            *slog.Logger
	// Guard sets aside what the program panics on.
	Guard *guard.Guard
	// BucketIDs returns all the ids that a bucket has: two listings of a
	// project have been seen to disagree, and a route may name either. Nil:
	// only the one that the backlog shows.
	BucketIDs func(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
	// OnSprints is told that what milestones show of the sprints (see
	// store.DocSprints) changed, or may have while this process did not look.
	// It must not block. Nil: nobody is told.
	OnSprints func()
	// Settle is how long a create may still be under way.
	Settle time.Duration
	// Lost is when this process noticed that the store is not the one it was;
	// zero: never. What was sent before is looked for only when it must show.
	Lost func() time.Time
	// Burndown reads a sprint's chart; the poller fills in Sprint, Title, Active
	// and Read. Nil: charts are not read.
	Burndown func(ctx context.Context, sprint mapping.ObjectID) (mapping.Burndown, error)
	// OnSuccess is called when planning answered, to wake what waits for it.
	OnSuccess func(context.Context)
	// OnFailure is called with the error of a round that failed.
	OnFailure func(error)
}

// Poller polls one planning project. Its methods may be called concurrently;
// rounds run one after the other.
type Poller struct {
	o     Options
	lease lease
	shy   shy
	told  told
	// dropped are the items that are to be forgotten before the next round.
	dropped dropped

	atWork guard.Turn // had during a round; guards what follows, but for forgets
	epoch  string     // of the store that the memory belongs to
	// forgets counts how often the memory was given up, and loaded is that number when
	// all of it was last loaded; -1: a part of it.
	forgets atomic.Int64
	loaded  int64
	rounds  uint32
	whole   time.Time // when the last round that saw everything began
	cards   *memory
	tasks   *memory
	// buckets maps the ids of the backlog's listing to titles, for cards
	// that a sprint shows.
	buckets   map[mapping.ObjectID]string
	facts     []byte // what is stored of the sprints; nil: not known
	baseline  baseline
	sweep     sweep
	burndowns burndowns
	// looked says that everything was read since adoption began.
	looked bool
	// toldAll says that everything was told when no link of GitHub's markers was missing.
	toldAll bool
	// witness and left are of an adoption that is under way.
	witness witness
	left    left
}

// New returns a Poller; nothing runs until Run.
func New(o Options) *Poller {
	if o.OnSuccess == nil {
		o.OnSuccess = func(context.Context) {}
	}
	if o.OnFailure == nil {
		o.OnFailure = func(error) {}
	}
	o.Now, o.Random = orRuntime(o.Now, o.Random)
	if o.Lost == nil {
		o.Lost = func() time.Time { return time.Time{} }
	}
	o.Metrics.duration.WithLabelValues(o.Name) // begins at zero
	return &Poller{o: o, atWork: guard.NewTurn(), lease: lease{
		now: o.Now, store: o.Store, name: "poll:" + string(o.Project), owner: o.Owner, ttl: leaseTTL(o.Interval),
	}}
}

// Run polls until ctx ends, whenever this replica holds the project's lease.
func (p *Poller) Run(ctx context.Context) {
	defer p.lease.release(ctx)
	every(ctx, p.o.Guard, "round of the poll of "+p.o.Name, p.o.Interval, p.o.Random, p.turn)
}

func (p *Poller) turn(ctx context.Context) {
	if epoch, err := p.o.Store.Epoch(ctx); err == nil && p.shy.waits(p.o.Now(), epoch, p.lease.ttl) {
		return
	}
	held, kept, err := p.lease.acquire(ctx)
	if err == nil && held && p.shy.follows {
		// The lease may be free because it was lost with the store since that was looked at.
		if epoch, err := p.o.Store.Epoch(ctx); err != nil || p.shy.waits(p.o.Now(), epoch, p.lease.ttl) {
			p.lease.release(ctx)
			return
		}
	}
	if err == nil {
		p.shy.follows = !held
	}
	if !kept {
		p.forget() // another replica may have polled meanwhile
	}
	if err == nil && held {
		err = p.lease.hold(ctx, p.o.Guard, "poll", p.o.Name, p.Poll)
	}
	if err != nil && ctx.Err() == nil && !guard.Panicked(err) {
		p.o.Logger.Warn("poll", "err", err)
		p.o.OnFailure(err)
	}
}

// forget has the memory read from the store anew. It is kept until then: where
// the store lost it, this is all there is.
func (p *Poller) forget() {
	p.forgets.Add(1)
	p.dropped.take()
}

// Poll does one round, whoever holds the lease. A process that saw nothing before has
// nothing to compare the first one with: it does a second one at once. An error says what
// could not be read or stored; what could be is stored.
func (p *Poller) Poll(ctx context.Context) error {
	if err := p.atWork.Take(ctx); err != nil {
		return err
	}
	defer p.atWork.End()
	looks := p.witness.looks
	err := p.round(ctx)
	if err == nil && looks == 0 && p.witness.looks == 1 && !p.looked {
		err = p.round(ctx)
	}
	return err
}

func (p *Poller) round(ctx context.Context) error {
	began := p.o.Now()
	adopted, err := p.load(ctx)
	if err != nil {
		return fmt.Errorf("poll %s: %w", p.o.Name, err)
	}
	if err := p.forgetDropped(ctx); err != nil {
		return fmt.Errorf("poll %s: %w", p.o.Name, err)
	}
	p.rounds++
	r := &round{Poller: p, began: began, adopting: !adopted && !p.looked}
	if r.adopting {
		left, err := p.unlooked(ctx)
		if err != nil {
			return fmt.Errorf("poll %s: %w", p.o.Name, err)
		}
		r.telling = left == ""
	}
	if err := r.run(ctx); err != nil {
		return fmt.Errorf("poll %s: %w", p.o.Name, err)
	}
	if !r.complete {
		return nil
	}
	p.whole = began
	p.told.shown(p.cards)
	if r.adopting && began.Sub(p.o.Lost()) >= p.o.Settle && p.witness.believes(r) {
		p.looked, p.toldAll = true, r.telling
	}
	if adopted {
		p.witness, p.left = witness{}, left{}
	}
	if !adopted && p.looked {
		if err := p.adopt(ctx); err != nil {
			return fmt.Errorf("poll %s: %w", p.o.Name, err)
		}
	}
	now := p.o.Now()
	p.o.Metrics.duration.WithLabelValues(p.o.Name).Observe(now.Sub(began).Seconds())
	p.o.Metrics.success.WithLabelValues(p.o.Name).Set(float64(now.UnixMilli()) / 1000)
	return nil
}

// load makes the memory that of the store as it is now, and reports whether
// the store's epoch was adopted for the project.
func (p *Poller) load(ctx context.Context) (adopted bool, err error) {
	epoch, err := p.o.Store.Epoch(ctx)
	if err != nil {
		return false, fmt.Errorf("read the store's epoch: %w", err)
	}
	doc, err := p.doc(ctx, p.o.Project, store.DocAdopted)
	if err != nil {
		return false, err
	}
	if adopted = string(doc) == epoch; adopted {
		p.looked = false
	}
	forgets := p.forgets.Load()
	if p.cards != nil && p.epoch == epoch && p.loaded == forgets {
		return adopted, nil
	}
	p.loaded = -1
	if !adopted {
		if err := p.o.Store.Mend(ctx, p.o.Project); err != nil {
			return false, err
		}
	}
	cards, err := loadMemory(ctx, p.o.Store, p.o.Project, SetCards)
	if err != nil {
		return false, err
	}
	tasks, err := loadMemory(ctx, p.o.Store, p.o.Project, SetTasks)
	if err != nil {
		return false, err
	}
	known, err := p.loadBaseline(ctx)
	if err != nil {
		return false, err
	}
	if known == nil && p.baseline != nil {
		known = p.baseline
		cards.recall(p.cards)
		tasks.recall(p.tasks)
	}
	if p.cards != nil {
		p.witness.recall(p.cards, p.o.Now())
	}
	p.cards, p.tasks, p.baseline = cards, tasks, known
	p.epoch, p.looked, p.loaded = epoch, false, forgets
	p.whole, p.buckets, p.sweep, p.facts = time.Time{}, map[mapping.ObjectID]string{}, sweep{}, nil
	return adopted, nil
}

// doc reads a document; nil where there is none.
func (p *Poller) doc(ctx context.Context, space mapping.ObjectID, name string) ([]byte, error) {
	data, err := p.o.Store.Doc(ctx, space, name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read document %s: %w", name, err)
	}
	return data, nil
}
