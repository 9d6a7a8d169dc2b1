package reconcile

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// contested has the issue's repository in the routes of three projects.
func contested(s *Settings) {
	route := func(name string, project mapping.ObjectID) mapping.Route {
		return mapping.Route{Name: name, Project: project, Repositories: []string{"acme/web"}}
	}
	s.Routes = mapping.NewRoutes([]mapping.Route{route("web", "p"), route("first", "a"), route("last", "q")})
}

// rival is the link of another project that has the issue.
func rival(project mapping.ObjectID, change ...func(*mapping.Link)) *mapping.Link {
	l := &mapping.Link{ID: "other", Project: project, Pair: mapping.Pair{State: mapping.Linked, Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12}}}
	for _, f := range change {
		f(l)
	}
	return l
}

// announced has a link that is about to make the partner, and has not decided it.
func announced(l *mapping.Link) {
	l.State, l.Intent = mapping.Creating, &mapping.Intent{Side: mapping.Planning}
}

// waits says what is wrong where the key is not put off for that time.
func waits(d time.Duration) func(work) string {
	return func(w work) string {
		if put := (*requeueAfter)(nil); !errors.As(w.err, &put) || put.after != d {
			return fmt.Sprintf("it is put off by %v, want %v", w.err, d)
		}
		return ""
	}
}

// keeping is the rule of a function that returns an error, which is kept for the checks.
func keeping(f func(work) error) func(work) (verdict, error) {
	return func(w work) (verdict, error) {
		w.err = f(w)
		return pass, w.err
	}
}

