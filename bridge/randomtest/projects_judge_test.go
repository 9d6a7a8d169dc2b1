package randomtest_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/mapping"
)

// The laws for the cards that an issue had before. An issue has one card or task in two projects, except
// the cards from before it moved. Those carry no marker. An operator may have parted a card from it.
// People's texts on a former card are on it or on the issue.

// isFormer reports whether an issue had a card, or a task, before another one that it has now.
func (s seen) isFormer(i *seenIssue, c, now *seenCard) bool {
	if parted := s.parted[i.number]; slices.Contains(parted, c.id) && !slices.Contains(parted, now.id) && now.of == "" {
		return true
	}
	return s.named != nil && (c.of == "") == (now.of == "") && c.project != now.project && now.own && len(c.marks) == 0 &&
		(s.named[c.id][strconv.FormatInt(i.id, 10)] || s.named[strconv.Itoa(i.number)][c.id])
}

// formers are the cards that an issue had before the one that it has now.
func (s seen) formers(i *seenIssue, now *seenCard) (all []*seenCard) {
	for n := range s.cards {
		if c := &s.cards[n]; c.id != now.id && s.isFormer(i, c, now) {
			all = append(all, c)
		}
	}
	return all
}

// living are the cards of an issue without those that it had before.
func (s seen) living(i *seenIssue, found []*seenCard) []*seenCard {
	return slices.DeleteFunc(slices.Clone(found), func(c *seenCard) bool {
		return slices.ContainsFunc(found, func(now *seenCard) bool { return now != c && s.isFormer(i, c, now) })
	})
}

// everWas is all that was written of an attribute on the cards of an issue.
func (c *seenCard) everWas(a mapping.Attribute) []write {
	return slices.Concat(c.earlier[a], c.past[a])
}

// moves complains of what was lost on the cards that an issue had before, and of an issue that
// did not move.
func (j *judging) moves(s seen, i *seenIssue, c *seenCard) {
	j.overruled(s, i)
	if s.moved != "" && c.of == "" && c.project != s.moved {
		j.complain(i, c, "its issue was to be moved to the other project")
	}
	c.earlier = map[mapping.Attribute][]write{}
	for _, former := range s.formers(i, c) {
		j.former[former.id] = true
		for a, past := range former.past {
			c.earlier[a] = append(c.earlier[a], past...)
		}
		c.earlier[mapping.State] = append(c.earlier[mapping.State], former.tracked...)
		if c.list != nil && former.list != nil {
			c.list.past = slices.Concat(former.list.past, c.list.past)
			c.list.said += "\n" + former.list.said
		}
		since := *i
		since.past = map[mapping.Attribute][]write{}
		for _, a := range []mapping.Attribute{mapping.Title, mapping.Summary, mapping.Estimate} {
			since.past[a] = slices.Concat(i.past[a], c.past[a])
			j.lost(a, &since, former, former.past[a], since.past[a])
		}
	}
}

// outside reports whether something was made when no route was there for it, or right before.
func outside(away []span, made time.Time) bool {
	return slices.ContainsFunc(away, func(a span) bool { return a.has(made) || a.has(made.Add(unroutedBefore)) })
}

// moved is an agreed world whose issue was moved to a card in another project.
func moved() seen {
	s := agreed()
	old := s.cards[0]
	old.now, old.past = maps.Clone(old.now), maps.Clone(old.past)
	s.cards[0].id, s.cards[0].project, old.project = "c2", "other", "first"
	old.marks, old.tracking = nil, 0
	s.cards = append(s.cards, old)
	s.named, s.moved = map[string]map[string]bool{"c1": {"11": true}}, "other"
	return s
}

