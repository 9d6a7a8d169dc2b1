package reconcile

import (
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// events has a claim bring events.
func events(es ...mapping.IssueEvent) func(work) {
	return func(w work) {
		w.events = es
		for _, e := range es {
			w.claim.Events = append(w.claim.Events, store.Encode(e))
		}
	}
}

func TestEvents(t *testing.T) {
	a := "a"
	edit := mapping.IssueEvent{TitleFrom: &a, Title: "b", Sender: "ann", Delivery: "hook:1"}
	other := edit
	other.Delivery, other.Title = "hook:2", "c"
	again := edit
	again.Delivery = "other:1"
	body := mapping.IssueEvent{BodyFrom: &a, Title: "b", Sender: "ann", Delivery: "hook:1"}
	took := func(edits int, read bool) func(work) string {
		return is("edits are kept, and what asks for a read", func(w work) bool { return len(w.edits) == edits && w.mustRead == read && w.urgent == read })
	}
	mark := func(who string) mapping.Issue {
		return issueOf(func(i *mapping.Issue) {
			i.ID, i.Author, i.Body = 9, who, testKeys.AppendComment("", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: "n", Partner: "c"})
		})
	}
	copied := func(i mapping.Issue) func(work) { return toldOf(mapping.IssueRef(9), &i, store.Snapshot{}) }
	part := func(l *mapping.Link) {
		l.SubLinks = []*mapping.Pair{{Kind: mapping.SubIssue, Issue: mapping.IssueID{ID: 9}}}
	}
	step := func(change ...func(*mapping.Issue)) mapping.IssueEvent {
		return mapping.IssueEvent{Step: &mapping.OwnEvent{Issue: issueOf(append(change, by("bridge"))...), Came: noon, Label: "plan:Done", On: true}}
	}
	inbox := func(n int) func(work) string {
		return is("what shows no write of ours is a snapshot", func(w work) bool { return len(w.inbox) == n && len(w.claim.Inbox) == n })
	}
	checkRule(t, takeInEvents, []ruleCase{
		{name: "none", check: took(0, false)},
		{name: "two edits", known: events(edit, other), check: took(2, false)},
		{name: "one edit, told by two hooks", known: events(edit, again), check: took(1, false)},
		{name: "one delivery with a title and a body", known: events(edit, body), check: took(2, false)},
		{name: "two edits without the ids of deliveries", known: events(mapping.IssueEvent{TitleFrom: &a, Title: "b"}, mapping.IssueEvent{TitleFrom: &a, Title: "b"}), check: took(2, false)},
		{name: "an edit of a sub-issue", link: part, known: events(mapping.IssueEvent{Item: mapping.IssueRef(9), TitleFrom: &a, Title: "b"}), check: took(0, false)},
		{name: "an edit of the issue, by its id", known: events(mapping.IssueEvent{Item: mapping.IssueRef(7), TitleFrom: &a, Title: "b"}), check: took(1, false)},
		{name: "the parent changed", known: events(mapping.IssueEvent{Parent: &mapping.Parent{ID: 1}, TitleFrom: &a}), check: took(0, false)},
		{name: "a reason to read both", known: events(mapping.IssueEvent{Look: "deleted"}), check: all(took(0, true), is("it is not new", func(w work) bool { return !w.opened }))},
		{name: "the issue is new", known: events(mapping.IssueEvent{Look: mapping.LookOpened}), check: all(took(0, false), is("it is", func(w work) bool { return w.opened }))},
		{name: "another link handed it over", known: events(mapping.IssueEvent{Look: mapping.LookHandedOver}), check: took(0, false)},
		{
			name: "a transfer", known: events(mapping.IssueEvent{Moved: &mapping.Move{From: 7, To: mapping.IssueID{ID: 8}}, Look: "transferred"}),
			check: all(took(0, true), is("where it went is known", func(w work) bool { return len(w.moves) == 1 && slices.Equal(w.arrived, []int64{8}) })),
		},
		{
			name: "a transfer of a sub-issue", link: part, known: events(mapping.IssueEvent{Item: mapping.IssueRef(9), Moved: &mapping.Move{From: 9, To: mapping.IssueID{ID: 8}}}),
			check: is("it concerns that one", func(w work) bool { return len(w.moves) == 0 && slices.Equal(w.arrived, []int64{8}) }),
		},
		{
			name: "a step of ours", known: events(step(labelled("plan:Done"))), counts: []string{"2 github"}, check: inbox(0),
			link: func(l *mapping.Link) {
				i := issueOf(labelled("plan:Done"))
				l.Steps = []mapping.Step{{Digest: mapping.DigestIssue(&i), At: noon}}
			},
		},
		{name: "a label of ours, as it was answered", link: shown(func(s *mapping.Shown) { s.Labels = []string{"plan:Done"} }), known: events(step(labelled("plan:Done"))), counts: []string{"2 github"}, check: inbox(0)},
		{name: "a label of ours, which is off by now", link: shown(func(*mapping.Shown) {}), known: events(step(labelled("plan:Done"))), counts: []string{}, check: inbox(1)},
		{name: "no step of ours", known: events(step(named("x"))), counts: []string{}, check: inbox(1)},
		{name: "no step of ours, and older than what is known", known: knows(issueTold(issueOf()), events(step(named("x"), at(5*time.Second)))), check: all(inbox(1), is("the newer one stays", func(w work) bool { return reader(w).issueSeen().Title == "a" }))},
		{name: "no step of ours, of the same second", known: knows(issueTold(issueOf()), events(step(named("x")))), check: all(inbox(1), is("which came last is not known", func(w work) bool { return w.claim.Inbox[mapping.IssueRef(7)].Ambiguous }))},
		{name: "a copy of the issue with its marker, which may be this one, transferred", known: copied(mark("bridge")), check: is("this one is read", func(w work) bool { return w.mustRead })},
		{name: "a copy that a person made", known: copied(mark("ann")), check: took(0, false)},
		{name: "the sub-issue with its marker", link: part, known: copied(mark("bridge")), check: took(0, false)},
		{name: "another issue of ours without it", known: copied(issueOf(func(i *mapping.Issue) { i.ID, i.Author = 9, "bridge" })), check: took(0, false)},
	})
}

