package storetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"planbridge/mapping"
	"planbridge/store"
)

var traitTests = map[string]func(*fixture){
	"AreNoneAtFirst": func(f *fixture) { f.bearers([]mapping.Trait{"traitA"}) },
	"FollowALink":    testTraitsFollow,
	"AreBounded":     testTraitsBounded,
	"AreApart":       testTraitsApart,
	"AreNotSaved":    testTraitsRefused,
}

// bearers demands that these links, in this order, have one of some traits.
func (f *fixture) bearers(traits []mapping.Trait, want ...*mapping.Link) {
	f.Helper()
	got, err := f.FindByTraits(f.ctx, f.project, traits, 100)
	f.no("FindByTraits", err)
	var ids []mapping.LinkID
	for _, l := range want {
		ids = append(ids, l.ID)
	}
	if d := cmp.Diff(ids, got, cmpopts.EquateEmpty()); d != "" {
		f.Errorf("FindByTraits(%q) (-want +got):\n%s", traits, d)
	}
	if d := IndexDiff(f.ctx, f.Store, f.project); d != "" {
		f.Error(d)
	}
}

// written returns a link, not stored yet, of an issue that entered.
func (f *fixture) written(author, title string, born time.Time) *mapping.Link {
	l := f.newLink()
	l.State, l.Issue.Author, l.Issue.Born = mapping.Linked, author, born
	l.Base = map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: title}}
	return l
}

var birth = time.Unix(1_700_000_000, 0).UTC()

func testTraitsFollow(f *fixture) {
	old, now := mapping.IssueTraits("alice", "Old", birth), mapping.IssueTraits("alice", "New", birth)
	l := f.written("alice", "Old", birth)
	l.State = mapping.Entering
	f.observe(creating(l))
	f.bearers(old)
	c := f.claim(l)
	l.State = mapping.Creating
	f.no("Save", f.Save(f.ctx, c, l))
	f.bearers(old, l)
	l.State, l.Base = mapping.Linked, map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "New"}}
	f.no("Save", f.Save(f.ctx, c, l))
	f.bearers(old[1:])
	f.bearers(now, l)
	part := mapping.NewPart(mapping.GitHub, mapping.NewNonceIn(l.Project), birth)
	part.State, part.Issue.ID, part.Issue.Author, part.Issue.Born = mapping.Linked, 900_000, "bob", birth
	l.SubLinks = []*mapping.Pair{part}
	f.no("Finish", f.Finish(f.ctx, c, l, nil, store.Outcome{}))
	f.bearers(mapping.IssueTraits("bob", "", birth), l)
	f.bearers(now, l)

	c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
	f.no("ClaimKey", err)
	f.finish(c, store.Outcome{Kind: store.Remove})
	f.bearers(now)
	l.State = mapping.Linked
	f.observe(creating(l)) // as for a link that a marker names
	f.bearers(now, l)
}

func testTraitsBounded(f *fixture) {
	var all []*mapping.Link
	for n := range 5 {
		all = append(all, f.written("alice", "Weekly report", birth.AddDate(0, 0, n)))
	}
	for _, l := range slices.Backward(all) {
		f.observe(creating(l))
	}
	// The link that shares the time of creation goes first, and stands there once.
	traits := mapping.IssueTraits("alice", "Weekly report", birth.AddDate(0, 0, 2))
	f.bearers(traits, all[2], all[0], all[1], all[3], all[4])
	for limit := range 7 {
		got, err := f.FindByTraits(f.ctx, f.project, traits, limit)
		if err != nil || len(got) != min(limit, len(all)) || limit > 0 && got[0] != all[2].ID {
			f.Errorf("FindByTraits with limit %d = %v, %v", limit, got, err)
		}
	}
}

func testTraitsApart(f *fixture) {
	l := f.written("alice", "Old", birth)
	f.observe(creating(l))
	other := newFixture(f.T, f.Opened)
	traits := mapping.IssueTraits("alice", "Old", birth)
	other.bearers(traits)
	f.bearers(traits, l)
	f.bearers(nil)
}

func testTraitsRefused(f *fixture) {
	a, b := f.made(), f.made()
	c, err := f.ClaimKey(f.ctx, f.key(b), ttl)
	f.no("ClaimKey", err)
	thief := *b
	thief.Issue.ID, thief.State, thief.Issue.Author, thief.Issue.Born = a.Issue.ID, mapping.Linked, "mallory", birth
	f.wantErr("Save", f.Save(f.ctx, c, &thief), store.ErrConflict)
	f.wantErr("Finish", f.Finish(f.ctx, c, &thief, nil, store.Outcome{}), store.ErrConflict)
	f.Opened.Advance(2 * ttl)
	thief.Issue.ID = b.Issue.ID
	f.wantErr("late Save", f.Save(f.ctx, c, &thief), store.ErrLeaseLost)
	f.bearers(mapping.IssueTraits("mallory", "", birth))
}

// traitsDiff returns how the index of traits differs from a visit of all links. It queries the
// traits of links one by one, and at once those of Anybody's issues that no link has.
func traitsDiff(ctx context.Context, s store.Store, project mapping.ObjectID, links []*mapping.Link) string {
	const none = mapping.Trait("")
	want := map[mapping.Trait][]mapping.LinkID{none: nil}
	asked := map[mapping.Trait][]mapping.Trait{}
	for _, l := range links {
		for _, t := range l.Traits() {
			want[t], asked[t] = append(want[t], l.ID), []mapping.Trait{t}
		}
	}
	for _, t := range anyTraits() {
		if want[t] == nil {
			asked[none] = append(asked[none], t)
		}
	}
	got := map[mapping.Trait][]mapping.LinkID{}
	for t := range want {
		slices.Sort(want[t])
		ids, err := s.FindByTraits(ctx, project, asked[t], everything)
		if err != nil {
			return fmt.Sprintf("FindByTraits: %v", err)
		}
		got[t] = ids
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		return "the index of traits is not what visiting all links gives (-visited +told):\n" + d
	}
	return ""
}