// TestOneProjectMakesThePartner: of the links of two projects, at most one makes a partner of an issue.
func TestOneProjectMakesThePartner(t *testing.T) {
	rule := keeping(func(w work) error { return exclusivity(w).ensureExclusive() })
	mine := links(creating(false), func(l *mapping.Link) { l.Created = noon.Add(-8 * time.Second) })
	old := links(mine, func(l *mapping.Link) { l.Created = noon.Add(-time.Hour) })
	young := links(mine, func(l *mapping.Link) { l.Created = noon })
	joined := links(mine, func(l *mapping.Link) { l.Card.ID = "c" })
	task := links(mine, func(l *mapping.Link) { l.Kind = mapping.SubIssue })
	adopted := Adoption{Done: true, Epoch: "e"}
	// has: no link of project a has it, and q has one or none.
	has := func(l *mapping.Link) map[string]any {
		in := map[string]any{"ReadAdoption": adopted, "FindLink": turns{store.ErrNotFound, store.Key{Project: "q", Link: "other"}}, "Observe": observed}
		if l == nil {
			in["FindLink"] = store.ErrNotFound
		} else {
			in["ReadLink"] = l
		}
		return in
	}
	first := func(l *mapping.Link) map[string]any {
		return with(has(l), map[string]any{"FindLink": turns{store.Key{Project: "a", Link: "other"}, store.ErrNotFound}})
	}
	looks := []string{"ReadAdoption", "ReadAdoption", "Save", "FindLink", "FindLink"}
	reads := append(append([]string{}, looks...), "ReadLink")
	hands := append(append([]string{}, reads...), "Observe to q: 1")
	decided := is("no other project can make one any more", func(w work) bool { return w.pair.Intent != nil && w.pair.Intent.ExclusiveFor == 7 })
	undecided := is("it is not decided", func(w work) bool { return w.pair.Intent != nil && w.pair.Intent.ExclusiveFor == 0 })
	part := func(change ...func(*mapping.Pair)) *mapping.Link {
		p := &mapping.Pair{Kind: mapping.SubIssue, State: mapping.Creating, Issue: mapping.IssueID{ID: 7}, Intent: &mapping.Intent{}}
		for _, f := range change {
			f(p)
		}
		return rival("q", func(l *mapping.Link) { l.Issue.ID, l.SubLinks = 1, []*mapping.Pair{p} })
	}
	const wait, gone = "project q may have taken it", "does not enter"
	checkRule(t, rule, []ruleCase{
		{name: "no other project has a route of its repository", link: mine, known: unchanged(), check: undecided},
		{name: "it was decided before", link: links(mine, func(l *mapping.Link) { l.Intent.ExclusiveFor = 7 }), set: contested, known: unchanged(), check: decided},
		{
			name: "it was decided before the issue was transferred", link: links(mine, func(l *mapping.Link) { l.Intent.ExclusiveFor = 6 }), set: contested,
			known: unchanged(), answers: has(nil), asked: looks, check: decided,
		},
		{
			name: "another project was not seen as a whole", link: mine, set: contested, known: unchanged(),
			answers: map[string]any{"ReadAdoption": Adoption{}}, asked: looks[:1], err: "nothing is created before all marked items of project a",
			check: all(undecided, is("it waits for the project, with a part by chance", func(w work) bool {
				put := (*requeueAfter)(nil)
				return errors.As(w.err, &put) && put.turn && put.after >= adoptionWait && put.after < 2*adoptionWait
			})),
		},
		{name: "the store does not say whether it was", link: mine, set: contested, known: unchanged(), answers: map[string]any{"ReadAdoption": errAway}, asked: looks[:1], err: "read adoption"},
		{name: "the lease is lost", link: mine, set: contested, known: unchanged(), answers: with(has(nil), map[string]any{"Save": store.ErrLeaseLost}), asked: looks[:3], err: "lease", check: undecided},
		{name: "no other link has it", link: mine, set: contested, known: unchanged(), answers: has(nil), asked: looks, check: decided},
		{
			name: "the store does not say who has it", link: mine, set: contested, known: unchanged(), answers: with(has(nil), map[string]any{"FindLink": errAway}),
			asked: looks[:4], err: "find issue:7 in project a", check: undecided,
		},
		{
			name: "the other link was just removed", link: mine, set: contested, known: unchanged(), answers: with(has(rival("q")), map[string]any{"ReadLink": store.ErrNotFound}),
			asked: reads, check: decided,
		},
		{
			name: "the other link cannot be read", link: mine, set: contested, known: unchanged(), answers: with(has(rival("q")), map[string]any{"ReadLink": errAway}),
			asked: reads, err: "read link", check: undecided,
		},
		{
			name: "the other link has its partner: it gets what is known, and this one goes", link: mine, set: contested, known: unchanged(), answers: has(rival("q")),
			asked: hands, counts: []string{"3 project"}, err: gone, check: all(undecided, tells()),
		},
		{
			name: "the link of the first project has its partner", link: mine, set: contested, known: unchanged(), answers: first(rival("a")),
			asked: []string{"ReadAdoption", "ReadAdoption", "Save", "FindLink", "ReadLink", "Observe to a: 1"}, err: gone, check: undecided,
		},
		{
			name: "it has, and the issue is not known: it is read first", link: mine, set: contested, answers: with(has(rival("q")), map[string]any{"ReadIssue": issueOf()}),
			asked: append(append([]string{}, reads...), "ReadIssue", "Observe to q: 1"), err: gone,
		},
		{
			name: "it has, and the issue cannot be read", link: mine, set: contested, answers: with(has(rival("q")), map[string]any{"ReadIssue": errAway}),
			asked: append(append([]string{}, reads...), "ReadIssue"), err: "unavailable",
		},
		{
			name: "it has, and the store does not take what is known", link: mine, set: contested, known: unchanged(), answers: with(has(rival("q")), map[string]any{"Observe": errAway}),
			asked: hands, counts: []string{}, err: "hand over to issue:7",
		},
		{
			name: "it has, and events told of the issue", link: mine, set: contested, known: knows(unchanged(), events(mapping.IssueEvent{Look: "x"})), answers: has(rival("q")),
			asked: append(append([]string{}, reads...), "Observe to q: 2"), err: gone,
		},
		{
			name: "this one is a sub-issue, which becomes no task", link: task, set: contested, known: knows(unchanged(), events(mapping.IssueEvent{Look: "x"})), answers: has(rival("q")),
			asked: hands, err: gone, check: tells("sub-issue"),
		},
		{name: "the other link hands the issue over", link: mine, set: contested, known: unchanged(), answers: has(rival("q", func(l *mapping.Link) { l.Moving = &mapping.Moving{Link: "next"} })), asked: reads, check: decided},
		{name: "the other link is about to enter, and the issue was read", link: mine, set: contested, known: unchanged(), answers: has(rival("q", entering)), asked: reads, check: decided},
		{
			name: "the other link is about to enter, and the issue was not read: it decides where it goes now", link: mine, set: contested, known: seenOnly(), answers: has(rival("q", entering)),
			asked: reads, err: "project q is about to take it, too",
			check: all(isState(mapping.Entering, ""), waits(0), is("it begins anew", func(w work) bool { return w.pair.Intent == nil && w.pair.Unfinished })),
		},
		{name: "the other link is announced as well", link: mine, set: contested, known: unchanged(), answers: has(rival("q", announced)), asked: reads, err: wait, check: all(undecided, waits(time.Second))},
		{name: "it is, and this one is new", link: young, set: contested, known: unchanged(), answers: has(rival("q", announced)), asked: reads, err: wait, check: waits(competitorWait)},
		{name: "it is for long", link: old, set: contested, known: unchanged(), answers: has(rival("q", announced)), asked: reads, err: wait, check: waits(competitorMost)},
		{
			name: "it is, and the issue was not read", link: mine, set: contested, known: seenOnly(), answers: has(rival("q", announced)), asked: reads, err: "is about to take it, too",
		},
		{
			name: "the other link has decided, and sent nothing yet", link: mine, set: contested, known: unchanged(),
			answers: has(rival("q", announced, func(l *mapping.Link) { l.Intent.ExclusiveFor = 7 })), asked: hands, err: gone,
		},
		{
			name: "the other link had decided for another issue", link: mine, set: contested, known: unchanged(),
			answers: has(rival("q", announced, func(l *mapping.Link) { l.Intent.ExclusiveFor = 6 })), asked: reads, err: wait,
		},
		{
			name: "the other link's request may have been sent", link: mine, set: contested, known: unchanged(),
			answers: has(rival("q", announced, func(l *mapping.Link) { l.Intent.Sent = true })), asked: hands, err: gone,
		},
		{
			name: "the other link says not what it makes", link: mine, set: contested, known: unchanged(),
			answers: has(rival("q", func(l *mapping.Link) { l.State = mapping.Creating })), asked: hands, err: gone,
		},
		{
			name: "the other link's issue was transferred and became this one", link: mine, set: contested, known: unchanged(),
			answers: has(rival("q", entering, func(l *mapping.Link) { l.Issue.ID = 8 })), asked: hands, err: gone,
		},
		{name: "the other link was joined by people, and this one was not", link: mine, set: contested, known: unchanged(), answers: has(rival("q", announced, func(l *mapping.Link) { l.Card.ID = "c9" })), asked: hands, err: gone},
		{name: "both were joined, and this project comes first", link: joined, set: contested, known: seenOnly(), answers: has(rival("q", announced, func(l *mapping.Link) { l.Card.ID = "c9" })), asked: reads, err: wait},
		{
			name: "both were joined, and the other project comes first", link: joined, set: contested, known: unchanged(), answers: first(rival("a", announced, func(l *mapping.Link) { l.Card.ID = "c9" })),
			asked: []string{"ReadAdoption", "ReadAdoption", "Save", "FindLink", "ReadLink", "Observe to a: 1"}, err: gone,
		},
		{name: "this one was joined, and the other one was not", link: joined, set: contested, known: unchanged(), answers: first(rival("a", announced)), asked: []string{"ReadAdoption", "ReadAdoption", "Save", "FindLink", "ReadLink"}, err: "project a may have taken it"},
		{name: "it is a sub-issue of the other link, with a task", link: mine, set: contested, known: unchanged(), answers: has(part(func(p *mapping.Pair) { p.State = mapping.Linked })), asked: hands, err: gone},
		{name: "it is a sub-issue of the other link, and is to get a task", link: mine, set: contested, known: unchanged(), answers: has(part()), asked: hands, err: gone},
		{name: "it is to get a task in both projects, and this one comes first", link: task, set: contested, known: unchanged(), answers: has(part()), asked: reads, err: wait},
	})
}

