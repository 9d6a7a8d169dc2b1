package randomtest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/mapping"
)

// The laws for what operators do to links, and the tests of their judge. Nothing is
// written on a pair while it is unlinked (see whileUnlinked), and one that stays so keeps
// what people write on each side. An undo brings the loser back, unless a person wrote
// the attribute again.

// isApart reports whether an issue's pair stays unlinked, or that of an issue above it.
func (s seen) isApart(i *seenIssue) bool {
	for range s.issues {
		if _, ok := s.apart[i.number]; ok {
			return true
		}
		at := slices.IndexFunc(s.issues, func(o seenIssue) bool { return o.number == i.parent })
		if at < 0 {
			return false
		}
		i = &s.issues[at]
	}
	return false
}

// isApartCard reports the same of a card, or of a task on one.
func (s seen) isApartCard(c *seenCard) bool {
	for _, id := range s.apart {
		if id == c.id || id == c.of {
			return true
		}
	}
	return false
}

// undoes complains of undone conflicts whose loser did not come back, though nobody wrote
// the attribute since the two values met.
func (j *judging) undoes(s seen, i *seenIssue, c *seenCard) {
	if s.forgotten {
		return
	}
	for n, m := range s.ledger {
		if m.number != i.number || !m.undone {
			continue
		}
		again := slices.ContainsFunc(s.ledger[:n], m.isOf) || slices.ContainsFunc(s.ledger[n+1:], m.isOf)
		if again || !m.isLast(i.past[m.attribute], m.github) || !m.isLast(c.past[m.attribute], m.planning) {
			continue
		}
		loser, on := m.loser()
		shown := map[mapping.Side]string{mapping.GitHub: i.now[m.attribute], mapping.Planning: c.now[m.attribute]}
		if !mapping.Equal(m.attribute, plainBullets(shown[on]), plainBullets(loser)) {
			j.complain(i, c, "an operator undid the conflict of the %s, and the loser %q did not come back: %q stands", m.attribute, loser, shown[on])
		}
	}
}

// isOf reports whether another conflict is of the same attribute of the same issue.
func (m *met) isOf(o met) bool { return o.number == m.number && o.attribute == m.attribute }

// isLast reports whether a value is the last that a person wrote, and was there before
// the conflict.
func (m *met) isLast(past []write, value string) bool {
	for _, w := range slices.Backward(past) {
		if w.person {
			return w.at.Before(m.at) && mapping.Equal(m.attribute, plainBullets(w.to), plainBullets(value))
		}
	}
	return false
}

// loser is the value that lost, and its side.
func (m *met) loser() (value string, on mapping.Side) {
	if m.winner == string(mapping.Planning) {
		return m.github, mapping.GitHub
	}
	return m.planning, mapping.Planning
}

// broughtBack are the values of an attribute of an issue that operators may have had written back.
func (s seen) broughtBack(number int) map[mapping.Attribute][]string {
	out := map[mapping.Attribute][]string{}
	for _, m := range s.ledger {
		if m.number == number && (m.undone || m.mayUndo) {
			loser, _ := m.loser()
			out[m.attribute] = append(out[m.attribute], loser)
		}
	}
	return out
}

