package reconcile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// checklists has the route make tasks of lines, and the record know the card's earlier tasks.
func checklists(r *mapping.Route) { r.Tasks = mapping.TasksChecklist }

func taskedBefore(l *mapping.Link) { l.Family.Tasks, l.Family.Listed = mapping.TasksChecklist, true }

// line is a checklist item with its task, with changes.
func line(text string, task mapping.ObjectID, change ...func(*mapping.Pair)) func(*mapping.Link) {
	return func(l *mapping.Link) {
		base := mapping.Base{GitHub: text, Planning: text, Version: 1}
		todo := mapping.Base{GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: 1}
		p := &mapping.Pair{
			Kind: mapping.Checklist, State: mapping.Linked, Origin: mapping.GitHub, Nonce: "n" + text, Item: text, Card: mapping.CardID{ID: task},
			Base: map[mapping.Attribute]mapping.Base{mapping.Title: base, mapping.State: todo},
		}
		for _, f := range change {
			f(p)
		}
		l.Children = append(l.Children, p)
	}
}

// wanted is a line whose task is to be made, and toAdd a task whose line is.
func wanted(sent bool) func(*mapping.Pair) {
	return func(p *mapping.Pair) {
		p.State, p.Card, p.Base, p.Intent = mapping.Creating, mapping.CardID{}, nil, &mapping.Intent{Side: mapping.Planning, Sent: sent}
	}
}

func toAdd(p *mapping.Pair) {
	p.State, p.Origin, p.Intent = mapping.Creating, mapping.Planning, &mapping.Intent{Side: mapping.GitHub, Base: p.Base}
	p.Base = nil
}

func lineIn(state mapping.LinkState) func(*mapping.Pair) {
	return func(p *mapping.Pair) { p.State = state }
}

// taskOf has a task of the card seen.
func taskOf(id mapping.ObjectID, title string, change ...func(*mapping.Task)) func(work) {
	return func(w work) {
		t := mapping.Task{ID: id, CID: 5, Version: 1, Title: versioned(title, 1), State: versioned(mapping.StateTodo, 1), Owner: "c"}
		for _, f := range change {
			f(&t)
		}
		w.tasks.keepNewest(t)
	}
}

func marked(nonce, partner string) func(*mapping.Task) {
	return func(t *mapping.Task) { t.Summary = versioned(taskMarked("", nonce, partner), 1) }
}

func allListed(w work) { w.tasks.listed, w.tasks.whole = true, true }

// linesOf are the checklist items of a link in words.
func linesOf(w work) string {
	var said []string
	for _, c := range w.items() {
		s := fmt.Sprintf("%s %q", c.State, c.Item)
		if c.Card.ID != "" {
			s += " " + string(c.Card.ID)
		}
		if c.Intent != nil {
			s += fmt.Sprint(" for ", c.Intent.Side)
		}
		said = append(said, s)
	}
	return strings.Join(said, "; ")
}