// TestIssueOfAnotherProject: an issue that a link of another project has does not enter here.
func TestIssueOfAnotherProject(t *testing.T) {
	rule := func(w work) (verdict, error) { return endIf(exclusivity(w).isTaken(mapping.IssueRef(7))) }
	none := map[string]any{"FindLink": store.ErrNotFound}
	by := func(l *mapping.Link) map[string]any {
		return map[string]any{"FindLink": turns{store.ErrNotFound, store.Key{Project: "q", Link: "other"}}, "ReadLink": l}
	}
	asked := []string{"FindLink", "FindLink", "ReadLink"}
	checkRule(t, rule, []ruleCase{
		{name: "no other project has a route of its repository"},
		{name: "no other link has it", set: contested, answers: none, asked: asked[:2]},
		{name: "another link has it", set: contested, answers: by(rival("q")), asked: asked, want: end},
		{name: "another link is about to take it", set: contested, answers: by(rival("q", announced)), asked: asked, want: end},
		{name: "another link is about to enter", set: contested, answers: by(rival("q", entering)), asked: asked},
		{name: "another link hands it over", set: contested, answers: by(rival("q", func(l *mapping.Link) { l.Moving = &mapping.Moving{Link: "next"} })), asked: asked},
		{name: "the other link was just removed", set: contested, answers: with(by(nil), map[string]any{"ReadLink": store.ErrNotFound}), asked: asked},
		{name: "the store does not say", set: contested, answers: map[string]any{"FindLink": errAway}, asked: asked[:1], err: "find issue:7"},
		{name: "the other link cannot be read", set: contested, answers: with(by(nil), map[string]any{"ReadLink": errAway}), asked: asked, err: "read link"},
	})
}