func TestJudgeKnowsUnlinkedPairs(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"a title that stays on its side": {func(s *seen) {
			s.apart = map[int]string{1: "c1"}
			person(&s.cards[0].seenItem, mapping.Title, "two", "alice's")
			s.cards[0].now[mapping.Title] = "alice's"
		}, ""},
		"the same where it is linked": {func(s *seen) {
			person(&s.cards[0].seenItem, mapping.Title, "two", "alice's")
			s.cards[0].now[mapping.Title] = "alice's"
		}, "the title differs"},
		"a title that is gone": {func(s *seen) {
			s.apart = map[int]string{1: "c1"}
			person(&s.cards[0].seenItem, mapping.Title, "two", "alice's")
		}, "lost title"},
		"a second card": {func(s *seen) {
			s.apart = map[int]string{1: "c1"}
			double := s.cards[0]
			double.id = "c2"
			s.cards = append(s.cards, double)
		}, "one of 2 cards"},
		"a second card, from which an operator parted it before": {func(s *seen) {
			s.parted = map[int][]string{1: {"c2"}}
			double := s.cards[0]
			double.id = "c2"
			s.cards = append(s.cards, double)
		}, ""},
		"what somebody wrote on a card that it had before": {func(s *seen) {
			s.parted = map[int][]string{1: {"c2"}}
			person(&s.issues[0].seenItem, mapping.Title, "two", "octocat's")
			former := seenCard{id: "c2", seenItem: seenItem{now: map[mapping.Attribute]string{}, past: map[mapping.Attribute][]write{}}}
			former.past[mapping.Title] = []write{{from: "octocat's", to: "two", person: true, at: time.Unix(2_000_000_000, 0)}}
			s.cards = append(s.cards, former)
		}, ""},
		"a sub-issue below it": {func(s *seen) {
			s.apart = map[int]string{1: "c1"}
			s.issues = append(s.issues, seenIssue{number: 2, id: 12, parent: 1})
		}, ""},
		"a sub-issue with a task on its card, which has no marks": {func(s *seen) {
			s.apart = map[int]string{1: "c1"}
			subTask(s)
			s.issues[1].parent, s.cards[0].marks, s.cards[0].tracking = 1, nil, 0
		}, ""},
		"a sub-issue with a task on another card": {func(s *seen) {
			s.apart = map[int]string{1: "c0"}
			subTask(s)
			s.issues[1].parent, s.cards[0].marks, s.cards[0].tracking = 1, nil, 0
		}, "its task is not on the card of its parent"},
		"a task on its card": {func(s *seen) {
			s.apart = map[int]string{1: "c1"}
			s.cards = append(s.cards, seenCard{id: "t1", of: "c1", bucket: bridgetest.Bucket})
		}, ""},
		"another issue": {func(s *seen) {
			s.apart = map[int]string{1: "c1"}
			s.issues = append(s.issues, seenIssue{number: 2, id: 12})
		}, "no card"},
	} {
		t.Run(name, func(t *testing.T) { judgeAgreed(t, c.change, c.want) })
	}
}

func TestJudgeKnowsUndoneConflicts(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	conflict := func(s *seen, winner string) {
		s.cards[0].past[mapping.Title] = append(s.cards[0].past[mapping.Title], write{from: "one", to: "alice's", person: true, at: at.Add(time.Second)})
		s.ledger = []met{{number: 1, attribute: mapping.Title, github: "two", planning: "alice's", winner: winner, policy: winner, at: at.Add(time.Minute), undone: true}}
		s.issues[0].comments = []keptTexts{{"x.1-1", mapping.Title, []string{"two", "alice's"}}}
		s.decides = true
	}
	shows := func(s *seen, title string) {
		s.issues[0].now[mapping.Title], s.cards[0].now[mapping.Title] = title, title
	}
	for name, c := range map[string]struct {
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"planning won, GitHub's is back": {func(s *seen) { conflict(s, "planning") }, ""},
		"planning won, and it stands": {func(s *seen) {
			conflict(s, "planning")
			shows(s, "alice's")
		}, "did not come back"},
		"GitHub won, planning's is back": {func(s *seen) {
			conflict(s, "github")
			shows(s, "alice's")
		}, ""},
		"GitHub won, and it stands": {func(s *seen) { conflict(s, "github") }, "did not come back"},
		"written again since": {func(s *seen) {
			conflict(s, "planning")
			person(&s.cards[0].seenItem, mapping.Title, "alice's", "later")
			shows(s, "later")
		}, ""},
		"it goes one way, the follower has it": {func(s *seen) {
			conflict(s, "github")
			s.way = mapping.ToPlanning
			s.issues[0].comments = nil
			s.cards[0].past[mapping.Title] = append(s.cards[0].past[mapping.Title],
				write{from: "alice's", to: "two", at: at.Add(2 * time.Minute)}, write{from: "two", to: "alice's", at: at.Add(3 * time.Minute)})
			s.cards[0].now[mapping.Title] = "alice's"
		}, ""},
	} {
		t.Run(name, func(t *testing.T) { judgeAgreed(t, c.change, c.want) })
	}
}

// judgeAgreed judges an agreed world after a change, and expects a complaint, or none.
func judgeAgreed(t *testing.T, change func(*seen), want string) {
	t.Helper()
	s := agreed()
	change(&s)
	var got []string
	for _, one := range judge(s) {
		got = append(got, one.what)
	}
	if all := strings.Join(got, "\n"); want == "" && all != "" || !strings.Contains(all, want) {
		t.Errorf("complaints %q, want %q", all, want)
	}
}

func TestUnlinkedSpells(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	u := &unlinked{apart: true, spells: []span{{from: at}}}
	if !u.spells[0].has(at.Add(time.Hour)) {
		t.Error("a spell that lasts has no later moment")
	}
	u.end(at.Add(time.Minute))
	if u.apart || u.spells[0].has(at.Add(time.Hour)) || !u.spells[0].has(at.Add(time.Second)) {
		t.Errorf("after the pair is linked again: %+v", u)
	}
}