// TestTasksAndLines: the tasks of a card are matched with the lines of its issue.
func TestTasksAndLines(t *testing.T) {
	say := func(w work) (string, error) {
		lineTasks(w).takeTasks()
		return linesOf(w), nil
	}
	one := links(taskedBefore, line("one", "t1"))
	const same, fresh = `linked "one" t1`, `linked "one" t1; creating "mine" t5 for github`
	checkSays(t, say, []ruleCase{
		{name: "its task is as it was", link: one, route: checklists, known: taskOf("t1", "one"), says: same},
		{name: "its task was not seen", link: one, route: checklists, says: same},
		{name: "a person made a task: it gets a line", link: one, route: checklists, known: taskOf("t5", "mine"), says: fresh, check: is("the task is on record as it is", func(w work) bool {
			return w.items()[1].Intent.Base[mapping.Title].Planning == "mine" && w.items()[1].Origin == mapping.Planning && w.items()[1].Nonce != ""
		})},
		{name: "a task without words", link: one, route: checklists, known: taskOf("t5", " "), says: same},
		{name: "a task, and the route only goes to planning", link: one, route: func(r *mapping.Route) { checklists(r); r.Direction = mapping.ToPlanning }, known: taskOf("t5", "mine"), says: same},
		{name: "a task of another card", link: one, route: checklists, known: taskOf("t5", "mine", func(t *mapping.Task) { t.Owner = "c2" }), says: same},
		{name: "a task of an unknown card", link: one, route: checklists, known: taskOf("t5", "mine", func(t *mapping.Task) { t.Owner = "" }), says: fresh},
		{name: "a task, and those of before are not on record", link: line("one", "t1"), route: checklists, known: taskOf("t5", "mine"), says: same},
		{name: "a task from before", link: links(one, func(l *mapping.Link) { l.Family.Old = []mapping.ObjectID{"t5"} }), route: checklists, known: taskOf("t5", "mine"), says: same},
		{name: "a task whose line is forgotten", link: links(one, func(l *mapping.Link) { l.Family.Forgotten = []mapping.ObjectID{"t5"} }), route: checklists, known: taskOf("t5", "mine"), says: same},
		{name: "the tracking task", link: one, route: checklists, known: taskOf("t", "mine"), says: same},
		{
			name: "a task with the text of a line that lost its own", link: links(one, line("mine", "", lineIn(mapping.Orphaned))), route: checklists, known: taskOf("t5", "mine"),
			says: `linked "one" t1; linked "mine" t5`, check: is("it is a person's", func(w work) bool { return w.items()[1].Origin == mapping.Planning }),
		},
		{name: "a task with another text", link: links(one, line("two", "", lineIn(mapping.Orphaned))), route: checklists, known: taskOf("t5", "mine"), says: `linked "one" t1; orphaned "two"; creating "mine" t5 for github`},
		{
			name: "a request whose answer was lost made it", link: links(one, line("two", "", wanted(true))), route: checklists, known: taskOf("t5", "two", marked("ntwo", itemPartner)),
			says: `linked "one" t1; linked "two" t5`, counts: []string{"3 lookup", "0 web planning title"}, check: tells("create"),
		},
		{
			name: "it did, and a person changed the task since", link: links(one, line("two", "", wanted(true))), route: checklists,
			known: taskOf("t5", "zwei", marked("ntwo", itemPartner), func(t *mapping.Task) { t.State.Value, t.Title.Version = mapping.StateDone, 2 }), says: `linked "one" t1; linked "two" t5`,
			check: is("that is a change of planning", func(w work) bool {
				b := w.items()[1].Base
				return b[mapping.Title].Planning == "two" && b[mapping.State].Planning == mapping.StateTodo && b[mapping.State].Version == 0
			}),
		},
		{
			name: "the store was lost: the task of a line that waits for one", link: links(one, line("two", "", wanted(false))), route: checklists,
			known: taskOf("t5", "two", marked("n7", itemPartner)), says: `linked "one" t1; linked "two" t5`,
			check: is("the bridge made it for a line", func(w work) bool { return w.items()[1].Nonce == "n7" && w.items()[1].Origin == mapping.GitHub }),
		},
		{
			name: "a person made a task and another one its line", link: links(one, line("two", "", wanted(false))), route: checklists, known: taskOf("t5", "two"), says: `linked "one" t1; linked "two" t5`,
			check: is("it is a person's", func(w work) bool { return w.items()[1].Nonce == "ntwo" && w.items()[1].Origin == mapping.Planning }),
		},
		{
			name: "the marker of the task that a lost answer made was taken away", link: links(one, line("two", "", wanted(true))), route: checklists,
			known: taskOf("t5", "two"), says: `linked "one" t1; linked "two" t5`,
		},
		{
			name: "a line whose own task may exist, and another one's", link: links(one, line("two", "", wanted(true))), route: checklists,
			known: taskOf("t5", "two", marked("n7", itemPartner)), says: `linked "one" t1; creating "two" for planning; left "two" t5`,
		},
		{name: "a copy of the task of a line", link: one, route: checklists, known: taskOf("t5", "mine", marked("none", itemPartner)), says: fresh, check: is("it has a nonce of its own", func(w work) bool { return w.items()[1].Nonce != "none" })},
		{name: "a copy, and the tasks of before are not on record", link: line("one", "t1"), route: checklists, known: taskOf("t5", "mine", marked("none", itemPartner)), says: same},
		{
			name: "a copy of a task whose line is forgotten", link: links(one, func(l *mapping.Link) { l.Family.Forgotten = []mapping.ObjectID{"t8"} }), route: checklists,
			known: knows(taskOf("t8", "old", marked("n8", itemPartner)), taskOf("t5", "mine", marked("n8", itemPartner))), says: fresh,
		},
		{
			name: "a task with another marker than that one", link: links(one, func(l *mapping.Link) { l.Family.Forgotten = []mapping.ObjectID{"t8"} }), route: checklists,
			known: knows(taskOf("t8", "old", marked("n8", itemPartner)), taskOf("t5", "mine", marked("n7", itemPartner))), says: `linked "one" t1; left "mine" t5`,
		},
		{
			name: "the store was lost: the task of a line that is not known yet", link: one, route: checklists, known: taskOf("t5", "mine", marked("n7", itemPartner)), says: `linked "one" t1; left "mine" t5`,
			check: is("the bridge made it for a line", func(w work) bool { return w.items()[1].Nonce == "n7" && w.items()[1].Origin == mapping.GitHub }),
		},
		{name: "the store was lost: a tracking task", link: one, route: checklists, known: taskOf("t5", "mine", marked("n7", trackingPartner)), says: same},
		{
			name: "its task is not among all tasks of the card: it is gone", link: links(one, func(l *mapping.Link) {
				l.Children[1].GoneSince = noon
				l.Children[1].InFlight = []mapping.Pending{{ID: "p"}}
			}),
			route: checklists, known: allListed, says: `orphaned "one"`,
			check: all(tells("lost"), is("nothing of it is known", func(w work) bool {
				c := w.items()[0]
				return c.Base == nil && len(c.InFlight) == 0 && c.GoneSince.IsZero()
			})),
		},
		{name: "its task went to another card", link: one, route: checklists, known: taskOf("t1", "one", func(t *mapping.Task) { t.Owner = "c2" }), says: `orphaned "one"`, check: tells("lost")},
		{
			name: "a task whose line is to be added was renamed", link: links(one, line("mine", "t5", toAdd)), route: checklists, known: taskOf("t5", "yours"), says: `linked "one" t1; creating "yours" t5 for github`,
			check: is("its line gets the new text", func(w work) bool { return w.items()[1].Intent.Base[mapping.Title].Planning == "yours" }),
		},
	})
}