func TestJudgeKnowsMovedIssues(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"as it is":                       {func(*seen) {}, ""},
		"the old card has its marker":    {func(s *seen) { s.cards[1].marks = s.cards[0].marks }, "one of 2 cards"},
		"the old card was another's":     {func(s *seen) { s.named["c1"] = nil }, "no issue"},
		"it did not move":                {func(s *seen) { s.cards = []seenCard{agreed().cards[0]}; s.cards[0].project = "first" }, "was to be moved"},
		"two cards in the other project": {func(s *seen) { s.cards = append(s.cards, s.cards[0]); s.cards[2].id = "c3" }, "one of 2 cards"},
		"words stay on the old card": {func(s *seen) {
			person(&s.cards[1].seenItem, mapping.Title, "two", "w9")
			s.cards[1].now[mapping.Title] = "w9"
		}, ""},
		"written again on the old card": {func(s *seen) {
			person(&s.issues[0].seenItem, mapping.Title, "two", "w8")
			s.cards[1].past[mapping.Title] = append(s.cards[1].past[mapping.Title], write{from: "w8", to: "two", person: true, at: time.Unix(1_700_000_200, 0)})
		}, ""},
		"words of the old card are gone": {func(s *seen) { person(&s.cards[1].seenItem, mapping.Title, "two", "w9") }, "lost title"},
		"a state of the old card's tracking task won": {func(s *seen) {
			metState(s)
			s.cards[1].tracked = []write{{to: mapping.StateDone, person: true, at: time.Unix(1_700_000_010, 0)}}
		}, ""},
		"a state of nobody won":           {metState, "a person wrote"},
		"a card that no route takes":      {func(s *seen) { strange(s, time.Second) }, ""},
		"a card that a route should take": {func(s *seen) { strange(s, time.Hour) }, "no issue"},
	} {
		t.Run(name, func(t *testing.T) {
			judgeAgreed(t, func(s *seen) { *s = moved(); c.change(s) }, c.want)
		})
	}
}

// metState adds a conflict of the state that planning won with "done", after the state on GitHub was
// set twice.
func metState(s *seen) {
	person(&s.issues[0].seenItem, mapping.State, mapping.StateTodo, mapping.StateDone)
	last := write{from: mapping.StateDone, to: mapping.StateInProgress, person: true, at: time.Unix(1_700_000_150, 0)}
	s.issues[0].past[mapping.State] = append(s.issues[0].past[mapping.State], last)
	s.issues[0].now[mapping.State], s.cards[0].now[mapping.State] = mapping.StateDone, mapping.StateDone
	s.ledger = []met{{
		number: 1, attribute: mapping.State, github: mapping.StateInProgress, planning: mapping.StateDone,
		winner: "planning", policy: "merge", at: time.Unix(1_700_000_200, 0),
	}}
}

// strange adds a card that a person made so long after the route was taken away for a minute.
func strange(s *seen, after time.Duration) {
	at := time.Unix(1_700_000_000, 0)
	past := map[mapping.Attribute][]write{mapping.Title: {{to: "x", person: true, at: at.Add(after)}}}
	s.cards = append(s.cards, seenCard{id: "c9", bucket: bridgetest.Bucket, seenItem: seenItem{
		past: past, now: map[mapping.Attribute]string{mapping.Title: "x"}, away: []span{{at, at.Add(time.Minute)}},
	}})
}

func TestJudgeKnowsWhereIssuesLead(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"a card in each project": {func(s *seen) {
			s.cards = append(s.cards, s.cards[0])
			s.cards[1].id, s.cards[1].project = "c2", "other"
		}, "one of 2 cards"},
		"no card":                           {func(s *seen) { s.cards = nil }, "no card"},
		"no card, and the project was away": {func(s *seen) { s.cards, s.issues[0].unsure = nil, true }, ""},
	} {
		t.Run(name, func(t *testing.T) { judgeAgreed(t, c.change, c.want) })
	}
}

// TestPartnersNamed: a copied card has the footer of the original, and gets one of its own.
func TestPartnersNamed(t *testing.T) {
	keys := mapping.NewKeys([]byte("a key of the test"))
	footer := func(partner string) string {
		return keys.AppendComment("a text", mapping.Marker{Kind: mapping.MarkCard, Link: "l", Nonce: "n", Partner: partner})
	}
	texts := []write{{to: footer("11"), person: true}, {to: footer("12")}, {to: "a text"}, {to: footer("13"), person: true}}
	if got, want := partnersNamed(keys, texts), map[string]bool{"12": true}; !maps.Equal(got, want) {
		t.Errorf("the bridge named %v, want %v", got, want)
	}
}