func TestTransferred(t *testing.T) {
	moved := func(to int64) func(work) {
		return func(w work) {
			w.moves = []*mapping.Move{{From: 7, To: mapping.IssueID{ID: to, Repo: "acme/new", Number: 3}}}
		}
	}
	now := issueOf(func(i *mapping.Issue) { i.ID, i.Repo, i.Number = 8, "acme/new", 3 })
	both := func(r *mapping.Route) { r.Repositories = append(r.Repositories, "acme/new"); r.AllowPublic = true }
	private := func(r *mapping.Route) { r.Repositories = append(r.Repositories, "acme/new") }
	is8 := func(number int) func(work) string {
		return is("the issue is the new one, and was the old one", func(w work) bool {
			return w.pair.Issue.ID == 8 && w.pair.Issue.Number == number && slices.Equal(w.pair.Former, []int64{7})
		})
	}
	still := is("the issue is as it was", func(w work) bool {
		return w.pair.Issue.ID == 7 && w.pair.Issue.Repo == "acme/web" && len(w.pair.Former) == 0
	})
	left := func(why string) func(work) string {
		return all(isState(mapping.Left, "it was transferred to acme/new, "+why), is("it is known where it is", func(w work) bool { return w.pair.Away == "acme/new" }))
	}
	read, save := []string{"ReadIssue"}, []string{"ReadIssue", "Save"}
	to := func(answer any) map[string]any { return map[string]any{"ReadIssue": answer} }
	away := func(l *mapping.Link) {
		l.State, l.Away, l.Why, l.Issue.Repo = mapping.Left, "acme/new", "it was transferred", "acme/new"
	}
	begun := func(l *mapping.Link) {
		l.Base[mapping.State] = mapping.Base{GitHub: mapping.StateInProgress, Planning: mapping.StateInProgress, Version: 1}
	}
	checkRule(t, transferred, []ruleCase{
		{name: "not transferred", check: still},
		{name: "to a repository of its route", route: both, known: moved(8), answers: to(now), asked: save, err: "its issue is now acme/new#3", want: end, check: all(is8(3), tells("moved"), isState(mapping.Linked, ""))},
		{name: "to one of its route that is private", route: private, known: moved(8), answers: with(to(now), map[string]any{"ReadPrivate": true}), asked: []string{"ReadIssue", "ReadPrivate", "Save"}, err: "its issue is now", want: end, check: is8(3)},
		{name: "to one of its route that is public", route: private, known: moved(8), answers: with(to(now), map[string]any{"ReadPrivate": false}), asked: []string{"ReadIssue", "ReadPrivate", "Save"}, err: "its issue is now", want: end, check: left("which is public, and its route does not allow that")},
		{name: "GitHub does not say whether that is public", route: private, known: moved(8), answers: with(to(now), map[string]any{"ReadPrivate": errAway}), asked: []string{"ReadIssue", "ReadPrivate"}, err: "unavailable", want: end, check: still},
		{name: "to a repository without a route", known: moved(8), answers: to(now), asked: save, err: "its issue is now", want: end, check: all(is8(3), left("for which there is no route"))},
		{name: "it has moved on since", route: both, known: moved(9), answers: to(&mapping.MovedError{Repo: "acme/new", Number: 3, Issue: &now}), asked: save, err: "its issue is now", want: end, check: is8(3)},
		{name: "its repository was renamed, too", route: both, known: moved(8), answers: to(&mapping.MovedError{Issue: new(issueOf(func(i *mapping.Issue) { i.Repo = "acme/new" }))}), asked: []string{"ReadIssue", "Rename"}, err: "its repository is now acme/new", want: end, check: is("it goes by that name", func(w work) bool { return w.pair.Issue.Repo == "acme/new" && w.pair.Issue.ID == 7 })},
		{name: "the label of its state was lost on the way: nobody changed the state", link: begun, route: both, known: moved(8), answers: to(now), asked: save, err: "its issue is now", want: end, check: agreedOn(mapping.State, mapping.StateTodo, mapping.StateTodo, 1)},
		{name: "the state kept its label", link: begun, route: both, known: moved(8), answers: to(issueOf(labelled("doing"), func(i *mapping.Issue) { i.ID, i.Repo, i.Number = 8, "acme/new", 3 })), asked: save, err: "its issue is now", want: end, check: agreedOn(mapping.State, mapping.StateInProgress, mapping.StateInProgress, 1)},
		{name: "to where the token does not reach", known: moved(8), answers: to(mapping.ErrNotFound), asked: []string{"ReadIssue", "ReadIssue", "Save"}, want: end, check: all(left("which the bridge cannot read"), is("its id is known", func(w work) bool { return w.pair.Issue.ID == 8 }))},
		{name: "to where the token does not reach, and the issue answers at its old place", known: moved(8), answers: map[string]any{"ReadIssue": turns{mapping.ErrNotFound, issueOf()}}, asked: []string{"ReadIssue", "ReadIssue"}, check: still},
		{name: "GitHub is away", known: moved(8), answers: to(errAway), asked: read, err: "unavailable", want: end, check: still},
		{name: "another issue is there by now", known: moved(9), answers: to(now), asked: []string{"ReadIssue", "ReadIssue"}, check: still},
		{name: "an event of another issue", known: func(w work) { w.moves = []*mapping.Move{{From: 1, To: mapping.IssueID{ID: 8}}} }, check: still},
		{name: "an event that does not say what it is now", known: func(w work) { w.moves = []*mapping.Move{{From: 7}} }, check: still},
		{name: "it had not entered: it goes", link: entering, known: moved(8), answers: to(mapping.ErrNotFound), asked: []string{"ReadIssue", "ReadIssue"}, err: errRemove.Error(), want: end},
		{name: "a new link has the new issue: that goes first", route: both, known: moved(8), answers: with(to(now), map[string]any{"Save": store.ErrConflict}), asked: save, err: "its link goes first", want: end, check: still},
		{name: "it had not entered, and a new link has it", link: entering, route: both, known: moved(8), answers: with(to(now), map[string]any{"Save": store.ErrConflict}), asked: save, err: errRemove.Error(), want: end},
		{name: "the store is away", route: both, known: moved(8), answers: with(to(now), map[string]any{"Save": errAway}), asked: save, err: "save link", want: end, check: still},
		{name: "it is where no route is, still", link: away, want: end, check: isState(mapping.Left, "it was transferred")},
		{name: "it is, and is taken apart", link: links(away, func(l *mapping.Link) { l.Cleaning = true }), check: isState(mapping.Left, "it was transferred")},
		{name: "a route covers it by now", link: away, route: both, err: "has a route again", want: pass, check: is("it goes on", func(w work) bool { return w.pair.Away == "" && w.pair.Unfinished })},
		{name: "a route covers it, and it is public", link: away, route: private, answers: map[string]any{"ReadPrivate": false}, asked: []string{"ReadPrivate"}, want: end, check: is("it stays where it is", func(w work) bool { return w.pair.Away == "acme/new" })},
	})
}
