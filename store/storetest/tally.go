package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
	"planbridge/store"
)

var tallyTests = map[string]func(*fixture){
	"CountsNothingAtFirst":      func(f *fixture) { f.tally(store.Tally{}) },
	"FollowsALink":              testTallyFollows,
	"CountsNoRefusal":           testTallyRefused,
	"CountsFailuresByRoute":     testTallyFailures,
	"CountsWhatIsQueued":        testTallyQueued,
	"CountsEachProjectByItself": testTallyApart,
	"HoldsInACrowd":             testTallyCrowd,
}

// states are the links of one route by state.
type states = map[mapping.LinkState]int

// tally demands a tally, without Queued and Oldest, and demands that a visit of all links gives the
// same.
func (f *fixture) tally(want store.Tally) {
	f.Helper()
	got, err := f.Tally(f.ctx, f.project)
	f.no("Tally", err)
	if want.Links == nil {
		want.Links = map[string]states{}
	}
	if want.Failures == nil {
		want.Failures = map[string]int{}
	}
	if d := cmp.Diff(want.Links, got.Links) + cmp.Diff(want.Failures, got.Failures); d != "" {
		f.Errorf("Tally (-want +got):\n%s", d)
	}
	if d := IndexDiff(f.ctx, f.Store, f.project); d != "" {
		f.Error(d)
	}
}

// everything is more than any test has.
const everything = 1 << 20

// IndexDiff returns how a project's tally, and the index of its links' traits, differ from a visit
// of all links.
func IndexDiff(ctx context.Context, s store.Store, project mapping.ObjectID) string {
	links, _, err := s.List(ctx, project, "", everything)
	if err != nil {
		return fmt.Sprintf("List: %v", err)
	}
	return tallyDiff(ctx, s, project, links) + traitsDiff(ctx, s, project, links)
}

func tallyDiff(ctx context.Context, s store.Store, project mapping.ObjectID, links []*mapping.Link) string {
	got, err := s.Tally(ctx, project)
	if err != nil {
		return fmt.Sprintf("Tally: %v", err)
	}
	failures, err := s.Failures(ctx, project, everything)
	if err != nil {
		return fmt.Sprintf("Failures: %v", err)
	}
	depth, err := s.Depth(ctx, project)
	if err != nil {
		return fmt.Sprintf("Depth: %v", err)
	}
	want := store.Tally{Queued: depth.Live + depth.Bulk, Links: map[string]states{}, Failures: map[string]int{}}
	for _, n := range depth.Waiting {
		want.Queued += n
	}
	for _, l := range links {
		if want.Links[l.Route] == nil {
			want.Links[l.Route] = states{}
		}
		want.Links[l.Route][l.State]++
	}
	for _, f := range failures {
		want.Failures[f.Route]++
	}
	if got.Oldest.Sub(depth.Oldest).Abs() < time.Second {
		want.Oldest = got.Oldest // a key may have become due between the two
	}
	if d := cmp.Diff(want, got); d != "" {
		return "Tally is not what a count gives (-counted +told):\n" + d
	}
	return ""
}

func testTallyFollows(f *fixture) {
	l := f.newLink()
	f.observe(creating(l))
	f.tally(store.Tally{Links: map[string]states{"web": {mapping.Entering: 1}}})
	f.observe(showing(l, 1, "a"))
	c := f.claim(l)
	for _, state := range mapping.LinkStates {
		l.State = state
		f.no("Save", f.Save(f.ctx, c, l))
		f.no("Save", f.Save(f.ctx, c, l))
		f.tally(store.Tally{Links: map[string]states{"web": {state: 1}}})
	}
	l.Route, l.State = "a route: with/all \u00e4 sorts", mapping.Linked
	l.Card.ID = "tallied" + mapping.ObjectID(l.ID)
	f.no("Finish", f.Finish(f.ctx, c, l, nil, store.Outcome{}))
	f.no("the same Finish", f.Finish(f.ctx, c, l, nil, store.Outcome{}))
	f.tally(store.Tally{Links: map[string]states{l.Route: {mapping.Linked: 1}}})

	c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
	f.no("ClaimKey", err)
	f.finish(c, store.Outcome{Kind: store.Remove})
	f.tally(store.Tally{})
	f.observe(creating(l))
	f.tally(store.Tally{Links: map[string]states{l.Route: {mapping.Linked: 1}}})
}

