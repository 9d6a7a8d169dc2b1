package reconcile

import (
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// subIssue is a part of the pair: issue 9 with its task t9.
func subIssue(change ...func(*mapping.Pair)) func(*mapping.Link) {
	return func(l *mapping.Link) {
		p := &mapping.Pair{Kind: mapping.SubIssue, State: mapping.Linked, Origin: mapping.GitHub, Nonce: "n9", Issue: mapping.IssueID{ID: 9, Repo: "acme/web", Number: 9}, Card: mapping.CardID{ID: "t9"}, Base: map[mapping.Attribute]mapping.Base{}}
		for _, a := range mapping.Attributes {
			p.Base[a] = mapping.Base{Version: 1}
		}
		for _, f := range change {
			f(p)
		}
		l.SubLinks = append(l.SubLinks, p)
	}
}

func hasParts(n int) func(work) string {
	return is("the sub-issues are known", func(w work) bool { return len(w.link.SubLinks) == n })
}

func TestParentsOfSubIssues(t *testing.T) {
	to := func(item mapping.Ref, parent int64) func(work) {
		return events(mapping.IssueEvent{Item: item, Parent: &mapping.Parent{ID: parent, Name: "acme/web#2"}})
	}
	had := func(parent int64) func(*mapping.Link) { return subIssue(func(p *mapping.Pair) { p.Parent = parent }) }
	has := func(parent int64) func(work) string {
		return is("its parent is known", func(w work) bool { return w.link.SubLinks[0].Parent == parent })
	}
	checkRule(t, does(subIssues.takeParents), []ruleCase{
		{name: "nothing was told", link: subIssue(), known: events(mapping.IssueEvent{Look: "x"}), check: tells()},
		{name: "a sub-issue is told to be one", link: subIssue(), known: to(mapping.IssueRef(9), 7), check: all(has(7), tells())},
		{name: "a sub-issue gets another parent: it keeps its task", link: had(7), known: to(mapping.IssueRef(9), 2), check: all(has(2), tells("parent"))},
		{name: "a sub-issue has none any more", link: had(7), known: to(mapping.IssueRef(9), mapping.NoParentID), check: all(has(mapping.NoParentID), tells("parent"))},
		{name: "the same is told again", link: had(7), known: to(mapping.IssueRef(9), 7), check: all(has(7), tells())},
		{name: "the issue itself becomes a sub-issue: it keeps its card", link: subIssue(), known: to(mapping.IssueRef(7), 2), check: all(tells("parent"), is("its parent is known", func(w work) bool { return w.pair.Parent == 2 }))},
		{name: "another issue", link: subIssue(), known: to(mapping.IssueRef(30), 2), check: all(has(0), tells())},
	})
}

func TestNewSubIssues(t *testing.T) {
	rule := ofSubIssues(subIssues.discoverSubIssues)
	sub := func(r *mapping.Route) { r.Tasks, r.CreateIssues = mapping.TasksSubIssues, true }
	listed := func(l *mapping.Link) { l.Family.Listed, l.Family.Tasks = true, mapping.TasksSubIssues }
	nine := func(change ...func(*mapping.Issue)) mapping.Issue {
		return issueOf(append([]func(*mapping.Issue){func(i *mapping.Issue) { i.ID, i.Number = 9, 9 }}, change...)...)
	}
	handed := func(change ...func(*mapping.Issue)) func(work) {
		i := nine(change...)
		return toldOf(mapping.IssueRef(9), &i, store.Snapshot{})
	}
	free := map[string]any{"FindLink": store.ErrNotFound}
	held := func(by *mapping.Link) map[string]any {
		return map[string]any{"FindLink": store.Key{Project: "p", Link: "other"}, "ReadLink": by}
	}
	in := func(state mapping.LinkState) *mapping.Link {
		return &mapping.Link{ID: "other", Project: "p", Pair: mapping.Pair{State: state}}
	}
	added := []string{"FindLink", "Save"}
	isListed := func(yes bool) func(work) string {
		return is("it is known whether they were listed", func(w work) bool { return w.link.Family.Listed == yes })
	}
	task := func(text string, change ...func(*mapping.Task)) func(work) {
		return func(w work) {
			one := mapping.Task{ID: "t5", CID: 5, Title: versioned("mine", 1), Summary: versioned(text, 1)}
			for _, f := range change {
				f(&one)
			}
			w.tasks.keepNewest(one)
		}
	}
	private := map[string]any{"ReadPrivate": true, "FindLink": store.ErrNotFound}
	checkRule(t, rule, []ruleCase{
		{name: "none", link: listed, route: sub, check: hasParts(0)},
		{name: "the route makes no tasks of them", known: handed(), check: hasParts(0)},
		{name: "one was handed over", link: listed, route: sub, known: handed(), answers: free, asked: added, check: all(hasParts(1), tells("sub-issue"), is("its task is to be made", func(w work) bool { return w.link.SubLinks[0].Intent.Side == mapping.Planning }))},
		{name: "it is one already", link: links(listed, subIssue()), route: sub, known: handed(), check: hasParts(1)},
		{name: "it is closed, and has no task", link: listed, route: sub, known: handed(inState("closed")), answers: map[string]any{"FindLink": store.ErrNotFound, "ReadTasks": []mapping.Task(nil)}, asked: []string{"FindLink", "ReadTasks"}, check: hasParts(0)},
		{name: "it is closed, and an import takes it", link: listed, route: sub, known: handed(inState("closed"), func(i *mapping.Issue) { i.Imported = true }), answers: free, asked: added, check: hasParts(1)},
		{name: "a person keeps it out", link: listed, route: sub, known: handed(labelled("plan:ignore")), answers: free, asked: added[:1], check: hasParts(0)},
		{name: "it is a pull request", link: listed, route: sub, known: handed(func(i *mapping.Issue) { i.PullRequest = true }), answers: free, asked: added[:1], check: hasParts(0)},
		{name: "the route only goes to GitHub", link: listed, route: func(r *mapping.Route) { sub(r); r.Direction = mapping.ToGitHub }, known: handed(), answers: free, asked: added[:1], check: hasParts(0)},
		{name: "it has a card of its own", link: listed, route: sub, known: handed(), answers: held(in(mapping.Linked)), asked: []string{"FindLink", "ReadLink"}, check: hasParts(0)},
		{name: "its own link is about to hand it over", link: listed, route: sub, known: handed(), answers: held(in(mapping.Entering)), asked: []string{"FindLink", "ReadLink"}, err: "still to be handed over", check: hasParts(0)},
		{name: "its own link has just gone", link: listed, route: sub, known: handed(), answers: map[string]any{"FindLink": store.Key{Project: "p", Link: "other"}, "ReadLink": store.ErrNotFound}, asked: []string{"FindLink", "ReadLink"}, err: "between two links", check: hasParts(0)},
		{name: "a link of another project has it", link: listed, route: sub, known: handed(), answers: map[string]any{"FindLink": store.Key{Project: "q", Link: "other"}}, asked: []string{"FindLink"}, check: hasParts(0)},
		{name: "the store does not say", link: listed, route: sub, known: handed(), answers: map[string]any{"FindLink": errAway}, asked: []string{"FindLink"}, err: "find issue:9", check: hasParts(0)},
		{name: "another link takes it meanwhile", link: listed, route: sub, known: handed(), answers: map[string]any{"FindLink": store.ErrNotFound, "Save": store.ErrConflict}, asked: added, err: "still belongs to another link", check: all(hasParts(0), isListed(true))},
		{name: "they are listed once", route: sub, link: func(l *mapping.Link) { l.Family.Tasks = mapping.TasksSubIssues }, answers: with(map[string]any{"ReadSubIssues": []mapping.Issue{nine()}}, free), asked: append([]string{"ReadSubIssues"}, added...), check: all(hasParts(1), isListed(true))},
		{name: "the issue says that it has none", route: sub, link: func(l *mapping.Link) { l.Family.Tasks = mapping.TasksSubIssues }, known: unchanged(func(i *mapping.Issue) { i.Childless = true }), check: all(hasParts(0), isListed(true))},
		{name: "an older GitHub knows none", route: sub, link: func(l *mapping.Link) { l.Family.Tasks = mapping.TasksSubIssues }, answers: map[string]any{"ReadSubIssues": mapping.ErrNotFound}, asked: []string{"ReadSubIssues"}, check: all(hasParts(0), isListed(true))},
		{name: "they cannot be listed", route: sub, link: func(l *mapping.Link) { l.Family.Tasks = mapping.TasksSubIssues }, answers: map[string]any{"ReadSubIssues": errAway, "PauseAfter": Pause{}}, asked: []string{"ReadSubIssues", "PauseAfter"}, check: isListed(false)},
		{name: "a listed one is between two links: they are listed again", route: sub, link: func(l *mapping.Link) { l.Family.Tasks = mapping.TasksSubIssues }, answers: map[string]any{"ReadSubIssues": []mapping.Issue{nine()}, "FindLink": store.Key{Project: "p", Link: "other"}, "ReadLink": store.ErrNotFound}, asked: []string{"ReadSubIssues", "FindLink", "ReadLink"}, err: "between two links", check: isListed(false)},
		{name: "a task that a person made", link: listed, route: sub, known: task("text"), answers: private, asked: []string{"ReadPrivate", "FindLink", "Save"}, check: all(hasParts(1), tells("task"), is("its issue is to be made, and joined to this one", func(w work) bool { p := w.link.SubLinks[0]; return p.Intent.Side == mapping.GitHub && p.Join }))},
		{name: "a task of before the route synchronised tasks", link: func(l *mapping.Link) { l.Family.Listed = true }, route: sub, known: task("text"), check: hasParts(0)},
		{name: "a task of another card", link: listed, route: sub, known: task("text", func(t *mapping.Task) { t.Owner = "c2" }), check: hasParts(0)},
		{name: "a task, and the route makes no issues", link: listed, route: func(r *mapping.Route) { sub(r); r.CreateIssues = false }, known: task("text"), check: hasParts(0)},
		{name: "a task, and the route only goes to planning", link: listed, route: func(r *mapping.Route) { sub(r); r.Direction = mapping.ToPlanning }, known: task("text"), check: hasParts(0)},
		{name: "a task, and the repository is public", link: listed, route: sub, known: task("text"), answers: map[string]any{"ReadPrivate": false}, asked: []string{"ReadPrivate"}, check: all(hasParts(0), is("that is known", func(w work) bool { return w.withheld != nil }))},
		{name: "a task that another link has", link: listed, route: sub, known: task("text"), answers: map[string]any{"ReadPrivate": true, "FindLink": store.Key{Project: "p", Link: "other"}}, asked: []string{"ReadPrivate", "FindLink"}, check: hasParts(0)},
	})
}
