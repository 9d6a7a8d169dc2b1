package reconcile

import (
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// turn is one claim of a key, which the works on the root link and on all that hangs on it
// share.
type turn struct {
	*Process
	claim  *store.Claim
	link   *mapping.Link // the record
	served bool          // the key's project is configured
	// yield hands a step to whoever runs the work; nil: nobody does.
	yield func(*Step) bool
	now   time.Time // as of the last answer
	ended bool      // the time of the claim is over
	err   error     // how the work came to its end
	seed  Seed
	draws int // by chance
	// epoch is the digest of the store's epoch, once that is known to be adopted.
	epoch   string
	history []mapping.Entry
	shows   bool                 // what is written only shows planning's state
	braked  []string             // what the route's brakes put off, and told of
	kept    []string             // the conflicts whose texts this claim kept, by their ids in the ledger
	broken  *mapping.BrokenError // the invariant that the claim broke; nil: none
}

// Now is the time as of the last answer.
func (t *turn) Now() time.Time { return t.now }

// since is how long ago a time was.
func (t *turn) since(at time.Time) time.Duration { return t.now.Sub(at) }

// over reports whether the time of the claim is over.
func (t *turn) over() bool { return t.ended }

// sight is what is known of a pair's items now.
type sight struct {
	// nil means unchanged since the link's base. The views follow the writes that are made.
	issue *mapping.Issue
	card  *mapping.Card
	g, p  mapping.View
	// unmarked is the digest of the marked item's text where its marker is
	// missing; "" where it is there.
	unmarked string
	// fresh: issue was read under this claim and nothing was written since.
	fresh bool
	// rewound: GitHub's read is older than what was known, and believed all the same.
	rewound bool
	// looked: the items themselves were read, whatever was seen before.
	looked bool
	// held has the attributes that planning answered with another value, though with success.
	held map[heldKey]heldValue
	// extra are estimate labels that lost against another one.
	extra []string
	// hidden is why planning's side is not to be shown in the issue's repository: it is
	// public, or may be; nil: it may be shown.
	hidden *publicError
	// tasks are the card's as far as they were seen. unread: they could not be read though
	// they had to be.
	tasks  tasks
	unread bool
	// counters is the version of the card's counters up to which its tasks are
	// known. A card that is read later may show a higher one.
	counters int64
}

// news is what events told of a pair.
type news struct {
	// urgent: an event told that the items are to be read, or an operator answered.
	urgent bool
	edits  []mapping.Edit
	// moves are the transfers that events told of; opened says that one told
	// of the issue's opening.
	moves  []*mapping.Move
	opened bool
	// arrived are the issues that any of the family's have become.
	arrived []int64
	// delivery is the webhook delivery that led to this work, "" for none.
	delivery string
}

// tempo is how far a plan has come. resumed: an earlier claim began it. begun are the sides
// that this claim wrote to, and paced the attributes whose changes it took in.
type tempo struct {
	resumed bool
	steps   []mapping.Step // as the claim found them
	begun   map[mapping.Side]bool
	paced   map[mapping.Attribute]bool
}

// outcome is what the work on a pair leaves behind.
type outcome struct {
	// withheld is why anything was not shown in the issue's repository; nil: nothing was.
	withheld *publicError
	// again is when the key is looked at again although all is well; showAgain is that
	// for what of planning could not be shown.
	again, showAgain revisit
	// cleaned: nothing that the bridge made is left on the items of a pair that is taken
	// apart.
	cleaned bool
}

// work is one pair being worked: a root link, a sub-issue with its task, or a line of a
// checklist with its task.
type work struct {
	*turn
	set   *Settings
	pair  *mapping.Pair
	owner *mapping.Pair // the pair that has the issue: of a line the root, else the pair itself
	route *mapping.Route
	log   logger

	root  *work                   // of any other pair than the root: the work on that
	parts map[*mapping.Pair]*work // of a root: the works on its sub-issues

	sight
	news
	tempo
	checklist
	round round
	outcome
}

// workOn returns the work on a pair, of which nothing was looked at.
func (t *turn) workOn(p *mapping.Pair, set *Settings, looked bool) *work {
	w := &work{
		turn: t, set: set, pair: p, owner: p,
		sight: sight{p: mapping.View{}, held: map[heldKey]heldValue{}, looked: looked},
		news:  news{delivery: newestDelivery(t.claim, p)},
		tempo: tempo{resumed: p.Pace.Midway, steps: slices.Clone(p.Steps), begun: map[mapping.Side]bool{}, paced: map[mapping.Attribute]bool{}},
	}
	w.log = w.logger()
	return w
}

func newWork(s State) *work {
	set, claim := *s.Settings, s.Claim
	set.Keys = set.Keys.In(claim.Link.Project)
	t := &turn{Process: s.Process, claim: claim, link: claim.Link, served: s.Served, now: s.Now, seed: s.Seed}
	w := t.workOn(&claim.Link.Pair, &set, claim.Link.Unfinished || claim.Attempts+claim.Abandoned > 0 || asks(claim.Link))
	w.route, _ = set.Routes.Of(claim.Link)
	return w
}