func testTallyRefused(f *fixture) {
	a, b := f.made(), f.made()
	want := store.Tally{Links: map[string]states{"web": {mapping.Entering: 2}}}
	c, err := f.ClaimKey(f.ctx, f.key(b), ttl)
	f.no("ClaimKey", err)
	thief := *b
	thief.Issue.ID, thief.State = a.Issue.ID, mapping.Linked
	f.wantErr("Save", f.Save(f.ctx, c, &thief), store.ErrConflict)
	f.wantErr("Finish", f.Finish(f.ctx, c, &thief, nil, store.Outcome{Kind: store.Park}), store.ErrConflict)
	f.tally(want)

	f.Opened.Advance(2 * ttl)
	late := *b
	late.State = mapping.Linked
	f.wantErr("late Save", f.Save(f.ctx, c, &late), store.ErrLeaseLost)
	f.wantErr("late Finish", f.Finish(f.ctx, c, &late, nil, store.Outcome{Kind: store.Park}), store.ErrLeaseLost)
	f.tally(want)

	again := *a
	again.State = mapping.Linked
	if seen := f.observe(creating(&again)); seen[0].Created {
		f.Error("a link was made anew")
	}
	f.tally(want)
}

func testTallyFailures(f *fixture) {
	a, b := f.newLink(), f.newLink()
	f.observe(creating(a))
	park := store.Outcome{Kind: store.Park, Reason: "r"}
	f.finish(f.claim(a), park)
	f.observe(creating(b))
	c := f.claim(b)
	b.Route = "api"
	f.no("Finish", f.Finish(f.ctx, c, b, nil, store.Outcome{Kind: store.Hold, Reason: "h"}))
	want := store.Tally{
		Links:    map[string]states{"web": {mapping.Entering: 1}, "api": {mapping.Entering: 1}},
		Failures: map[string]int{"web": 1, "api": 1},
	}
	f.tally(want)
	f.observe(showing(b, 1, "a")) // a change does not take up a held key
	f.tally(want)

	f.observe(showing(a, 1, "a"))
	want.Failures = map[string]int{"api": 1}
	f.tally(want)
	f.finish(f.claim(a), park)
	f.no("Enqueue", f.Enqueue(f.ctx, f.key(b), 0, false))
	want.Failures = map[string]int{"web": 1}
	f.tally(want)
	c, err := f.ClaimKey(f.ctx, f.key(a), ttl)
	f.no("ClaimKey", err)
	want.Failures = nil
	f.tally(want)
	f.finish(c, store.Outcome{Kind: store.Remove})
	want.Links = map[string]states{"api": {mapping.Entering: 1}}
	f.tally(want)
}

func testTallyQueued(f *fixture) {
	idle, live, bulk, waits := f.made(), f.newLink(), f.newLink(), f.newLink()
	f.observe(creating(waits))
	f.finish(f.claim(waits), store.Outcome{Kind: store.Wait, Service: "github"})
	if got, err := f.Tally(f.ctx, f.project); err != nil || got.Queued != 1 || !got.Oldest.IsZero() {
		f.Errorf("Tally = %+v, %v, want one that waits", got, err)
	}
	f.observe(store.Observation{Create: bulk, Bulk: true})
	f.Opened.Advance(time.Minute)
	f.observe(creating(live))
	depth := f.depth()
	got, err := f.Tally(f.ctx, f.project)
	if err != nil || got.Queued != 3 || !got.Oldest.Equal(depth.Oldest) || got.Oldest.IsZero() {
		f.Errorf("Tally = %+v, %v, want 3 keys, the oldest of %v", got, err, depth.Oldest)
	}
	if got.Links["web"][mapping.Entering] != 4 {
		f.Errorf("Tally = %+v, want %s among the links", got, idle.ID)
	}
}

func testTallyApart(f *fixture) {
	f.made()
	other := newFixture(f.T, f.Opened)
	other.tally(store.Tally{})
	f.tally(store.Tally{Links: map[string]states{"web": {mapping.Entering: 1}}})
}
