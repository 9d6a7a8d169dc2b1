package reconcile

import (
	"fmt"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// TestTasksWithMarkers: a task of the card may have the marker of a sub-issue's task.
func TestTasksWithMarkers(t *testing.T) {
	rule := ofSubIssues(subIssues.discoverSubIssues)
	sub := func(r *mapping.Route) {
		r.Tasks, r.CreateIssues, r.NewCardsIn = mapping.TasksSubIssues, true, "acme/web"
	}
	listed := func(l *mapping.Link) { l.Family.Listed, l.Family.Tasks = true, mapping.TasksSubIssues }
	footer := func(partner string) string {
		m := mapping.Marker{Kind: mapping.MarkTask, Link: "gone", Nonce: "n9", Partner: partner}
		return testKeys.AppendFooter("text", m, "acme/web", 9, "https://github/acme/web/issues/9")
	}
	task := func(cid int64, text string) func(work) {
		return knows(whole, func(w work) {
			w.tasks.keepNewest(mapping.Task{ID: "t5", CID: cid, Title: versioned("mine", 1), Summary: versioned(text, 1)})
		})
	}
	free := func(more map[string]any) map[string]any {
		return with(map[string]any{"ReadPrivate": true, "FindLink": store.ErrNotFound}, more)
	}
	holder := func(change ...func(*mapping.Pair)) *mapping.Link {
		l := rival("p", func(l *mapping.Link) { l.Issue.ID = 1 }, subIssue(change...))
		l.SubLinks[0].Card.CID = 3
		return l
	}
	its := func(l any) map[string]any {
		return free(map[string]any{"FindLink": turns{store.Key{Project: "p", Link: "other"}, store.ErrNotFound}, "ReadLink": l})
	}
	ours := links(listed, subIssue(func(p *mapping.Pair) { p.Card.CID = 3 }))
	anew := all(tells("task"), is("it gets a sub-issue of its own", func(w work) bool {
		p := w.link.SubLinks[len(w.link.SubLinks)-1]
		return p.State == mapping.Creating && p.Intent.Side == mapping.GitHub && p.Join && p.Card.ID == "t5" && p.Issue.ID == 0 && p.Issue.Repo == "acme/web"
	}))
	copied := all(anew, is("it is a copy", func(w work) bool { return w.link.SubLinks[len(w.link.SubLinks)-1].Copied }))
	plain := all(anew, is("it is no copy", func(w work) bool { return !w.link.SubLinks[len(w.link.SubLinks)-1].Copied }))
	restored := all(hasParts(1), tells("task"), is("it is that of its sub-issue again", func(w work) bool {
		p := w.link.SubLinks[0]
		return p.State == mapping.Linked && p.Origin == mapping.GitHub && p.Nonce == "n9" && p.Card.ID == "t5" && p.Issue == mapping.IssueID{ID: 9, Repo: "acme/web", Number: 9}
	}))
	stays := all(hasParts(0), tells())
	makes := []string{"ReadPrivate", "FindLink", "Save"}
	found := []string{"FindLink", "FindLink", "FindLink", "Save"}
	other := []string{"FindLink", "ReadLink", "ReadPrivate", "FindLink", "Save"}
	checkRule(t, rule, []ruleCase{
		{name: "no link has that sub-issue: the store was lost", link: listed, route: sub, known: task(5, footer("9")), answers: free(nil), asked: found, counts: []string{"3 lookup"}, check: restored},
		{name: "its text names no address", link: listed, route: sub, known: task(5, taskMarked("text", "n9", "9")), answers: free(nil), asked: found[:1], counts: []string{}, check: stays},
		{name: "its marker is that of a tracking task", link: listed, route: sub, known: task(5, taskMarked("text", "n9", trackingPartner)), answers: free(nil), check: stays},
		{name: "its marker is that of no issue", link: listed, route: sub, known: task(5, footer("0")), answers: free(nil), check: stays},
		{name: "its marker is that of a card", link: listed, route: sub, known: task(5, cardFooter), answers: free(nil), check: stays},
		{name: "it is a copy of a sub-issue's task of this card", link: ours, route: sub, known: task(5, footer("9")), answers: free(nil), asked: makes, check: copied},
		{name: "it is older than that task: that one is the copy", link: ours, route: sub, known: task(2, footer("9")), answers: free(nil), check: all(hasParts(1), tells())},
		{name: "it has the number of that task", link: ours, route: sub, known: task(3, footer("9")), answers: free(nil), check: all(hasParts(1), tells())},
		{
			name: "that sub-issue has no task yet", link: links(listed, subIssue(func(p *mapping.Pair) { p.Card = mapping.CardID{} })), route: sub, known: task(5, footer("9")), answers: free(nil), check: all(hasParts(1), tells()),
		},
		{name: "it is a copy of a task of another card", link: listed, route: sub, known: task(5, footer("9")), answers: its(holder()), asked: other, check: copied},
		{
			name: "the other link has that issue as its own, which has no such task", link: listed, route: sub, known: task(5, footer("9")),
			answers: its(rival("p", func(l *mapping.Link) { l.Issue.ID = 9 })), asked: []string{"FindLink", "ReadLink", "FindLink", "FindLink", "Save"}, check: restored,
		},
		{name: "the other link was just removed", link: listed, route: sub, known: task(5, footer("9")), answers: its(store.ErrNotFound), asked: other[:2], err: "issue 9 is between two links", check: stays},
		{name: "the store does not say who has the sub-issue", link: listed, route: sub, known: task(5, footer("9")), answers: free(map[string]any{"FindLink": errAway}), asked: other[:1], err: "find issue:9", check: stays},
		{name: "the other link cannot be read", link: listed, route: sub, known: task(5, footer("9")), answers: its(errAway), asked: other[:2], err: "read link", check: stays},
		{name: "it has no marker", link: listed, route: sub, known: task(5, "text"), answers: free(nil), asked: makes, check: plain},
		{name: "the store does not say who has the task", link: listed, route: sub, known: task(5, "text"), answers: free(map[string]any{"FindLink": errAway}), asked: makes[:2], err: "find task:t5", check: stays},
		{name: "GitHub does not say whether the repository is public", link: listed, route: sub, known: task(5, "text"), answers: free(map[string]any{"ReadPrivate": errAway}), asked: makes[:1], err: "unavailable", check: stays},
		{name: "a dry run", link: listed, route: sub, set: func(s *Settings) { s.DryRun = true }, known: task(5, "text"), check: stays},
	})
}

// TestIssuesWithMarkers: a sub-issue may have the marker of an issue that the bridge made for a task.
func TestIssuesWithMarkers(t *testing.T) {
	rule := ofSubIssues(subIssues.discoverSubIssues)
	sub := func(r *mapping.Route) { r.Tasks = mapping.TasksSubIssues }
	listed := func(l *mapping.Link) {
		l.Family.Listed, l.Family.Tasks, l.Family.Old = true, mapping.TasksSubIssues, []mapping.ObjectID{"t9", "old"}
	}
	body := func(kind mapping.MarkerKind) string {
		return testKeys.AppendComment("text", mapping.Marker{Kind: kind, Link: "gone", Nonce: "n9", Partner: "t9"})
	}
	told := func(change ...func(*mapping.Issue)) func(work) {
		i := issueOf(append([]func(*mapping.Issue){func(i *mapping.Issue) {
			i.ID, i.Number, i.Author, i.Body, i.Parent = 9, 9, "bridge", body(mapping.MarkSubIssue), "acme/web#12"
		}}, change...)...)
		return knows(whole, toldOf(mapping.IssueRef(9), &i, store.Snapshot{}))
	}
	free := map[string]any{"FindLink": store.ErrNotFound}
	added := []string{"FindLink", "Save"}
	orphan := func(i *mapping.Issue) { i.Parent = mapping.NoParent }
	relinked := func(join bool) func(work) string {
		return all(hasParts(1), tells("restored"), is(fmt.Sprint("it is that of its task again, and to be joined: ", join), func(w work) bool {
			p := w.link.SubLinks[0]
			return p.State == mapping.Linked && p.Origin == mapping.Planning && p.Nonce == "n9" && p.Card.ID == "t9" && p.Issue.ID == 9 && p.Join == join
		}), is("its task is no plain one any more", func(w work) bool { return len(w.link.Family.Old) == 1 && w.link.Family.Old[0] == "old" }))
	}
	none := all(hasParts(0), tells(), is("plain tasks stay such", func(w work) bool { return len(w.link.Family.Old) == 2 }))
	checkRule(t, rule, []ruleCase{
		{name: "the bridge made it for a task, and the store was lost", link: listed, route: sub, known: told(), answers: free, asked: added, check: relinked(false)},
		{name: "it was not joined to its parent yet", link: listed, route: sub, known: told(orphan), answers: free, asked: added, check: relinked(true)},
		{name: "its parent is not told", link: listed, route: sub, known: told(func(i *mapping.Issue) { i.Parent = "" }), answers: free, asked: added, check: relinked(true)},
		{
			name: "it was not joined, and the route only goes to planning", link: listed, route: func(r *mapping.Route) { sub(r); r.Direction = mapping.ToPlanning },
			known: told(orphan), answers: free, asked: added, check: relinked(false),
		},
		{name: "it is closed", link: listed, route: sub, known: told(inState("closed")), answers: map[string]any{"FindLink": store.ErrNotFound, "ReadTasks": []mapping.Task(nil)}, asked: []string{"FindLink", "ReadTasks", "Save"}, check: relinked(false)},
		{name: "another sub-issue has that task", link: links(listed, subIssue(func(p *mapping.Pair) { p.Issue.ID = 30 })), route: sub, known: told(), answers: free, asked: added[:1], check: all(hasParts(1), tells())},
		{name: "its marker is that of a card's issue", link: listed, route: sub, known: told(func(i *mapping.Issue) { i.Body = body(mapping.MarkIssue) }), answers: free, asked: added[:1], check: none},
		{
			name: "a person made it, and copied this issue with its marker", link: listed, route: sub, answers: map[string]any{"Remembered": 0, "Remember": 0, "ReadParent": (*mapping.Issue)(nil)},
			known: told(func(i *mapping.Issue) {
				i.Author, i.Body = "ann", testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: "n", Partner: "c"})
			}), asked: []string{"Remembered", "ReadParent", "Remember", "Remember"}, check: none,
		},
		{
			name: "a person made it, with that marker, and it is a sub-issue", link: listed, route: sub, asked: []string{"Remembered", "ReadParent", "Remember", "Remember", "FindLink", "Save"},
			answers: map[string]any{"Remembered": 0, "Remember": 0, "ReadParent": new(issueOf()), "FindLink": store.ErrNotFound},
			known: told(func(i *mapping.Issue) {
				i.Author, i.Body = "ann", testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: "n", Partner: "c"})
			}), check: all(hasParts(1), tells("sub-issue"), is("it gets a task", func(w work) bool { return w.link.SubLinks[0].Intent.Side == mapping.Planning })),
		},
	})
}

