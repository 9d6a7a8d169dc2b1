package reconcile

import (
	"strings"
	"testing"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// planLine is a plan for the first line.
func planLine(ds ...mapping.Decision) func(work) {
	return func(w work) { w.list.plans = map[*mapping.Pair]mapping.Plan{w.items()[0]: {Decisions: ds}} }
}

// lineAgreed says what is wrong where the sides agree on another text of the first line.
func lineAgreed(text string, version int64) func(work) string {
	return is("the sides agree on "+text, func(w work) bool {
		return w.items()[0].Base[mapping.Title] == mapping.Base{GitHub: text, Planning: text, Version: version}
	})
}

// TestWriteLines: decisions about lines are written to their tasks, once the issue and its card agree.
func TestWriteLines(t *testing.T) {
	rule := func(w work) (verdict, error) { return endIf(lineTasks(w).writeList()) }
	one := links(taskedBefore, line("one", "t1"))
	two := links(one, line("two", "t2"))
	seen := taskOf("t1", "one")
	rename := put(mapping.Title, "one", "uno")
	done := put(mapping.State, mapping.StateTodo, mapping.StateDone)
	renames := savedAnd(`Update task:t1 title="uno"@1 by robot`)
	list := []mapping.Task{{ID: "t1", Version: 2, Title: versioned("eins", 2), State: versioned(mapping.StateTodo, 1), Owner: "c"}}
	waits := func(l *mapping.Link) {
		l.Children[1].Pending = []mapping.Pending{{ID: "p", Side: mapping.Planning, Item: mapping.TaskRef("t1"), Attribute: mapping.Title, From: "one", To: "uno", At: noon, Next: mapping.Base{GitHub: "uno", Planning: "uno", Version: 2}}}
	}
	known := func(more ...func(work)) func(work) { return knows(append([]func(work){whole, seen}, more...)...) }
	midway := is("the plan is begun", func(w work) bool { return w.pair.Pace.Midway })
	relisted := is("what the tasks are now is known", func(w work) bool { return w.tasks.listed && w.tasks.seen["t1"].Title.Value == "eins" })
	checkRule(t, rule, []ruleCase{
		{name: "nothing is decided", link: one, route: checklists, known: known(), want: end, check: lineAgreed("one", 1)},
		{
			name: "another text", link: one, route: checklists, known: known(planLine(rename)), answers: map[string]any{"Update": titled("uno", 2)}, asked: renames,
			check: all(lineAgreed("uno", 2), midway, tells("write"), is("its task is known with the text", func(w work) bool { return w.tasks.seen["t1"].Title == versioned("uno", 2) })),
		},
		{
			name: "a tick", link: one, route: checklists, known: known(planLine(done)), asked: savedAnd(`Update task:t1 state="done"@1 by robot`),
			answers: map[string]any{"Update": shows(2, map[mapping.Attribute]mapping.Versioned{mapping.State: versioned(mapping.StateDone, 2)})},
			check: all(tells("write"), is("its task is known with it, and the card's counters moved by one", func(w work) bool {
				return w.tasks.seen["t1"].State == versioned(mapping.StateDone, 2) && w.pair.Card.CountersVersion == 1 && w.items()[0].Base[mapping.State].GitHub == mapping.StateDone
			})),
		},
		{
			name: "both sides have the same new text", link: one, route: checklists, want: end, check: all(lineAgreed("uno", 2), tells()),
			known: known(planLine(mapping.Decision{Attribute: mapping.Title, Action: mapping.Adopt, Base: mapping.Base{GitHub: "uno", Planning: "uno", Version: 2}})),
		},
		{
			name: "its text goes to GitHub first: nothing is agreed on yet", link: one, route: checklists, want: end, check: lineAgreed("one", 1),
			known: known(planLine(give(mapping.Title, "one", "uno"), mapping.Decision{Attribute: mapping.Title, Action: mapping.Adopt, Base: mapping.Base{GitHub: "x"}})),
		},
		{
			name: "somebody renamed the task meanwhile: all tasks are read", link: one, route: checklists, known: known(planLine(rename)), answers: map[string]any{"Update": &mapping.VersionConflict{}, "ReadTasks": list},
			asked: append(append([]string{}, renames...), "ReadTasks"), check: all(lineAgreed("one", 1), relisted),
		},
		{name: "planning is away", link: one, route: checklists, known: known(planLine(rename)), answers: map[string]any{"Update": errAway}, asked: renames, err: "unavailable", check: lineAgreed("one", 1)},
		{name: "the lease is lost", link: one, route: checklists, known: known(planLine(rename)), answers: map[string]any{"Save": errAway}, asked: renames[:1], err: "save link", check: all(lineAgreed("one", 1), is("nothing is on record", func(w work) bool { return len(w.items()[0].Pending) == 0 }))},
		{name: "the outcome of a write is not known: all tasks are read", link: links(one, waits), route: checklists, known: known(planLine(rename)), answers: map[string]any{"ReadTasks": list}, asked: []string{"ReadTasks"}, check: relisted},
		{name: "it is not, and they cannot be read", link: links(one, waits), route: checklists, known: known(), answers: map[string]any{"ReadTasks": errAway}, asked: []string{"ReadTasks"}, err: "unavailable"},
		{
			name: "it is not, and all tasks were read: it took effect", link: links(one, waits), route: checklists, known: knows(whole, taskOf("t1", "uno", func(t *mapping.Task) { t.Title.Version = 2 }), allListed),
			check: all(lineAgreed("uno", 2), is("nothing is awaited", func(w work) bool { return len(w.items()[0].Pending) == 0 })),
		},
		{
			name: "it is not, and all tasks were read: it did not take effect", link: links(one, waits), route: checklists, known: knows(whole, seen, allListed),
			check: all(lineAgreed("one", 1), is("nothing is awaited", func(w work) bool { return len(w.items()[0].Pending) == 0 })),
		},
		{name: "the task of the other line alone has a write of unknown outcome", link: links(two, waits), route: checklists, known: knows(whole, taskOf("t2", "two"), seen, allListed), check: lineAgreed("one", 1)},
		{name: "a task shows another text without a newer version", link: one, route: checklists, known: knows(whole, taskOf("t1", "eins")), answers: map[string]any{"ReadTasks": list}, asked: []string{"ReadTasks"}, check: relisted},
		{name: "it does as all tasks were read", link: one, route: checklists, known: knows(whole, taskOf("t1", "eins"), allListed), want: end},
		{name: "a line is back, and its task may have changed", link: one, route: checklists, known: known(func(w work) { w.rejoined = true }), answers: map[string]any{"ReadTasks": list}, asked: []string{"ReadTasks"}, check: relisted},
		{name: "a line is back, and all tasks were read", link: one, route: checklists, known: known(func(w work) { w.rejoined = true }, allListed), want: end},
		{
			name: "a new line gets its task", link: links(one, line("two", "", wanted(false))), route: checklists, known: known(),
			answers: map[string]any{"CreateTasks": []mapping.Task{{ID: "t2", Version: 1, Title: versioned("two", 1), Summary: versioned(taskMarked("", "ntwo", itemPartner), 1)}}}, asked: savedAnd("CreateTasks"),
			check: all(tells("create"), midway, is("it has", func(w work) bool { return w.items()[1].Card.ID == "t2" && w.items()[1].State == mapping.Linked })),
		},
		{
			name: "planning refused a line's text before", link: links(one, line("two", "", wanted(false), func(p *mapping.Pair) {
				p.Refused = map[mapping.Attribute]mapping.Refusal{mapping.Title: {Side: mapping.Planning, Value: mapping.DigestText("two")}}
			})), route: checklists, known: known(), want: end,
		},
		{name: "planning is away when a line gets its task", link: links(one, line("two", "", wanted(false))), route: checklists, known: known(), answers: map[string]any{"CreateTasks": errAway}, asked: savedAnd("CreateTasks"), err: "create tasks"},
	})
}

// TestLineWithoutWords: the text of a task goes to its line as it is, and a line is never without words.
func TestLineWithoutWords(t *testing.T) {
	say := func(w work) (string, error) {
		plan, err := decider(lineTasks(w).lineWork(w.items()[0])).decideItem()
		var said []string
		for _, d := range plan.Decisions {
			to := "-"
			if d.GitHub != nil {
				to = d.GitHub.To
			}
			said = append(said, strings.Join([]string{string(d.Attribute), string(d.Action), to}, " "))
		}
		return strings.Join(said, "; "), err
	}
	one := links(taskedBefore, line("one", "t1"))
	long := strings.Repeat("long ", 100) + "."
	renamed := func(to string) func(work) {
		return knows(unchanged(bodied("- [ ] one")), taskOf("t1", to, func(t *mapping.Task) { t.Title.Version = 2 }), func(w work) { lister(w).refreshList() })
	}
	checkSays(t, say, []ruleCase{
		{name: "the task has another text", link: one, route: checklists, known: renamed("uno"), says: "title to_github uno"},
		{name: "the task's text is longer than a title of GitHub may be", link: one, route: checklists, known: renamed(long), says: "title to_github " + long},
		{name: "the task has no text", link: one, route: checklists, known: renamed(" "), says: "title blocked -"},
		{
			name: "a write took effect late, and GitHub is away", link: links(one, func(l *mapping.Link) {
				l.Children[1].InFlight = []mapping.Pending{{ID: "p", Side: mapping.Planning, Item: mapping.TaskRef("t1"), Attribute: mapping.Title, From: "one", To: "uno", At: noon.Add(-time.Minute), Next: mapping.Base{GitHub: "uno", Planning: "uno", Version: 1}}}
			}), route: checklists, known: knows(taskOf("t1", "uno", func(t *mapping.Task) { t.Title.Version = 2 })), answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, err: "unavailable",
		},
	})
}

// TestUndoOfALine: the conflict about a line is undone in its line, or in its task.
func TestUndoOfALine(t *testing.T) {
	asked := []string{"ReadConflict", "ReadCard", "ReadTask", "ReadTasks"}
	then := func(more ...string) []string { return append(append([]string{}, asked...), more...) }
	undoing := func(base string) func(*mapping.Link) {
		return links(taskedBefore, agreed(mapping.Title, "a", "a"), line(base, "t1", func(p *mapping.Pair) { p.Base[mapping.Title] = mapping.Base{GitHub: base, Planning: base, Version: 2} }), func(l *mapping.Link) {
			l.Undo = map[mapping.Attribute]string{mapping.Title: "q"}
		})
	}
	have := func(line string) func(work) { return unchanged(bodied("above\n\n- [ ] " + line)) }
	lost := func(winner mapping.Side, task string, more map[string]any) map[string]any {
		c := mapping.Conflict{ID: "q", Task: "t1", Attribute: mapping.Title, GitHub: "uno", Planning: "eins", Winner: winner, State: mapping.ConflictSettled, UndoneBy: "eve"}
		return with(map[string]any{
			"ReadConflict": c, "ReadCard": mapping.Card{ID: "c", Version: 2, Title: versioned("a", 1)}, "ReadTask": mapping.Task{ID: "t", State: versioned("", 1)},
			"ReadTasks": []mapping.Task{{ID: "t1", Version: 2, Title: versioned(task, 2), State: versioned(mapping.StateTodo, 1), Owner: "c"}},
		}, more)
	}
	open := is("the undo waits until its value has crossed", func(w work) bool { return w.pair.Undo[mapping.Title] == "q" })
	over := is("the undo is done with", func(w work) bool { return len(w.pair.Undo) == 0 })
	checkRule(t, undo, []ruleCase{
		{
			name: "planning's text won: its line gets GitHub's", link: undoing("eins"), route: checklists, known: have("eins"), want: anew, check: all(open, tells("undo")),
			answers: lost(mapping.Planning, "eins", map[string]any{"EditIssue": issueOf(bodied("above\n\n- [ ] uno"))}), asked: then("Save", "BeginWrite", `EditIssue body="above\n\n- [ ] uno"`, "PutConflict title undone planning"),
		},
		{
			name: "GitHub's text won: its task gets planning's", link: undoing("uno"), route: checklists, known: have("uno"), want: anew, check: open,
			answers: lost(mapping.GitHub, "uno", map[string]any{"Update": titled("eins", 3)}), asked: then("Save", "BeginWrite", `Update task:t1 title="eins"@2 by robot`, "PutConflict title undone github"),
		},
		{
			name: "planning moves meanwhile", link: undoing("uno"), route: checklists, known: have("uno"), err: "planning moved while a conflict was undone", check: open,
			answers: lost(mapping.GitHub, "uno", map[string]any{"Update": &mapping.VersionConflict{}}), asked: then("Save", "BeginWrite", "Update"),
		},
		{
			name: "another line stays as it is", link: links(undoing("uno"), line("two", "t2")), route: checklists, known: have("uno\n- [ ] two"), want: anew, check: open,
			answers: lost(mapping.GitHub, "uno", map[string]any{"Update": titled("eins", 3), "ReadTasks": []mapping.Task{
				{ID: "t1", CID: 1, Version: 2, Title: versioned("uno", 2), Owner: "c"}, {ID: "t2", CID: 2, Version: 1, Title: versioned("two", 1), Owner: "c"},
			}}), asked: then("Save", "BeginWrite", `Update task:t1 title="eins"@2 by robot`, "PutConflict title undone github"),
		},
		{name: "its line was changed since", link: undoing("eins"), route: checklists, known: have("zwei"), want: anew, check: all(over, tells("left", "undo")), answers: lost(mapping.Planning, "eins", nil), asked: asked},
		{name: "its line was removed since", link: undoing("eins"), route: checklists, known: unchanged(bodied("above")), want: anew, check: over, answers: lost(mapping.Planning, "eins", nil), asked: asked},
		{name: "the card's tasks cannot be read", link: undoing("eins"), route: checklists, known: have("eins"), err: "unavailable", check: open, answers: lost(mapping.Planning, "eins", map[string]any{"ReadTasks": errAway}), asked: asked},
		{name: "the store does not take its end: it is tried again", link: undoing("eins"), route: checklists, known: have("zwei"), err: "read conflict", check: open, answers: lost(mapping.Planning, "eins", map[string]any{"ReadConflict": errAway}), asked: asked[:1]},
	})
}

// TestEditsThatAreBrought: an edit that our write ran over is brought back with our changes of the lines.
func TestEditsThatAreBrought(t *testing.T) {
	say := func(w work) (string, error) {
		l := journal.LostUpdate{Write: w.pair.Pending[0], Text: w.pair.Pending[0].Old.GitHub}
		return repairer(w).withOurItems(l, w.pair.Pending[0].To), nil
	}
	wrote := func(a mapping.Attribute, from, to, edit string) func(*mapping.Link) {
		return links(taskedBefore, line("one", "t1"), func(l *mapping.Link) {
			l.Pending = []mapping.Pending{{ID: "p", Side: mapping.GitHub, Attribute: a, From: from, To: to, Old: &mapping.Base{GitHub: edit}}}
		})
	}
	const from, ticked, edited = "above\n\n- [ ] one\n", "above\n\n- [x] one\n", "changed\n\n- [ ] one\n"
	checkSays(t, say, []ruleCase{
		{name: "our write ticked a line, and the edit changed the text", link: wrote(mapping.Summary, from, ticked, edited), route: checklists, says: "changed\n\n- [x] one\n"},
		{name: "the edit replaced the line that we ticked: both stand", link: wrote(mapping.Summary, from, ticked, "above\n\n- [ ] two\n"), route: checklists, says: "above\n\n- [x] one\n- [ ] two\n"},
		{name: "the route makes no tasks of lines", link: wrote(mapping.Summary, from, ticked, edited), says: edited},
		{name: "our write was one of the title", link: wrote(mapping.Title, "a", "b", "c"), route: checklists, says: "c"},
	})
}
