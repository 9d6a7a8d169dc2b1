package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// State is what the work on a claimed key begins with.
type State struct {
	Claim    *store.Claim
	Settings *Settings
	Process
	Now    time.Time
	Served bool // the project of the key is configured
	Seed   Seed
}

// Process is what the program that the core runs in knows without asking anybody. Its methods
// do no I/O.
type Process interface {
	// Authorship tells whether a login is the bridge's own, now or formerly.
	Authorship(login string) mapping.Authorship
	// Stranger reports whether another account has a login now than the one that it stood for.
	Stranger(login string) bool
	// SameRendering reports whether two Markdown texts mean the same.
	SameRendering(a, b string) bool
	// FirstRun tells when a route began to run (see [mapping.Entrance]).
	FirstRun(route string) time.Time
	// Paused reports whether an operator paused a route.
	Paused(route string) bool
	// Down reports whether a service (see ServiceGitHub) is known to be away.
	Down(service string) bool
	// LeaseTTL is how long a claim is held.
	LeaseTTL() time.Duration
}

// Work is the work on one claimed key. It serves one goroutine.
type Work struct{ w work }

// Begin begins the work on a claimed key.
func Begin(s State) *Work { return &Work{newWork(s)} }

// Steps are the effects that bring the key to its end, in order. Each has to be answered in
// the body of the loop. What they are follows from the state and the answers alone.
func (k *Work) Steps() iter.Seq[*Step] { return stepwise(k.w.state, k.w.run) }

// Result is what the claim is finished with after its steps, however many were done. failed
// is an error that ended the work from outside, such as a panic; nil: none did. over: the
// time of the claim has ended.
func (k *Work) Result(now time.Time, failed error, over bool) Result {
	if failed != nil {
		k.w.err = fmt.Errorf("reconcile %s: %w", where(k.w.owner), failed)
	}
	if over {
		CutOff(k.w.link, now.UTC())
	}
	return k.w.result(k.w.err, over)
}

// Result is what the engine finishes a claim with.
type Result struct {
	Link    *mapping.Link // nil: nothing of the link is stored
	History []mapping.Entry
	Rest    Rest
}

// CutOff notes that what was sent for a link may take effect until now: the process that
// sent it ended, or the time of the claim did.
func CutOff(link *mapping.Link, now time.Time) {
	for _, p := range link.All() {
		if p.Intent != nil && p.Intent.Sent {
			p.Intent.At = now
		}
	}
}

// About are the attributes, keys and values in turn, of what is logged about a claimed key.
func About(claim *store.Claim) []any {
	p := &claim.Link.Pair
	var shown struct{ Delivery string }
	_ = json.Unmarshal(claim.Inbox[mapping.IssueRef(p.Issue.ID)].Data, &shown) //nolint:errcheck // whoever works it is told what is wrong
	return about(claim.Link, p, shown.Delivery)
}

// Refused says how a key comes to rest whose result the store did not take; then nothing
// of the link is stored. nil: the link is smaller now and may be stored. A record that is
// too large for good is a broken invariant, which is returned, too.
func Refused(s State, link *mapping.Link, err error) (*Rest, *mapping.BrokenError) {
	if isTooLarge(err) {
		if dropVerified(link) {
			return nil, nil
		}
		w := newWork(s)
		err = fmt.Errorf("reconcile %s: %w", where(&link.Pair), saver(w).tooLarge(link, err))
		rest := restOf(err, situation{project: link.Project, down: s.Down})
		return &rest, w.broken
	}
	rest := restOf(err, situation{project: link.Project, down: s.Down})
	return &rest, nil
}

// result is how the claim ends, given the error of its work. Where the link took in
// what another one has, broke an invariant, or is too large, it is not stored.
func (w work) result(err error, over bool) Result {
	unmade := len(w.link.Refs()) == 1 && (w.pair.Intent == nil || !w.pair.Intent.Sent)
	res := Result{w.link, w.history, restOf(err, situation{w.link.Project, over, unmade, w.Down})}
	if res.Rest.Kind == RestAgreed {
		res.Rest.After, res.Rest.Why = w.again.after, w.again.why
	}
	switch {
	case errors.Is(err, store.ErrConflict):
		res.Link, res.History = nil, nil
	case errors.As(err, new(*mapping.BrokenError)), isTooLarge(err):
		res.Link = nil
	}
	return res
}

// where names a pair for people: the issue where there is one, else the card.
func where(p *mapping.Pair) string {
	if p.Issue.Number != 0 {
		return issueName(p.Issue.Repo, p.Issue.Number)
	}
	return strings.Replace(string(p.Partner()), ":", " ", 1)
}
