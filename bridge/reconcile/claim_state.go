package reconcile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
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

// Process answers from the memory of the program around the core. Its methods do no I/O.
type Process interface {
	// Authorship says whether a login is the bridge's own, now or formerly.
	Authorship(login string) mapping.Authorship
	// Stranger reports whether a login belongs to another account now than before.
	Stranger(login string) bool
	// SameRendering reports whether two Markdown texts mean the same.
	SameRendering(a, b string) bool
	// FirstRun is when a route began to run (see [mapping.FirstRuns]).
	FirstRun(route string) time.Time
	// Paused reports whether an operator paused a route.
	Paused(route string) bool
	// Down reports whether a service (see ServiceGitHub) is known to be away.
	Down(service string) bool
	// LeaseTTL is how long a claim is held.
	LeaseTTL() time.Duration
}

// authorOf is the owner of a share of the route's budget: the author of the pair's issue.
func authorOf(p *mapping.Pair) string {
	if by := p.Issue.Author; by != "" && p.Origin != mapping.Planning {
		return strings.ToLower(by)
	}
	return byPlanning
}

// byPlanning is the author of items that were made in planning.
const byPlanning = "planning"

// sinceFirstSeen is the time since the first sight of the claim's oldest change.
func (t *claimState) sinceFirstSeen() (d time.Duration, known bool) {
	var seen time.Time
	for _, s := range t.claim.Inbox {
		if seen.IsZero() || s.Seen.Before(seen) {
			seen = s.Seen
		}
	}
	if seen.IsZero() {
		return 0, false
	}
	return max(0, t.since(seen)), true
}

// inbox has the snapshots since the key's last claim: pointers to an issue, a card or a task.
// They are read-only.
type inbox map[mapping.Ref]any

// decode decodes a claim's snapshots and events.
func decode(claim *store.Claim) (in inbox, events []mapping.IssueEvent, err error) {
	in, events = inbox{}, make([]mapping.IssueEvent, len(claim.Events))
	for ref, s := range mapping.Sorted(claim.Inbox) {
		var v any
		switch ref.Kind() {
		case "issue":
			v = &mapping.Issue{}
		case "card":
			v = &mapping.Card{}
		case "task":
			v = &mapping.Task{}
		default:
			continue
		}
		if err := json.Unmarshal(s.Data, v); err != nil {
			return nil, nil, fmt.Errorf("stored snapshot of %s: %w", ref, err)
		}
		in[ref] = v
	}
	for i, data := range claim.Events {
		if err := json.Unmarshal(data, &events[i]); err != nil {
			return nil, nil, fmt.Errorf("stored event: %w", err)
		}
	}
	return in, events, nil
}

// seen returns a copy of an item's snapshot in the inbox; nil: there is none.
func seen[T any](t *claimState, ref mapping.Ref) *T {
	v, ok := t.inbox[ref].(*T)
	if !ok {
		return nil
	}
	snapshot := *v
	return &snapshot
}

// unambiguous is seen, but nil where the inbox met two different snapshots of one second.
func unambiguous[T any](t *claimState, ref mapping.Ref) *T {
	if t.claim.Inbox[ref].Ambiguous {
		return nil
	}
	return seen[T](t, ref)
}

// allSeen are the snapshots of one kind of item, in the order of their names.
func allSeen[T any](t *claimState) (all []T) {
	for ref := range mapping.Sorted(t.inbox) {
		if v := seen[T](t, ref); v != nil {
			all = append(all, *v)
		}
	}
	return all
}
