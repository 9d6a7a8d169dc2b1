package poll_test

import (
	"testing"
	"time"

	"planbridge/bridge/poll"
	"planbridge/mapping"
)

// tasked is a settled world on whose route tasks stand for something, with a
// linked card "a" in an active sprint.
func tasked(t *testing.T, mode string, old ...mapping.Task) (*world, *mapping.Link) {
	t.Helper()
	w := newWorld(t)
	w.routes[0].Tasks = mode
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.items["s"] = listing{cards: []mapping.Card{card("a")}, tasks: old}
	w.adopted()
	w.poll()
	l := w.link(card("a"))
	w.store.writes()
	return w, l
}

// TestNewTask: a task that no link knows comes to the link of its card, in both
// forms of a sprint's listing.
func TestNewTask(t *testing.T) {
	for _, mode := range []string{mapping.TasksSubIssues, mapping.TasksChecklist} {
		for _, form := range []string{"flat", "nested"} {
			w, l := tasked(t, mode)
			made := task("t", 1)
			made.Owner = "a"
			show := listing{cards: []mapping.Card{card("a")}, tasks: []mapping.Task{made}}
			if form == "nested" {
				show = listing{cards: []mapping.Card{card("a", func(c *mapping.Card) { c.Tasks = []mapping.Task{made} })}}
			}
			w.planned.items["s"] = show
			w.poll()
			if got := decode[mapping.Task](t, w.work(l), mapping.TaskRef("t")); got.Version != 1 {
				t.Errorf("%s, %s: task %+v", mode, form, got)
			}
			w.poll()
			if c := w.work(l); c != nil {
				t.Errorf("%s, %s: told of the same task again", mode, form)
			}
			show.tasks, made.Version = []mapping.Task{made}, 2
			show.tasks[0].Version = 2
			w.planned.items["s"] = show
			w.poll()
			if got := decode[mapping.Task](t, w.work(l), mapping.TaskRef("t")); got.Version != 2 {
				t.Errorf("%s, %s: changed task %+v", mode, form, got)
			}
		}
	}
}

// TestNewTaskWithoutMeaning: where tasks stand for nothing nobody is told.
func TestNewTaskWithoutMeaning(t *testing.T) {
	w, l := tasked(t, mapping.TasksNone)
	made := task("t", 1)
	made.Owner = "a"
	w.planned.items["s"] = listing{cards: []mapping.Card{card("a")}, tasks: []mapping.Task{made}}
	w.poll()
	if c := w.work(l); c != nil {
		t.Errorf("told of a task: %v", c.Inbox)
	}
}

// TestOldTask: a task of the first poll is no news to its card, then or when it changes, until a
// link has it. That also holds for later processes.
func TestOldTask(t *testing.T) {
	old := task("t", 1)
	old.Owner = "a"
	w, l := tasked(t, mapping.TasksChecklist, old)
	w.poll()
	w.restart()
	old.Version = 2
	w.planned.items["s"] = listing{cards: []mapping.Card{card("a")}, tasks: []mapping.Task{old}}
	w.poll()
	if c := w.work(l); c != nil {
		t.Fatalf("told of an old task: %v", c.Inbox)
	}
	taken := w.link(card("b"), func(l *mapping.Link) {
		l.Children = []*mapping.Pair{{Kind: mapping.Checklist, State: mapping.Linked, Card: mapping.CardID{ID: "t"}}}
	})
	old.Version = 3
	w.planned.items["s"] = listing{cards: []mapping.Card{card("a")}, tasks: []mapping.Task{old}}
	w.poll()
	if got := decode[mapping.Task](t, w.work(taken), mapping.TaskRef("t")); got.Version != 3 {
		t.Errorf("task %+v", got)
	}
}

// TestCardEntersWithTask: a card that a sprint shows first, with a task, enters
// with it.
func TestCardEntersWithTask(t *testing.T) {
	w := settled(t)
	w.routes[0].Tasks = mapping.TasksSubIssues
	made := task("t", 1)
	made.Owner = "a"
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.items["s"] = listing{cards: []mapping.Card{card("a")}, tasks: []mapping.Task{made}}
	w.planned.put(incoming, "Incoming", card("a"))
	w.poll()
	c := w.work(w.onlyLink())
	decode[mapping.Card](t, c, mapping.CardRef("a"))
	decode[mapping.Task](t, c, mapping.TaskRef("t"))
}

// TestSweepFindsNewAndMoved: the sweep visits every linked card on which tasks
// may appear, and has the reconcile look for one that is no longer there.
func TestSweepFindsNewAndMoved(t *testing.T) {
	w := settled(t)
	w.routes[0].Tasks = mapping.TasksChecklist
	w.options.TaskSweepInterval = w.options.Interval
	w.restart()
	l := w.link(card("a"))
	made := task("t", 1)
	made.Owner = "a"
	w.planned.tasks["a"] = []mapping.Task{made}
	w.poll()
	decode[mapping.Task](t, w.work(l), mapping.TaskRef("t"))

	w = settled(t)
	w.options.TaskSweepInterval = time.Minute
	w.restart()
	l = w.link(card("a"), func(l *mapping.Link) {
		l.Children = []*mapping.Pair{
			{Kind: mapping.Tracking, State: mapping.Linked, Card: mapping.CardID{ID: "moved"}},
			{Kind: mapping.Checklist, State: mapping.Orphaned, Card: mapping.CardID{ID: "gone"}},
		}
	})
	w.poll()
	if c := w.work(l); c == nil || len(c.Events) != 1 {
		t.Errorf("claim %+v: want it due, to look", c)
	}
	w = settled(t)
	w.options.TaskSweepInterval = time.Minute
	w.restart()
	l = w.link(card("a"), func(l *mapping.Link) {
		l.Children = []*mapping.Pair{{Kind: mapping.Checklist, State: mapping.Orphaned, Card: mapping.CardID{ID: "gone"}}}
	})
	w.poll()
	if c := w.work(l); c != nil {
		t.Errorf("looks for a task that is known to be gone")
	}
}
