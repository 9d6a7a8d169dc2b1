package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// TestMovesThatEventsTold: an event tells of a transfer, and GitHub's current answer counts.
func TestMovesThatEventsTold(t *testing.T) {
	rule := does(mover.takeMoves)
	next := issueOf(inRepo("acme/web", 30), func(i *mapping.Issue) { i.ID = 8 })
	last := issueOf(inRepo("acme/web", 40), func(i *mapping.Issue) { i.ID = 9 })
	told := func(moves ...*mapping.Move) func(work) { return func(w work) { w.moves = moves } }
	move := told(mapping.NewMove(7, &next))
	far := next
	far.Repo, far.Number = "acme/secret", 3
	put := []string{"ReadIssue", "ReadPrivate", "Save"}
	private := map[string]any{"ReadPrivate": true}
	reads := func(answers ...any) map[string]any { return map[string]any{"ReadIssue": turns(answers)} }
	followed := all(atPlace("acme/web", 30, 8), tells("moved"))
	stays := all(atPlace("acme/web", 12, 7), tells())
	checkRule(t, rule, []ruleCase{
		{name: "none", check: stays},
		{name: "to where it is", known: move, answers: with(reads(next), private), asked: put, err: "its issue is now acme/web#30", check: followed},
		{name: "of another issue", known: told(mapping.NewMove(6, &next)), check: stays},
		{name: "to itself", known: told(mapping.NewMove(7, new(issueOf()))), check: stays},
		{name: "to an issue without an id", known: told(&mapping.Move{From: 7}), check: stays},
		{name: "it has moved on from there", known: move, answers: with(reads(&mapping.MovedError{Issue: &last}), private), asked: put, err: "its issue is now acme/web#40", check: atPlace("acme/web", 40, 9)},
		{name: "it has moved on, and not to a known place, and it is not at its old one", known: move, answers: reads(&mapping.MovedError{Location: "x"}, mapping.ErrGone), asked: []string{"ReadIssue", "ReadIssue", "Save"}, check: isAwayIn("acme/web", "which the bridge cannot read")},
		{
			name: "to where the token does not reach", known: told(mapping.NewMove(7, &far)), answers: reads(mapping.ErrNotFound, mapping.ErrMoved), asked: []string{"ReadIssue", "ReadIssue", "Save"},
			check: all(isAwayIn("acme/secret", "which the bridge cannot read"), atPlace("acme/secret", 3, 8), is("who opened it is known still", func(w work) bool { return w.pair.Issue.Author == "ann" && w.pair.Issue.Born.Equal(noon) })),
			link:  func(l *mapping.Link) { l.Issue.Author, l.Issue.Born = "ann", noon },
		},
		{name: "to where the token does not reach, and the store does not take it", known: told(mapping.NewMove(7, &far)), answers: with(reads(mapping.ErrForbidden, mapping.ErrGone), map[string]any{"Save": errAway}), asked: []string{"ReadIssue", "ReadIssue", "Save"}, err: "save link"},
		{name: "it cannot be read there, and is where it was", known: move, answers: reads(mapping.ErrNotFound, issueOf()), asked: []string{"ReadIssue", "ReadIssue"}, check: stays},
		{name: "it cannot be read there, nor where it was", known: move, answers: reads(mapping.ErrNotFound, errAway), asked: []string{"ReadIssue", "ReadIssue"}, check: stays},
		{name: "another issue is there, and it is where it was", known: move, answers: reads(last, issueOf()), asked: []string{"ReadIssue", "ReadIssue"}, check: stays},
		{name: "GitHub is away", known: move, answers: reads(errAway), asked: put[:1], err: "unavailable", check: stays},
		{
			name: "two transfers, of which the first one is out of date", known: told(mapping.NewMove(7, &next), mapping.NewMove(7, &last)), answers: with(reads(mapping.ErrGone, issueOf(), last), private),
			asked: []string{"ReadIssue", "ReadIssue", "ReadIssue", "ReadPrivate", "Save"}, err: "its issue is now acme/web#40", check: atPlace("acme/web", 40, 9),
		},
		{
			name: "before it entered", link: func(l *mapping.Link) { l.State = mapping.Entering }, known: told(mapping.NewMove(7, &far)), answers: reads(mapping.ErrNotFound, mapping.ErrGone),
			asked: []string{"ReadIssue", "ReadIssue"}, err: errRemove.Error(), check: stays,
		},
	})
}

