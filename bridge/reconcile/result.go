package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// State is the input of the work on a claimed key.
type State struct {
	Claim    *store.Claim
	Settings *Settings
	Process
	Now    time.Time
	Served bool // the project of the key is configured
	Seed   Seed
}

// Work is the work on one claimed key. It serves one goroutine.
type Work struct{ w work }

// Begin begins the work on a claimed key.
func Begin(s State) *Work { return &Work{newWork(s)} }

// Steps are the effects that bring the key to rest, in order. Each must be answered in the
// body of the loop. They follow from the state and the answers alone.
func (k *Work) Steps() iter.Seq[*Step] { return stepwise(k.w.state, k.w.run) }

// Result finishes the claim, after any number of its steps. An error that ended the work from
// outside, such as a panic, is failed; nil: there was none. With over, the time of the claim has
// ended.
func (k *Work) Result(now time.Time, failed error, over bool) Result {
	if failed != nil {
		k.w.err = fmt.Errorf("reconcile %s: %w", where(k.w.owner), failed)
	}
	if over {
		CutOff(k.w.link, now.UTC())
	}
	return k.w.result(k.w.err, over)
}

// Result is the result with which the engine finishes a claim.
type Result struct {
	Link    *mapping.Link // nil: nothing of the link is stored
	History []mapping.Entry
	Rest    Rest
}

// CutOff records that a request for a link may take effect until now. Its process, or the time of
// its claim, ended.
func CutOff(link *mapping.Link, now time.Time) {
	for _, p := range link.All() {
		if p.Intent != nil && p.Intent.Sent {
			p.Intent.At = now
		}
	}
}

// About returns the log attributes of a claimed key, as keys and values in turn.
func About(claim *store.Claim) []any {
	p := &claim.Link.Pair
	var shown struct{ Delivery string }
	_ = json.Unmarshal(claim.Inbox[mapping.IssueRef(p.Issue.ID)].Data, &shown) //nolint:errcheck // whoever works it is told what is wrong
	return about(claim.Link, p, shown.Delivery)
}

// Refused says how a key comes to rest whose result the store refused; nothing of the link is
// stored then. It returns nil where the link was made smaller and may be stored. A record that
// stays too large breaks an invariant, which is returned, too.
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

// result is the end of the claim, given the error of its work. The link is not stored where
// another link has one of its items, where it broke an invariant, or where it is too large.
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

func newWork(s State) work {
	set, claim := *s.Settings, s.Claim
	set.Keys = set.Keys.In(claim.Link.Project)
	t := &claimState{Process: s.Process, claim: claim, link: claim.Link, served: s.Served, now: s.Now, seed: s.Seed}
	if t.inbox, t.events, t.err = decode(claim); t.err != nil {
		t.err = fmt.Errorf("reconcile %s: %w", where(&claim.Link.Pair), t.err)
	}
	w := t.workOn(&claim.Link.Pair, &set, claim.Link.Unfinished || claim.Link.Moving != nil || claim.Attempts+claim.Abandoned > 0 || asks(claim.Link))
	w.route, _ = set.Routes.Of(claim.Link)
	return w
}