// TestLinesOfABody: the lines of a body are matched with what is known of them.
func TestLinesOfABody(t *testing.T) {
	say := func(w work) (string, error) {
		lister(w).refreshList()
		return linesOf(w), nil
	}
	body := func(lines ...string) func(work) { return unchanged(bodied(strings.Join(lines, "\n"))) }
	one := links(taskedBefore, line("one", "t1"))
	gone := line("two", "t2")
	const same = `linked "one" t1`
	bound := func(n int) func(*mapping.Route) { return func(r *mapping.Route) { checklists(r); r.TasksPerCard = n } }
	named := func(to string) func(*mapping.Pair) {
		return func(p *mapping.Pair) {
			p.Pending = []mapping.Pending{{Side: mapping.GitHub, Attribute: mapping.Title, From: p.Item, To: to, Next: mapping.Base{GitHub: to, Planning: to, Version: 2}}}
		}
	}
	checkSays(t, say, []ruleCase{
		{name: "the body is not known", link: one, route: checklists, says: same},
		{name: "as it was", link: one, route: checklists, known: body("- [ ] one"), says: same, check: is("the line is known", func(w work) bool { return len(w.list.lines) == 1 })},
		{name: "a new line", link: one, route: checklists, known: body("- [ ] one", "- [x] two"), says: same + `; creating "two" for planning`, check: tells()},
		{name: "a new line, and the route only goes to GitHub", link: one, route: func(r *mapping.Route) { checklists(r); r.Direction = mapping.ToGitHub }, known: body("- [ ] one", "- [x] two"), says: same},
		{
			name: "a new line with the text of a person's task", link: links(one, func(l *mapping.Link) { l.Family.Tasks = "" }), route: checklists, known: knows(taskOf("t5", "two"), body("- [ ] one", "- [x] two")), says: same + `; linked "two" t5`,
			check: is("the task is a person's, and is matched once", func(w work) bool { return w.items()[1].Origin == mapping.Planning && len(w.list.joined) == 1 }),
		},
		{
			name: "two new lines with that text", link: links(one, func(l *mapping.Link) { l.Family.Tasks = "" }), route: checklists, known: knows(taskOf("t5", "two"), body("- [ ] one", "- [x] two", "- [ ] two")),
			says: same + `; linked "two" t5; creating "two" for planning`,
		},
		{
			name: "a new line with the text of a forgotten one", link: links(one, func(l *mapping.Link) { l.Family.Forgotten = []mapping.ObjectID{"t5", "t6"} }), route: checklists, known: knows(taskOf("t5", "two"), body("- [ ] one", "- [x] two")),
			says: same + `; linked "two" t5`, check: is("the other one is forgotten still", func(w work) bool { return len(w.link.Family.Forgotten) == 1 && w.link.Family.Forgotten[0] == "t6" }),
		},
		{name: "the card is full: the line stays text", link: one, route: bound(1), known: body("- [ ] one", "- [ ] two"), says: same, check: all(tells("full"), is("it is text", func(w work) bool { return len(w.link.Family.Lines) > 0 }))},
		{name: "that was told before", link: links(one, func(l *mapping.Link) { l.Family.Full = true }), route: bound(1), known: body("- [ ] one", "- [ ] two"), says: same, check: tells()},
		{name: "the card has room for one", link: one, route: bound(2), known: body("- [ ] one", "- [ ] two", "- [ ] three"), says: same + `; creating "two" for planning`, check: tells("full")},
		{name: "there is room again", link: links(one, func(l *mapping.Link) { l.Family.Full = true }), route: bound(2), known: body("- [ ] one"), says: same, check: is("that is known", func(w work) bool { return !w.link.Family.Full })},
		{name: "a line was removed", link: links(one, gone), route: checklists, known: body("- [ ] one"), says: same + `; left "two" t2`, check: tells("left")},
		{name: "it was removed before", link: links(one, line("two", "t2", lineIn(mapping.Left))), route: checklists, known: body("- [ ] one"), says: same + `; left "two" t2`, check: tells()},
		{name: "a line without its task was removed", link: links(one, line("two", "", lineIn(mapping.Orphaned))), route: checklists, known: body("- [ ] one"), says: same, check: tells()},
		{name: "a line was removed before its task was made", link: links(one, line("two", "", wanted(false))), route: checklists, known: body("- [ ] one"), says: same},
		{name: "a line was removed while its task may have been made", link: links(one, line("two", "", wanted(true))), route: checklists, known: body("- [ ] one"), says: same + `; creating "two" for planning`},
		{name: "a line that is to be added is not there", link: links(one, line("two", "t2", toAdd)), route: checklists, known: body("- [ ] one"), says: same + `; creating "two" t2 for github`},
		{name: "a line that was to be added is there", link: links(one, line("two", "t2", toAdd)), route: checklists, known: body("- [ ] one", "- [ ] two"), says: same + `; linked "two" t2`, check: tells("create")},
		{
			name: "a removed line is back", link: links(one, line("two", "t2", lineIn(mapping.Left))), route: checklists, known: body("- [ ] one", "- [ ] two"), says: same + `; linked "two" t2`,
			check: all(tells("back"), is("its task may have changed", func(w work) bool { return w.rejoined })),
		},
		{name: "a line was renamed", link: one, route: checklists, known: body("- [ ] one more"), says: `linked "one more" t1`, check: tells()},
		{
			name: "our write renamed it, whose answer was lost", link: links(taskedBefore, line("one", "t1", named("uno"))), route: checklists, known: body("- [ ] uno"), says: `linked "uno" t1`,
			check: all(tells("write"), is("both sides agree on the new text", func(w work) bool {
				return w.items()[0].Base[mapping.Title].GitHub == "uno" && len(w.items()[0].Pending) == 0
			})),
		},
		{
			name: "our write did not rename it", link: links(taskedBefore, line("one", "t1", named("uno"))), route: checklists, known: body("- [ ] one"), says: same,
			check: all(tells(), is("nothing is awaited", func(w work) bool {
				return w.items()[0].Base[mapping.Title].GitHub == "one" && len(w.items()[0].Pending) == 0
			})),
		},
	})
}