// TestAwayIssue: a link whose issue is where no route is goes on once there is one.
func TestAwayIssue(t *testing.T) {
	rule := func(w work) (verdict, error) {
		away, err := mover(w).isAway()
		if away {
			return end, err
		}
		return pass, err
	}
	const rested = "it was transferred to acme/other, for which there is no route"
	away := func(l *mapping.Link) {
		l.State, l.Away, l.Issue.Repo, l.Why = mapping.Left, "acme/other", "acme/other", rested
		l.Issue.Author, l.Issue.Born, l.Origin = "bridge", noon, mapping.Planning
	}
	marked := testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: "n", Partner: "c"})
	cameBack := issueOf(inRepo("acme/web", 30), func(i *mapping.Issue) { i.ID, i.Author, i.CreatedAt, i.Body = 8, "bridge", noon, marked })
	back := func(author string, born time.Time) func(work) {
		i := cameBack
		i.Author, i.CreatedAt = author, born
		return toldOf(mapping.IssueRef(i.ID), &i, store.Snapshot{})
	}
	private := map[string]any{"ReadPrivate": true}
	covers := func(s *Settings) {
		s.Routes = mapping.NewRoutes([]mapping.Route{{Name: "other", Project: "p", Repositories: []string{"acme/other"}, Direction: mapping.Both}})
	}
	goesOn := all(is("it goes by the route of that place, and is looked at as a whole", func(w work) bool { return w.pair.Away == "" && w.link.Route == "other" && w.pair.Unfinished }), tells())
	rests := all(isState(mapping.Left, "it was transferred to acme/other, for which there is no route"), tells())
	seen := issueTold(issueOf(inRepo("acme/other", 12)))
	checkRule(t, rule, []ruleCase{
		{name: "it is not away"},
		{name: "no route has that place", link: away, want: end, check: rests},
		{name: "no route has the place that an event shows", link: away, known: seen, want: end, check: rests},
		{name: "it came back, as its old place tells", link: away, known: back("bridge", noon), answers: with(private, map[string]any{"ReadIssue": &mapping.MovedError{Issue: &cameBack}}), asked: []string{"ReadIssue", "ReadPrivate", "Save"}, want: end, err: "its issue is now acme/web#30", check: all(atPlace("acme/web", 30, 8), isState(mapping.Left, rested), tells("moved"), is("it is away no more", func(w work) bool { return w.pair.Away == "" }))},
		{name: "it came back from where the token does not reach", link: away, known: back("bridge", noon), answers: with(private, map[string]any{"ReadIssue": mapping.ErrNotFound}), asked: []string{"ReadIssue", "ReadPrivate", "Save"}, want: end, err: "its issue is now acme/web#30", check: atPlace("acme/web", 30, 8)},
		{name: "an issue with its marker is younger", link: away, known: back("bridge", noon.Add(time.Second)), answers: map[string]any{"ReadIssue": mapping.ErrNotFound}, asked: []string{"ReadIssue"}, want: end, check: rests},
		{name: "an issue with its marker is a person's", link: away, known: back("ann", noon), want: end, check: rests},
		{name: "an issue with its marker is a copy, as its own one is where it was", link: away, known: back("bridge", noon), answers: map[string]any{"ReadIssue": issueOf(inRepo("acme/other", 12))}, asked: []string{"ReadIssue"}, want: end, check: rests},
		{name: "an issue has its marker, and GitHub is away", link: away, known: back("bridge", noon), answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, want: end, err: "unavailable", check: rests},
		{name: "a route has it now", link: away, set: covers, answers: map[string]any{"ReadPrivate": true}, asked: []string{"ReadPrivate"}, want: end, err: "acme/other has a route again", check: goesOn},
		{name: "a route has it now, and it is public", link: away, set: covers, answers: map[string]any{"ReadPrivate": false}, asked: []string{"ReadPrivate"}, want: end, check: isAwayIn("acme/other", "which is public, and its route does not allow that")},
		{name: "a route has it now, and GitHub is away", link: away, set: covers, answers: map[string]any{"ReadPrivate": errAway}, asked: []string{"ReadPrivate"}, want: end, err: "unavailable", check: rests},
		{
			name: "a route has it now, and a write was being made when it went", link: links(away, func(l *mapping.Link) { l.Intent = &mapping.Intent{Side: mapping.Planning}; l.Card.ID = "" }), set: covers,
			answers: map[string]any{"ReadPrivate": true}, asked: []string{"ReadPrivate"}, want: end, err: "has a route again", check: isState(mapping.Creating, ""),
		},
	})
}

