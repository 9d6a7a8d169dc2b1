package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// flying has a write in the record that was given up, and may take effect yet.
func flying(side mapping.Side, a mapping.Attribute, from, to string, change ...func(*mapping.Pending)) func(*mapping.Link) {
	return func(l *mapping.Link) {
		p := mapping.Pending{ID: "p", Side: side, Item: mapping.IssueRef(7), Attribute: a, From: from, To: to, At: noon.Add(-time.Minute)}
		if side == mapping.Planning {
			p.Item, p.Next = mapping.CardRef("c"), mapping.Base{GitHub: to, Planning: to, Version: 1}
		}
		for _, f := range change {
			f(&p)
		}
		l.InFlight = append(l.InFlight, p)
	}
}

func inFlight(n int) func(work) string {
	return is("the writes that may come yet are on record", func(w work) bool { return len(w.pair.InFlight) == n })
}

func TestLateWrites(t *testing.T) {
	todo := agreed(mapping.State, mapping.StateTodo, mapping.StateTodo)
	done := flying(mapping.GitHub, mapping.State, mapping.StateTodo, mapping.StateDone)
	closed := func(who string, more ...func(work)) func(work) {
		return knows(append([]func(work){unchanged(inState("closed"), by(who))}, more...)...)
	}
	asked := func(p *mapping.Pending) { p.Asked = true }
	title := agreed(mapping.Title, "a", "a")
	old := "x"
	history := func(by string) map[string]any {
		return map[string]any{"ReadEdits": []mapping.IssueEvent{{TitleFrom: &old, Title: "b", Sender: by, At: noon.Add(-30 * time.Second)}}}
	}
	checkRule(t, lateWrites, []ruleCase{
		{name: "none is under way"},
		{
			name: "one to planning took effect", link: links(agreed(mapping.Title, "a", "a"), flying(mapping.Planning, mapping.Title, "a", "b")), known: knows(unchanged(named("b")), func(w work) { w.p[mapping.Title] = versioned("b", 2) }),
			check: all(agreedOn(mapping.Title, "b", "b", 2), tells("recover"), inFlight(0)),
		},
		{
			name: "one to planning did, and the issue is not known", link: links(agreed(mapping.Title, "a", "a"), flying(mapping.Planning, mapping.Title, "a", "b")), known: func(w work) { w.p[mapping.Title] = versioned("b", 2) },
			answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, want: end, err: "unavailable", check: agreedOn(mapping.Title, "b", "b", 2),
		},
		{
			name: "one to planning cannot any more: somebody was faster", link: links(agreed(mapping.Title, "a", "a"), flying(mapping.Planning, mapping.Title, "a", "b")), known: func(w work) { w.p[mapping.Title] = versioned("z", 4) },
			check: all(agreedOn(mapping.Title, "a", "a", 1), inFlight(0), tells()),
		},
		{name: "one to planning may yet", link: links(agreed(mapping.Title, "a", "a"), flying(mapping.Planning, mapping.Title, "a", "b")), known: func(w work) { w.p[mapping.Title] = versioned("a", 1) }, check: inFlight(1)},
		{name: "one cannot be under way after a day", link: links(title, flying(mapping.GitHub, mapping.Title, "a", "b", func(p *mapping.Pending) { p.At = noon.Add(-25 * time.Hour) })), known: unchanged(), check: inFlight(0)},
		{name: "one to GitHub did not", link: links(todo, done), set: settles, known: unchanged(), check: all(inFlight(1), tells())},
		{
			name: "one to GitHub did: what both agree on is written again", link: links(todo, done), known: closed("bridge"), answers: map[string]any{"EditIssue": issueOf()}, asked: savedAnd(`EditIssue state="open" reason="reopened"`),
			check: all(tells("late", "write"), agreedOn(mapping.State, mapping.StateTodo, mapping.StateTodo, 1)),
		},
		{name: "one to GitHub may have, or a person set the same", link: links(todo, done), known: closed("ann"), check: all(notAgreedOn(mapping.State), tells("late"))},
		{name: "what it wrote was agreed on meanwhile", link: links(agreed(mapping.State, mapping.StateDone, mapping.StateDone), done), known: closed("bridge"), check: all(tells(), agreedOn(mapping.State, mapping.StateDone, mapping.StateDone, 1))},
		{
			name: "GitHub's memory tells that one ran over an edit", link: links(title, flying(mapping.GitHub, mapping.Title, "a", "b")), known: unchanged(named("b")),
			answers: with(history("bridge"), map[string]any{"EditIssue": issueOf(named("x"))}), asked: append([]string{"ReadEdits"}, savedAnd(`EditIssue title="x"`)...), counts: []string{"4 web", "0 web github title"}, check: tells("late", "write"),
		},
		{name: "GitHub's memory tells that a person wrote it", link: links(title, flying(mapping.GitHub, mapping.Title, "a", "b")), known: unchanged(named("b")), answers: history("ann"), asked: []string{"ReadEdits"}, check: tells()},
		{name: "GitHub does not tell", link: links(title, flying(mapping.GitHub, mapping.Title, "a", "b")), known: unchanged(named("b")), answers: map[string]any{"ReadEdits": mapping.ErrForbidden}, asked: []string{"ReadEdits"}, check: all(tells("unverified"), is("it is not asked again", func(w work) bool { return w.pair.InFlight[0].Asked }))},
		{name: "GitHub is away", link: links(title, flying(mapping.GitHub, mapping.Title, "a", "b")), known: unchanged(named("b")), answers: map[string]any{"ReadEdits": errAway}, asked: []string{"ReadEdits"}, check: all(tells("unverified"), is("it is asked again", func(w work) bool { return !w.pair.InFlight[0].Asked }))},
		{name: "it was asked, and nothing changed since", link: links(title, flying(mapping.GitHub, mapping.Title, "a", "b", asked)), known: unchanged(), check: tells()},
	})
}