// TestRoomOnACard: a card has a bound on its tasks.
func TestRoomOnACard(t *testing.T) {
	t.Parallel()
	bound := func(r *mapping.Route) { checklists(r); r.TasksPerCard = 10 }
	part := func(change ...func(*mapping.Pair)) func(*mapping.Link) {
		return subIssue(append([]func(*mapping.Pair){func(p *mapping.Pair) { p.Card = mapping.CardID{} }}, change...)...)
	}
	for name, c := range map[string]struct {
		link  func(*mapping.Link)
		takes int
	}{
		"the tracking task":                            {nil, 0},
		"a line with a task":                           {line("one", "t1"), 1},
		"a line whose task is to be made":              {line("one", "", wanted(false)), 1},
		"a line whose task is gone":                    {line("one", "", lineIn(mapping.Orphaned)), 0},
		"a removed line, whose task stays":             {line("one", "t1", lineIn(mapping.Left)), 1},
		"a forgotten line, whose task stays":           {func(l *mapping.Link) { l.Family.Forgotten = []mapping.ObjectID{"t1", "t2"} }, 2},
		"a sub-issue with a task":                      {subIssue(), 1},
		"a sub-issue without one":                      {part(), 0},
		"a sub-issue whose task is to be made":         {part(func(p *mapping.Pair) { p.Intent = &mapping.Intent{Side: mapping.Planning} }), 0},
		"a sub-issue whose task may have been made":    {part(func(p *mapping.Pair) { p.Intent = &mapping.Intent{Side: mapping.Planning, Sent: true} }), 1},
		"a task whose sub-issue may have been made":    {part(func(p *mapping.Pair) { p.Intent = &mapping.Intent{Side: mapping.GitHub, Sent: true} }), 0},
		"a line that has no task, which waits for one": {line("one", "", func(p *mapping.Pair) { wanted(false)(p); p.Intent.Side = mapping.GitHub }), 0},
	} {
		w := (&ruleCase{link: c.link, route: bound}).work()
		if got := 10 - lister(w).room(); got != c.takes {
			t.Errorf("%s takes the room of %d, want %d", name, got, c.takes)
		}
	}
}

// TestBusyLines: a removed line with something under way is not forgotten.
func TestBusyLines(t *testing.T) {
	t.Parallel()
	flies := func(ago time.Duration) mapping.Journal {
		return mapping.Journal{InFlight: []mapping.Pending{{Side: mapping.Planning, Item: mapping.TaskRef("t1"), Attribute: mapping.Title, At: noon.Add(-ago)}}}
	}
	for name, c := range map[string]struct {
		item mapping.Pair
		busy bool
	}{
		"nothing":                      {mapping.Pair{}, false},
		"a create":                     {mapping.Pair{Intent: &mapping.Intent{}}, true},
		"a write":                      {mapping.Pair{Journal: mapping.Journal{Pending: []mapping.Pending{{ID: "p"}}}}, true},
		"a write that may take effect": {mapping.Pair{Journal: flies(time.Minute)}, true},
		"a write that cannot any more": {mapping.Pair{Journal: flies(48 * time.Hour)}, false},
	} {
		if got := isBusy(&c.item, noon); got != c.busy {
			t.Errorf("%s: busy %t, want %t", name, got, c.busy)
		}
	}
}