// TestPlaceInASnapshot: a snapshot may name another repository than the record.
func TestPlaceInASnapshot(t *testing.T) {
	shows := issueOf()
	rule := func(w work) (verdict, error) {
		return endIf(reader(w).namesPlace(w.issue), nil)
	}
	from := func(repo string) func(work) {
		return func(w work) { i := shows; i.Repo = repo; w.issue = &i }
	}
	both := func(r *mapping.Route) { r.Repositories = []string{"acme/web", "acme/new"} }
	at := func(repo string) func(work) string { return atPlace(repo, 12, 7) }
	checkRule(t, rule, []ruleCase{
		{name: "the same one", known: from("acme/web"), want: end, check: at("acme/web")},
		{name: "the same one with other capitals", known: from("Acme/Web"), want: end, check: at("acme/web")},
		{name: "one that its route has: it was renamed", route: both, known: from("acme/new"), want: end, check: at("acme/new")},
		{name: "one that its route does not have: a read decides", known: from("acme/new"), check: at("acme/web")},
	})
}

// TestMovedTasks: a sub-issue whose task moved is worked.
func TestMovedTasks(t *testing.T) {
	rule := func(w work) (verdict, error) {
		return endIf(partWorker(partWorker(w).part(w.link.SubLinks[0])).taskMoved(), nil)
	}
	task := func(change ...func(*mapping.Task)) func(work) {
		return func(w work) {
			t := mapping.Task{ID: "t9", Version: 1, Title: versioned("", 1), Summary: versioned("", 1), Estimate: versioned("", 1), State: versioned("", 1)}
			for _, f := range change {
				f(&t)
			}
			w.tasks.keepNewest(t)
		}
	}
	part := subIssue(func(p *mapping.Pair) { p.Card.Version = 1 })
	orphan := subIssue(func(p *mapping.Pair) { p.Card.Version, p.State = 1, mapping.Orphaned })
	titled := func(value string, version int64) func(*mapping.Task) {
		return func(t *mapping.Task) { t.Title = versioned(value, version) }
	}
	checkRule(t, rule, []ruleCase{
		{name: "its task was not seen", link: part},
		{name: "all tasks were read, and its own is not among them", link: part, known: allListed, want: end},
		{name: "it is not among them, and that is known", link: orphan, known: allListed},
		{name: "its task is as it was", link: part, known: task()},
		{name: "its task is as it was, as all were read", link: part, known: knows(task(), allListed)},
		{name: "its task is there again", link: orphan, known: task(), want: end},
		{name: "its task has a newer version", link: part, known: task(func(t *mapping.Task) { t.Version = 2 }), want: end},
		{name: "a value has a newer version", link: part, known: task(titled("b", 2)), want: end},
		{name: "a value differs without a newer version, as a poll may show", link: part, known: task(titled("b", 1))},
		{name: "a value differs without a newer version, as all were read", link: part, known: knows(task(titled("b", 1)), allListed), want: end},
		{name: "a value was never agreed on", link: links(part, func(l *mapping.Link) { delete(l.SubLinks[0].Base, mapping.Title) }), known: task(titled("b", 2))},
		{name: "its state moved", link: part, known: task(func(t *mapping.Task) { t.State = versioned(mapping.StateDone, 2) }), want: end},
	})
}