func TestOverrun(t *testing.T) {
	rule := does(repairer.verifyWrites)
	answered := func(change ...func(*mapping.Pending)) func(*mapping.Link) {
		return func(l *mapping.Link) {
			p := mapping.Pending{
				ID: "p", Side: mapping.GitHub, Item: mapping.IssueRef(7), Attribute: mapping.Title, From: "a", To: "b", At: noon.Add(-2 * time.Second), After: noon.Add(-time.Minute), Answered: true,
				Old: &mapping.Base{GitHub: "a", Planning: "a", Version: 1}, Next: mapping.Base{GitHub: "b", Planning: "b", Version: 2},
			}
			for _, f := range change {
				f(&p)
			}
			l.Pending = []mapping.Pending{p}
			l.Base[mapping.Title] = mapping.Base{GitHub: "b", Planning: "b", Version: 2}
		}
	}
	lost := func(p *mapping.Pending) { p.Answered = false }
	echo := func(from string) func(work) {
		return func(w work) {
			w.edits = []mapping.IssueEvent{{TitleFrom: &from, Title: "b", Sender: "bridge", At: noon}}
		}
	}
	issue := knows(whole, unchanged(named("b")))
	verified := is("its echo has been dealt with", func(w work) bool { return len(w.pair.Pending) == 1 && w.pair.Pending[0].Verified })
	keep := []string{"ReadConflict", "ReadConflict", "PutConflict title settled planning", "Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict"}
	old := func(l *mapping.Link) { l.Base[mapping.Title] = mapping.Base{GitHub: "a", Planning: "a", Version: 1} }
	overdue := answered(func(p *mapping.Pending) { p.At = noon.Add(-time.Hour) })
	checkRule(t, rule, []ruleCase{
		{name: "no write waits for its echo"},
		{name: "an echo shows that it ran over nothing", link: answered(), set: settles, known: knows(issue, echo("a")), check: all(verified, tells())},
		{name: "no echo yet", link: answered(), set: settles, known: issue, check: echoes(1)},
		{name: "it ran over an edit: planning's text stands, and the edit is kept", link: answered(), set: settles, known: knows(issue, echo("x")), answers: newEntry(nil), asked: keep, counts: []string{"1 web title planning", "4 web"}, check: all(verified, tells("conflict", "lost update"))},
		{
			name: "it did, and GitHub's texts win: the edit is written again", link: answered(), set: settles, route: policy(mapping.PolicyGitHub), known: knows(issue, echo("x")), answers: newEntry(map[string]any{"EditIssue": issueOf(named("x"))}),
			asked: append([]string{"ReadConflict", "ReadConflict", "PutConflict title settled github", "Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict"}, savedAnd(`EditIssue title="x"`)...), check: tells("conflict", "lost update", "write"),
		},
		{
			name: "it did, and a newer edit stands", link: answered(), set: settles, route: policy(mapping.PolicyGitHub), known: knows(whole, unchanged(named("n")), echo("x")), answers: newEntry(nil), asked: keep, check: tells("conflict", "lost update"),
		},
		{name: "it did, and the edit seems to stand there again: the read may lag", link: answered(), set: settles, known: knows(whole, unchanged(named("x")), echo("x")), err: "it may lag", check: echoes(1)},
		{name: "it did long ago, and the edit stands there again", link: answered(func(p *mapping.Pending) { p.At = noon.Add(-20 * time.Second) }), set: settles, known: knows(whole, unchanged(named("x")), echo("x")), check: all(verified, tells("lost update"))},
		{name: "it did, and the issue is not known: it is read", link: answered(), set: settles, known: knows(whole, echo("x")), answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, err: "unavailable"},
		{name: "the repository is public: the edit is kept once it is private", link: answered(), set: settles, known: knows(issue, echo("x")), answers: newEntry(map[string]any{"ReadPublic": Publicity{Public: true, Known: true}}), asked: []string{"ReadConflict", "ReadConflict", "PutConflict", "Save", "BeginWrite", "ReadPublic", "ReadConflict", "PutConflict"}, check: all(echoes(1), is("that is known", func(w work) bool { return w.withheld != nil }))},
		{name: "its answer was lost, and it happened", link: links(answered(lost), old), set: settles, known: issue, check: all(agreedOn(mapping.Title, "b", "b", 2), tells("recover"), echoes(1))},
		{name: "its answer was lost, and it did not happen", link: links(answered(lost), old), set: settles, known: knows(whole, unchanged(named("a"))), check: all(agreedOn(mapping.Title, "a", "a", 1), inFlight(1), openWrites(0))},
		{name: "its answer was lost, and the issue is not known", link: links(answered(lost), old), set: settles, known: whole, answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, err: "unavailable", check: openWrites(1)},
		{name: "its echo is overdue, and GitHub tells that it ran over nothing", link: overdue, set: settles, known: issue, answers: map[string]any{"ReadEdits": titleEdit("a", "b", "bridge")}, asked: []string{"ReadEdits"}, check: verified},
		{name: "its echo is overdue, and GitHub tells of no such edit", link: overdue, set: settles, known: issue, answers: map[string]any{"ReadEdits": []mapping.IssueEvent{}}, asked: []string{"ReadEdits"}, check: all(openWrites(0), tells("unverified"))},
		{name: "its echo is overdue, and GitHub does not tell", link: overdue, set: settles, known: issue, answers: map[string]any{"ReadEdits": mapping.ErrForbidden}, asked: []string{"ReadEdits"}, check: all(openWrites(0), tells("unverified"))},
		{name: "its echo is overdue, and GitHub is away", link: overdue, set: settles, known: issue, answers: map[string]any{"ReadEdits": errAway}, asked: []string{"ReadEdits"}, check: all(echoes(1), tells())},
		{
			name: "half of an exchange of labels was done when the process ended", set: settles, known: unchanged(labelled("points/3", "points/5")), answers: map[string]any{"RemoveLabel": []string{"points/5"}}, asked: savedAnd("RemoveLabel points/3"), check: hasLabels("points/5"),
			link: links(agreed(mapping.Estimate, "3", "3"), func(l *mapping.Link) {
				l.Pending = []mapping.Pending{{ID: "p", Side: mapping.GitHub, Item: mapping.IssueRef(7), Attribute: mapping.Estimate, From: "3", To: "5", At: noon, Next: mapping.Base{GitHub: "5", Planning: "5", Version: 2}}}
			}),
		},
		{
			name: "a close whose answer was lost, of an issue that is open: GitHub says that it was closed", set: settles, known: unchanged(), answers: map[string]any{"ReadActed": noon.Add(-time.Second), "ReadTask": mapping.Task{ID: "t", State: versioned(mapping.StateTodo, 1)}}, asked: []string{"ReadTask", "ReadActed"}, err: "it may lag", check: all(openWrites(0), agreedOn(mapping.State, mapping.StateDone, mapping.StateDone, 2)),
			link: links(agreed(mapping.State, mapping.StateTodo, mapping.StateTodo), func(l *mapping.Link) {
				l.Pending = []mapping.Pending{{ID: "p", Side: mapping.GitHub, Item: mapping.IssueRef(7), Attribute: mapping.State, From: mapping.StateTodo, To: mapping.StateDone, At: noon, Old: &mapping.Base{GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: 1}, Next: mapping.Base{GitHub: mapping.StateDone, Planning: mapping.StateDone, Version: 2}}}
			}),
		},
		{
			name: "a close whose answer was lost, of an issue that is open: GitHub says that it was closed after that", set: settles, known: unchanged(), answers: map[string]any{"ReadActed": noon.Add(time.Second), "ReadTask": mapping.Task{ID: "t", State: versioned(mapping.StateTodo, 1)}}, asked: []string{"ReadTask", "ReadActed"}, err: "it may lag", check: openWrites(1),
			link: links(agreed(mapping.State, mapping.StateTodo, mapping.StateTodo), func(l *mapping.Link) {
				l.Pending = []mapping.Pending{{ID: "p", Side: mapping.GitHub, Item: mapping.IssueRef(7), Attribute: mapping.State, From: mapping.StateTodo, To: mapping.StateDone, At: noon, Old: &mapping.Base{GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: 1}, Next: mapping.Base{GitHub: mapping.StateDone, Planning: mapping.StateDone, Version: 2}}}
			}),
		},
		{
			name: "a close whose answer was lost, of an issue that is open: GitHub is away", set: settles, known: unchanged(), answers: map[string]any{"ReadActed": errAway, "ReadTask": mapping.Task{ID: "t", State: versioned(mapping.StateTodo, 1)}}, asked: []string{"ReadTask", "ReadActed"}, err: "ask whether a write of the state happened", check: openWrites(1),
			link: links(agreed(mapping.State, mapping.StateTodo, mapping.StateTodo), func(l *mapping.Link) {
				l.Pending = []mapping.Pending{{ID: "p", Side: mapping.GitHub, Item: mapping.IssueRef(7), Attribute: mapping.State, From: mapping.StateTodo, To: mapping.StateDone, At: noon, Old: &mapping.Base{GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: 1}, Next: mapping.Base{GitHub: mapping.StateDone, Planning: mapping.StateDone, Version: 2}}}
			}),
		},
		{
			name: "a close whose answer was lost, of an issue that is open: GitHub does not tell", set: settles, known: unchanged(), answers: map[string]any{"ReadActed": mapping.ErrForbidden, "ReadTask": mapping.Task{ID: "t", State: versioned(mapping.StateTodo, 1)}}, asked: []string{"ReadTask", "ReadActed"}, check: all(openWrites(0), agreedOn(mapping.State, mapping.StateTodo, mapping.StateTodo, 1)),
			link: links(agreed(mapping.State, mapping.StateTodo, mapping.StateTodo), func(l *mapping.Link) {
				l.Pending = []mapping.Pending{{ID: "p", Side: mapping.GitHub, Item: mapping.IssueRef(7), Attribute: mapping.State, From: mapping.StateTodo, To: mapping.StateDone, At: noon, Old: &mapping.Base{GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: 1}, Next: mapping.Base{GitHub: mapping.StateDone, Planning: mapping.StateDone, Version: 2}}}
			}),
		},
		{name: "the lease is lost", link: answered(), set: settles, route: policy(mapping.PolicyGitHub), known: knows(issue, echo("x")), answers: newEntry(map[string]any{"Save": store.ErrLeaseLost}), asked: []string{"ReadConflict", "ReadConflict", "PutConflict", "Save"}, err: "lease"},
	})
}

// titleEdit is GitHub's memory of one edit of the title.
func titleEdit(from, to, sender string) []mapping.IssueEvent {
	return []mapping.IssueEvent{{TitleFrom: &from, Title: to, Sender: sender, At: noon.Add(-30 * time.Second)}}
}