// TestItemFoundByItsMarker: an item with the link's marker may be another link's by now.
func TestItemFoundByItsMarker(t *testing.T) {
	rule := func(w work) (verdict, error) {
		free, err := exclusivity(w).isFree(mapping.CardRef("c9"))
		w.err = err
		return endIf(free, err)
	}
	held := func(l *mapping.Link) map[string]any {
		return map[string]any{"FindLink": store.Key{Project: "p", Link: "other"}, "ReadLink": l}
	}
	born := func(ago time.Duration) func(*mapping.Link) {
		return func(l *mapping.Link) { l.Created = noon.Add(-ago) }
	}
	asked := []string{"FindLink", "ReadLink"}
	between := "card:c9 is between two links"
	checkRule(t, rule, []ruleCase{
		{name: "no link has it", answers: map[string]any{"FindLink": store.ErrNotFound}, asked: asked[:1], want: end, check: tells()},
		{name: "this link has it, whose record is at hand", answers: map[string]any{"FindLink": store.Key{Project: "p", Link: "l"}}, asked: asked[:1], want: end, check: tells()},
		{name: "another link has it", answers: held(rival("p")), asked: asked, check: tells("left")},
		{name: "another link was just removed", answers: with(held(nil), map[string]any{"ReadLink": store.ErrNotFound}), asked: asked, err: between, check: all(tells(), waits(lookupGap))},
		{name: "another link is about to enter, and may give it back", answers: held(rival("p", entering, born(parentFor-1))), asked: asked, err: between, check: tells()},
		{name: "another link has waited for long to enter", answers: held(rival("p", entering, born(parentFor))), asked: asked, check: tells("left")},
		{name: "another link with a partner is new", answers: held(rival("p", born(0))), asked: asked, check: tells("left")},
		{name: "the store does not say", answers: map[string]any{"FindLink": errAway}, asked: asked[:1], err: "find card:c9"},
		{name: "the other link cannot be read", answers: with(held(nil), map[string]any{"ReadLink": errAway}), asked: asked, err: "read link", check: tells()},
	})
}
