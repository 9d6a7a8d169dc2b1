package randomtest_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/mapping"
)

// withSub is an agreed world with a sub-issue and its task.
func withSub() seen {
	s := agreed()
	sub, task := s.issues[0], s.cards[0]
	sub.number, sub.id, sub.parent, sub.now, sub.past = 2, 12, 1, maps.Clone(sub.now), maps.Clone(sub.past)
	task.id, task.of, task.tracking, task.now, task.past = "t1", "c1", 0, maps.Clone(task.now), maps.Clone(task.past)
	task.marks = []mapping.Marker{{Kind: mapping.MarkTask, Partner: "12"}}
	s.issues, s.cards = append(s.issues, sub), append(s.cards, task)
	return s
}

// withList is an agreed world with a checklist of one line.
func withList() seen {
	s := agreed()
	at := time.Unix(1_700_000_000, 0)
	s.issues[0].list = &listed{said: "- [ ] item w1", lines: []listLine{{text: "item w1"}}, past: []write{{to: "- [ ] item w1", person: true, at: at}}}
	s.cards[0].list = &listed{said: "item w1", lines: []listLine{{text: "item w1"}}, past: []write{{to: "item w1", at: at}}}
	return s
}

func TestJudgeKnowsFamiliesAndLists(t *testing.T) {
	for name, c := range map[string]struct {
		of     func() seen
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"a sub-issue and its task":                    {withSub, func(*seen) {}, ""},
		"a sub-issue of a sub-issue":                  {withSub, func(s *seen) { grandchild(s) }, ""},
		"a task elsewhere":                            {withSub, func(s *seen) { s.cards[1].of = "c2" }, "its task is not on the card"},
		"a sub-issue without a parent":                {withSub, func(s *seen) { s.issues[1].parent = 0 }, "its task is not on the card"},
		"a sub-issue that people took off":            {withSub, func(s *seen) { s.issues[1].parent, s.reparented = 0, map[int]bool{2: true} }, ""},
		"a sub-issue of a pair that was parted first": {withSub, func(s *seen) { s.issues[1].parent, s.apart = 0, map[int]string{1: "c1"} }, ""},
		"a task of no sub-issue": {withSub, func(s *seen) {
			s.cards = append(s.cards, seenCard{id: "t2", of: "c1", bucket: bridgetest.Bucket})
		}, "no issue"},
		"a doubled task": {withSub, func(s *seen) {
			double := s.cards[1]
			double.id = "t2"
			s.cards = append(s.cards, double)
		}, "one of 2 cards"},
		"a task with another title": {withSub, func(s *seen) { s.cards[1].now[mapping.Title] = "one" }, "the title differs"},
		"a line and its task":       {withList, func(*seen) {}, ""},
		"a line without a task":     {withList, func(s *seen) { s.cards[0].list.lines = nil }, "has no such task"},
		"a tick that did not cross": {withList, func(s *seen) { s.issues[0].list.lines[0].done = true }, "has no such task"},
		"a task without a line":     {withList, func(s *seen) { s.issues[0].list.lines = nil }, "has no line"},
		"a doubled item": {withList, func(s *seen) {
			s.cards[0].list.lines = append(s.cards[0].list.lines, s.cards[0].list.lines[0])
		}, "doubled item"},
		"a lost word": {withList, func(s *seen) {
			s.cards[0].list.past = append(s.cards[0].list.past, write{from: "item w1", to: "item w1 w2", person: true})
		}, "lost word w2"},
		"a word that a lost ledger had": {withList, func(s *seen) {
			s.cards[0].list.past = append(s.cards[0].list.past, write{from: "item w1", to: "item w1 w2", person: true})
			s.forgotten, s.way = true, mapping.ToPlanning
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.of()
			c.change(&s)
			var got []string
			for _, one := range judge(s) {
				got = append(got, one.what)
			}
			if all := strings.Join(got, "\n"); c.want == "" && all != "" || !strings.Contains(all, c.want) {
				t.Errorf("complaints %q, want %q", all, c.want)
			}
		})
	}
}

// grandchild opens an issue below the sub-issue, whose task is on the same card.
func grandchild(s *seen) {
	sub, task := s.issues[1], s.cards[1]
	sub.number, sub.id, sub.parent = 3, 13, 2
	task.id, task.marks = "t2", []mapping.Marker{{Kind: mapping.MarkTask, Partner: "13"}}
	s.issues, s.cards = append(s.issues, sub), append(s.cards, task)
}