// TestJoinParent: the issue that the bridge made for a task becomes a sub-issue.
func TestJoinParent(t *testing.T) {
	rule := func(w work) (verdict, error) {
		pw := partWorker(w).part(w.link.SubLinks[0])
		return pass, subIssues(pw).joinParent()
	}
	part := func(change ...func(*mapping.Pair)) func(*mapping.Link) {
		return subIssue(append([]func(*mapping.Pair){func(p *mapping.Pair) { p.Join = true }}, change...)...)
	}
	refusal := func(words string) map[string]any {
		return map[string]any{"AddSubIssue": &mapping.Rejection{Message: words}}
	}
	asked := savedAnd("AddSubIssue")
	open := all(tells(), is("it is to be joined", func(w work) bool { return w.link.SubLinks[0].Join }))
	ends := func(parent int64) func(work) string {
		return all(tells("join"), is("that is done with", func(w work) bool { p := w.link.SubLinks[0]; return !p.Join && p.Parent == parent }))
	}
	paused := func(answers map[string]any) map[string]any {
		return with(answers, map[string]any{"PauseAfter": Pause{}})
	}
	off := append(append([]string{}, asked...), "PauseAfter")
	checkRule(t, rule, []ruleCase{
		{name: "GitHub adds it", link: part(), asked: asked, check: ends(7), wrong: func(effects []any) string {
			if e, is := effects[len(effects)-1].(AddSubIssue); !is || (e != AddSubIssue{"acme/web", 12, 9}) {
				return fmt.Sprintf("it was added by %+v", effects)
			}
			return ""
		}},
		{name: "it is joined", link: subIssue(), check: tells()},
		{name: "its issue was not made yet", link: part(func(p *mapping.Pair) { p.State = mapping.Creating }), check: open},
		{name: "a dry run", link: part(), set: func(s *Settings) { s.DryRun = true }, check: open},
		{name: "it is one already", link: part(), answers: refusal("Issue may not contain duplicate sub-issues"), asked: asked, check: ends(0)},
		{name: "it has another parent, or there are too many", link: part(), answers: refusal("Sub-issue may only have one parent"), asked: asked, check: ends(0)},
		{name: "another one was added at the same moment: it is shown later", link: part(), answers: refusal("Priority has already been taken"), asked: asked, check: open},
		{name: "GitHub is away", link: part(), answers: paused(map[string]any{"AddSubIssue": errAway}), asked: off, check: open},
		{name: "the token may not", link: part(), answers: paused(map[string]any{"AddSubIssue": mapping.ErrForbidden, "ReadArchived": false}), asked: append(append([]string{}, asked...), "ReadArchived", "PauseAfter"), check: open},
		{
			name: "its parent is gone: that is not believed at once, and the others of the repository go on", link: part(),
			answers: map[string]any{"AddSubIssue": mapping.ErrGone, "ReadIssue": mapping.ErrGone, "ReadArchived": false, "Missed": Absence{First: noon}},
			asked:   append(append([]string{}, asked...), "ReadIssue", "ReadArchived", "Missed"),
			check: all(open, is("the answer is counted, and it is looked at again", func(w work) bool {
				return w.pair.Gone[mapping.GitHub] == 1
			})),
		},
		{
			name: "its parent is there, and says that it is gone", link: part(), answers: paused(map[string]any{"AddSubIssue": mapping.ErrGone, "ReadIssue": turns{issueOf(), issueOf(func(i *mapping.Issue) { i.ID, i.Number = 9, 13 })}}),
			asked: append(append([]string{}, asked...), "ReadIssue", "ReadIssue", "PauseAfter"), check: open,
		},
		{name: "that failed a moment ago", link: part(), answers: map[string]any{"PauseLeft": Pause{Wait: 1}}, asked: []string{"PauseLeft"}, check: open},
		{name: "the lease is lost", link: part(), answers: map[string]any{"Save": store.ErrLeaseLost}, asked: asked[:1], err: "lease", check: open},
	})
}