// TestAbsorb: the root's record takes over what the work on a sub-issue ended with.
func TestAbsorb(t *testing.T) {
	part := func(w work) work { return partWorker(w).part(w.link.SubLinks[0]) }
	rule := func(w work) (verdict, error) { return pass, partWorker(w).absorb(part(w), w.err) }
	knowsPart := func(know func(work)) func(work) { return func(w work) { know(part(w)) } }
	public, other := &publicError{repo: "acme/web"}, &publicError{"acme/web", true}
	orphan := func(p *mapping.Pair) { p.State = mapping.Orphaned }
	due := func(after, shown time.Duration) func(work) string {
		return is("the key is due in time", func(w work) bool { return w.again.after == after && w.showAgain.after == shown })
	}
	soon, late := revisit{time.Second, "soon"}, revisit{time.Minute, "late"}
	checkRule(t, rule, []ruleCase{
		{name: "it agrees", link: subIssue(), check: all(hasParts(1), due(0, 0))},
		{name: "it failed", link: subIssue(), known: fails(errAway), err: "unavailable", check: hasParts(1)},
		{name: "it does not enter", link: subIssue(), known: fails(errRemove), check: hasParts(0)},
		{name: "its item is gone", link: subIssue(), known: fails(errGone), check: hasParts(1)},
		{name: "its item is gone before it had both", link: subIssue(orphan, func(p *mapping.Pair) { p.Card.ID = "" }), known: fails(errGone), check: hasParts(0)},
		{name: "its task is gone before it had an issue", link: subIssue(orphan, func(p *mapping.Pair) { p.Issue.ID = 0 }), known: fails(errGone), check: hasParts(0)},
		{name: "it has one item, and waits for the other one", link: subIssue(func(p *mapping.Pair) { p.State, p.Card.ID = mapping.Creating, "" }), check: hasParts(1)},
		{name: "another sub-issue stays", link: links(subIssue(), subIssue()), known: fails(errRemove), check: hasParts(1)},
		{name: "something of it is withheld", link: subIssue(), known: knowsPart(func(w work) { w.withheld = public }), check: is("that of the root is", func(w work) bool { return w.withheld == public })},
		{name: "something of the root is withheld already", link: subIssue(), known: knows(knowsPart(func(w work) { w.withheld = public }), func(w work) { w.withheld = other }), check: is("that counts", func(w work) bool { return w.withheld == other })},
		{name: "it is due later than the root", link: subIssue(), known: knows(knowsPart(func(w work) { w.again, w.showAgain = late, late }), func(w work) { w.again, w.showAgain = soon, soon }), check: due(time.Minute, time.Second)},
		{name: "it is due sooner than the root", link: subIssue(), known: knows(knowsPart(func(w work) { w.again, w.showAgain = soon, soon }), func(w work) { w.again, w.showAgain = late, late }), check: due(time.Minute, time.Second)},
		{
			name: "its absence is to be confirmed", link: subIssue(orphan, func(p *mapping.Pair) { p.Unconfirmed, p.GoneSince = true, noon }), known: fails(errGone),
			check: all(hasParts(1), is("a later look confirms it", func(w work) bool { return w.again.after == confirmDefault })),
		},
		{name: "the link's key", link: subIssue(), known: fails(store.ErrLeaseLost), err: "lease", check: hasParts(1)},
	})
}
