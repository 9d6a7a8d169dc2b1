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
// over the rounds. It visits recently touched cards more often, between the rounds (see visits.go).
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
	"sync/atomic"
	"time"

	"planbridge/bridge/burndown"
	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/lease"
	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
)

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

// backlog is the last reading of the backlog that was handled as a whole. While the service's
// answer has its tag, all its cards are unchanged.
type backlog struct {
	tag     string // "": the backlog is read whole
	read    time.Time
	reading uint32 // counts the readings; each card has the number of its reading
	roles   map[seen.Bucket]bucketRole
	// merged has the quick hashes of the backlog's cards as sprints showed them.
	merged map[mapping.ObjectID]uint64
}

// bucketRole says what a route does with new cards of a bucket.
type bucketRole struct {
	route  *mapping.Route // makes issues of new cards; nil: none does
	enters bool           // the cards that it had when the route began are recorded
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
