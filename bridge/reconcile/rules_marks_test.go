package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// TestMarksThatStay: a mark stays on its item where it cannot be taken off, and the pair is not parted.
func TestMarksThatStay(t *testing.T) {
	cleans := func(l *mapping.Link) { l.Cleaning = true }
	body := testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: "n", Partner: "c"})
	have := func(changes ...func(*mapping.Issue)) func(work) {
		return knows(unchanged(changes...), func(w work) { w.card = &mapping.Card{ID: "c"} })
	}
	took := func(more map[string]any) map[string]any {
		return with(map[string]any{"ReadTasks": []mapping.Task{}}, more)
	}
	made := func(l *mapping.Link) { cleans(l); l.Origin = mapping.Planning }
	four := links(cleans, shown(func(s *mapping.Shown) { s.Milestone = 4 }))
	limited := map[string]any{"Reserve": &mapping.RateLimited{API: "github", After: 1}}
	label := []string{"ReadTasks", "Reserve", "Save", "BeginWrite", "RemoveLabel plan:Done"}
	off := []string{"ReadTasks", "Reserve", "ReadIssue", "Save", "BeginWrite", "EditIssue milestone=0"}
	stays := all(is("it is not done with", func(w work) bool { return w.cleaned == "" }), tells())
	is4 := recorded("the milestone is known as ours", func(s *mapping.Shown) bool { return s.Milestone == 4 })
	marker := func(m mapping.Marker) mapping.Task {
		return mapping.Task{ID: "t9", Summary: versioned(testKeys.AppendComment("x", m), 2)}
	}
	left := is("it is done with, and its task is left alone", func(w work) bool { return w.cleaned != "" })
	checkRule(t, does(cleaner.clean), []ruleCase{
		{name: "a label, and no budget is left", link: cleans, known: have(labelled("plan:Done")), answers: took(limited), asked: label[:2], err: "rate limited", check: all(stays, hasLabels("plan:Done"))},
		{name: "a label, and GitHub is away", link: cleans, known: have(labelled("plan:Done")), answers: took(map[string]any{"RemoveLabel": errAway}), asked: label, err: "unavailable", check: all(stays, hasLabels("plan:Done"))},
		{name: "a milestone, and no budget is left", link: four, known: have(milestone(4)), answers: took(limited), asked: off[:2], err: "rate limited", check: all(stays, is4)},
		{name: "a milestone, and the issue cannot be read", link: four, known: have(milestone(4)), answers: took(map[string]any{"ReadIssue": errAway}), asked: off[:3], err: "unavailable", check: all(stays, is4)},
		{
			name: "a person sets another milestone meanwhile: that stays", link: four, known: have(milestone(4)), answers: took(map[string]any{"ReadIssue": issueOf(milestone(9))}), asked: off[:3],
			check: all(tells(), is("the issue has it", func(w work) bool { return w.issue.Milestone == 9 && w.cleaned != "" })),
		},
		{name: "a milestone, and the lease is lost", link: four, known: have(milestone(4)), answers: took(map[string]any{"ReadIssue": issueOf(milestone(4)), "Save": store.ErrLeaseLost}), asked: off[:4], err: "lease", check: all(stays, is4)},
		{name: "a milestone, and GitHub refuses", link: four, known: have(milestone(4)), answers: took(map[string]any{"ReadIssue": issueOf(milestone(4)), "EditIssue": mapping.ErrForbidden}), asked: off, err: "take milestone off", check: all(stays, is4)},
		{name: "the marker of an issue, and no budget is left", link: made, known: have(bodied(body)), answers: took(limited), asked: off[:2], err: "rate limited", check: stays},
		{name: "the marker of an issue, which cannot be read", link: made, known: have(bodied(body)), answers: took(map[string]any{"ReadIssue": errAway}), asked: off[:3], err: "unavailable", check: stays},
		{
			name: "the task of another link", link: cleans, known: have(), asked: label[:1], check: left,
			answers: map[string]any{"ReadTasks": []mapping.Task{marker(mapping.Marker{Kind: mapping.MarkTask, Link: "other", Nonce: "m", Partner: "5"})}},
		},
		{
			name: "a task with the marker of a card", link: cleans, known: have(), asked: label[:1], check: left,
			answers: map[string]any{"ReadTasks": []mapping.Task{marker(mapping.Marker{Kind: mapping.MarkCard, Link: "l", Nonce: "n", Partner: "7"})}},
		},
	})
}

// TestTasksUnderWay: a cleaning waits for tasks that may still be made.
func TestTasksUnderWay(t *testing.T) {
	rule := does(cleaner.awaitTasks)
	with := func(i *mapping.Intent) func(*mapping.Link) { return func(l *mapping.Link) { l.Children[0].Intent = i } }
	const wait = "may still be under way"
	sent := mapping.Intent{Side: mapping.Planning, Sent: true, At: noon}
	old, issue, unsent := sent, sent, sent
	old.At, issue.Side, unsent.Sent = noon.Add(-time.Minute), mapping.GitHub, false
	checkRule(t, rule, []ruleCase{
		{name: "none", set: settles},
		{name: "one was sent", link: with(&sent), set: settles, err: wait},
		{name: "one was sent as long ago as planning may take", link: with(&old), set: settles},
		{name: "one was not sent", link: with(&unsent), set: settles},
		{name: "a line was sent to GitHub", link: with(&issue), set: settles},
		{name: "that of a sub-issue was sent", link: subIssue(func(p *mapping.Pair) { p.Intent = &sent }), set: settles, err: wait},
		{name: "the one of a line waits, and that of a sub-issue was sent", link: links(with(&unsent), subIssue(func(p *mapping.Pair) { p.Intent = &sent })), set: settles, err: wait},
	})
}
