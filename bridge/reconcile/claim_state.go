package reconcile

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// claimState is the state of one claim. The root link and all pairs below it share it.
type claimState struct {
	Process
	claim  *store.Claim
	inbox  inbox
	events []mapping.IssueEvent // nobody changes what they point to
	link   *mapping.Link        // the record
	served bool                 // the key's project is configured
	// yield hands a step to the runner of the work; nil: there is none.
	yield func(*Step) bool
	now   time.Time // as of the last answer
	ended bool      // the time of the claim is over
	err   error     // the error that ended the work
	seed  Seed
	draws int // by chance
	// epoch is the digest of the store's epoch, once that is known to be adopted.
	epoch     string
	history   []mapping.Entry
	onlyShows bool                 // writes only show planning's state
	braked    []string             // kinds of acts that the route's brakes put off, and reported
	kept      []string             // the conflicts whose texts this claim kept, by their ids in the ledger
	broken    *mapping.BrokenError // the invariant that the claim broke; nil: none
}

// Now is the time of the last answer.
func (t *claimState) Now() time.Time { return t.now }

// since is the time that has passed since at.
func (t *claimState) since(at time.Time) time.Duration { return t.now.Sub(at) }

// over reports whether the time of the claim has ended.
func (t *claimState) over() bool { return t.ended }

// newestDelivery is the webhook delivery that brought the newest snapshot of the issue.
func (t *claimState) newestDelivery(p *mapping.Pair) string {
	if i := seen[mapping.Issue](t, mapping.IssueRef(p.Issue.ID)); i != nil {
		return i.Delivery
	}
	return ""
}

// workOn returns the work on a pair, before any of its items is read.
func (t *claimState) workOn(p *mapping.Pair, set *Settings, looked bool) work {
	w := work{&state{
		claimState: t, set: set, pair: p, owner: p,
		itemViews:    itemViews{p: mapping.View{}, held: map[heldKey]heldValue{}, mustRead: looked},
		news:         news{delivery: t.newestDelivery(p)},
		planProgress: planProgress{resumed: p.Pace.Midway, steps: slices.Clone(p.Steps), begun: map[mapping.Side]bool{}, paced: map[mapping.Attribute]bool{}},
	}}
	w.log = w.logger()
	return w
}

// asker says on whose behalf the root link writes to GitHub. The rank separates a person's
// change from a mere projection of planning's state, and from the first writes of an import.
func (t *claimState) asker() store.Ask {
	l, rank := t.link, store.RankPeople
	entering := l.State == mapping.Entering || l.State == mapping.Creating
	switch {
	case l.Import != "" && (entering || t.onlyShows && (l.Shown == nil || len(l.Shown.Labels) == 0)):
		rank = store.RankImport
	case t.onlyShows:
		rank = store.RankShown
	}
	return store.Ask{Route: l.Route, Author: authorOf(&l.Pair), Rank: rank}
}

// showing marks the writes that follow as projections of planning's state, or as more than
// that, until the returned function is called.
func (t *claimState) showing(only bool) (over func()) {
	was := t.onlyShows
	t.onlyShows = only
	return func() { t.onlyShows = was }
}

// Seed is the randomness of one claim. The first part makes ids, the second one spreads waits.
type Seed struct {
	IDs    [16]byte
	Jitter uint64
}

// drawn returns the claim's next random number for a purpose. It depends on the seed and on
// how many numbers were drawn before.
func (t *claimState) drawn(purpose string) uint64 {
	t.draws++
	seed := t.seed.IDs[:]
	if purpose == "jitter" {
		seed = binary.BigEndian.AppendUint64(nil, t.seed.Jitter)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %x %d", purpose, seed, t.draws))
	return binary.BigEndian.Uint64(sum[:])
}

// draw returns a new id of 16 hexadecimal characters.
func (t *claimState) draw() string { return fmt.Sprintf("%016x", t.drawn("id")) }

// newNonce returns a new nonce for an item of a project.
func (t *claimState) newNonce(project mapping.ObjectID) string {
	return mapping.NonceIn(project, t.draw())
}
