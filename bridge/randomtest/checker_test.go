package randomtest_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/mapping"
)

// agreed is a world in which nothing is wrong: one issue that a person opened
// and edited, and the card that was made for it.
func agreed() seen {
	at := time.Unix(1_700_000_000, 0)
	past := func(person bool, values ...string) []write {
		var out []write
		from := ""
		for n, v := range values {
			out = append(out, write{from: from, to: v, person: person, at: at.Add(time.Duration(n) * time.Second)})
			from = v
		}
		return out
	}
	now := map[mapping.Attribute]string{mapping.Title: "two", mapping.Summary: "a\nb\nc", mapping.Estimate: "3", mapping.State: mapping.StateTodo}
	return seen{
		issues: []seenIssue{{number: 1, id: 11, estimates: 1, seenItem: seenItem{now: now, past: map[mapping.Attribute][]write{
			mapping.Title: past(true, "one", "two"), mapping.Summary: past(true, "a\nb", "a\nb\nc"),
			mapping.Estimate: past(true, "3"), mapping.State: past(true, mapping.StateTodo),
		}}}},
		cards: []seenCard{{id: "c1", bucket: bridgetest.Bucket, tracking: 1, seenItem: seenItem{
			now: maps.Clone(now), own: true, marks: []mapping.Marker{{Kind: mapping.MarkCard, Partner: "11"}},
			past: map[mapping.Attribute][]write{
				mapping.Title: past(false, "one", "two"), mapping.Summary: past(false, "a\nb", "a\nb\nc"),
				mapping.Estimate: past(false, "3"), mapping.State: past(false, mapping.StateTodo),
			},
		}}},
	}
}

// person adds a person's write to a history, after all that is there.
func person(i *seenItem, a mapping.Attribute, from, to string) {
	i.past[a] = append(i.past[a], write{from: from, to: to, person: true, at: time.Unix(1_700_000_100+int64(len(i.past[a])), 0)})
}

// copyOf adds a person's copy of the card. signed says that the bridge wrote its footer.
func copyOf(s *seen, signed bool) {
	c := s.cards[0]
	c.id, c.own, c.signed, c.tracking = "c2", false, signed, 0
	s.cards = append(s.cards, c)
}

func TestJudgeIsContent(t *testing.T) {
	for name, change := range map[string]func(*seen){
		"as it is": func(*seen) {},
		"a closed issue stays out": func(s *seen) {
			s.issues = append(s.issues, seenIssue{number: 2, id: 12, closed: true, estimates: 2})
		},
		"a card elsewhere stays out": func(s *seen) {
			s.cards = append(s.cards, seenCard{id: "c2", bucket: "Later"})
		},
		"line ends, bullets and references differ": func(s *seen) {
			s.issues[0].now[mapping.Summary], s.cards[0].now[mapping.Summary] = "* a\r\nb\r\nc\r\n", "- a\nb\nc"
			for _, i := range []*seenItem{&s.issues[0].seenItem, &s.cards[0].seenItem} {
				i.past[mapping.Summary] = nil
			}
		},
		"replaced by who saw it": func(s *seen) {
			person(&s.cards[0].seenItem, mapping.Title, "two", "between")
			person(&s.issues[0].seenItem, mapping.Title, "between", "two")
		},
		"in a conflict's comment": func(s *seen) {
			person(&s.cards[0].seenItem, mapping.Title, "one", "loser")
			s.issues[0].comments = []keptTexts{{"x.1-1", mapping.Title, []string{"loser", "two"}}}
		},
		"inside a merge": func(s *seen) {
			person(&s.cards[0].seenItem, mapping.Summary, "a\nb", "z\na\nb")
			s.issues[0].now[mapping.Summary], s.cards[0].now[mapping.Summary] = "z\na\nb\nc", "z\na\nb\nc"
		},
		"a removed estimate comes back": func(s *seen) { person(&s.issues[0].seenItem, mapping.Estimate, "3", "") },
		"an older value from a read that lagged, and the newer one again": func(s *seen) {
			past := s.cards[0].past
			at := past[mapping.Title][1].at
			past[mapping.Title] = append(past[mapping.Title],
				write{from: "two", to: "one", at: at.Add(time.Second / 2)}, write{from: "one", to: "two", at: at.Add(2 * time.Second)})
		},
		"a removed line that is back, as nothing tells whether its write had happened": func(s *seen) {
			c := &s.cards[0].seenItem
			c.past[mapping.Summary][1].unanswered = true
			person(c, mapping.Summary, "a\nb\nc", "a\nb\nd")
			s.issues[0].now[mapping.Summary], c.now[mapping.Summary] = "a\nb\nc\nd", "a\nb\nc\nd"
		},
		"people took their own edit back": func(s *seen) {
			person(&s.cards[0].seenItem, mapping.State, mapping.StateTodo, mapping.StateDone)
			person(&s.cards[0].seenItem, mapping.State, mapping.StateDone, mapping.StateTodo)
			person(&s.issues[0].seenItem, mapping.State, mapping.StateTodo, mapping.StateInProgress)
			s.issues[0].now[mapping.State], s.cards[0].now[mapping.State] = mapping.StateInProgress, mapping.StateInProgress
		},
		"people took their own edit back, right before which the bridge had passed others on": func(s *seen) {
			i := &s.issues[0].seenItem
			at := i.past[mapping.State][0].at
			i.past[mapping.State] = append(i.past[mapping.State],
				write{from: mapping.StateTodo, to: mapping.StateInProgress, at: at}, write{from: mapping.StateInProgress, to: mapping.StateTodo, at: at})
			person(&s.cards[0].seenItem, mapping.State, mapping.StateTodo, mapping.StateDone)
			person(&s.cards[0].seenItem, mapping.State, mapping.StateDone, mapping.StateTodo)
			i.past[mapping.State] = append(i.past[mapping.State],
				write{from: mapping.StateTodo, to: mapping.StateInProgress, person: true, at: at.Add(time.Minute)})
			s.issues[0].now[mapping.State], s.cards[0].now[mapping.State] = mapping.StateInProgress, mapping.StateInProgress
		},
		"a state that was run over on GitHub": func(s *seen) {
			person(&s.cards[0].seenItem, mapping.State, mapping.StateTodo, mapping.StateInProgress)
			person(&s.issues[0].seenItem, mapping.State, mapping.StateTodo, mapping.StateDone)
			i := &s.issues[0].seenItem
			at := i.past[mapping.State][1].at.Add(time.Second)
			i.past[mapping.State] = append(i.past[mapping.State], write{from: mapping.StateDone, to: mapping.StateInProgress, at: at})
			s.issues[0].now[mapping.State], s.cards[0].now[mapping.State] = mapping.StateInProgress, mapping.StateInProgress
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := agreed()
			change(&s)
			if got := judge(s); len(got) > 0 {
				t.Errorf("complaints: %v", got)
			}
		})
	}
}

func TestJudgeComplains(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*seen)
		want   string
	}{
		"an issue without a card": {func(s *seen) { s.cards = nil }, "no card"},
		"a card without an issue": {func(s *seen) { s.issues = nil }, "no issue"},
		"a person's card without an issue": {func(s *seen) {
			s.cards = append(s.cards, seenCard{id: "c2", bucket: bridgetest.Bucket})
		}, "no issue"},
		"a doubled card": {func(s *seen) {
			double := s.cards[0]
			double.id = "c2"
			s.cards = append(s.cards, double)
		}, "one of 2 cards"},
		"a doubled issue": {func(s *seen) {
			double := s.issues[0]
			double.number, double.own, double.marks = 2, true, []mapping.Marker{{Kind: mapping.MarkIssue, Partner: "c1"}}
			s.issues = append(s.issues, double)
		}, "it belongs to the issues"},
		"a copied marker on a person's issue": {func(s *seen) {
			s.issues = append(s.issues, seenIssue{number: 2, id: 12, seenItem: seenItem{marks: []mapping.Marker{{Kind: mapping.MarkIssue, Partner: "c1"}}}})
		}, "no card"},
		"a copied card that nothing saw":         {func(s *seen) { s.issues[0].own = true; copyOf(s, false) }, "no issue"},
		"a copied card with a footer of its own": {func(s *seen) { s.issues[0].own = true; copyOf(s, true) }, "one of 2 cards"},
		"no tracking task":                       {func(s *seen) { s.cards[0].tracking = 0 }, "0 tracking tasks"},
		"two of them":                            {func(s *seen) { s.cards[0].tracking = 2 }, "2 tracking tasks"},
		"two footers":                            {func(s *seen) { s.cards[0].marks = append(s.cards[0].marks, s.cards[0].marks[0]) }, "2 markers"},
		"two estimates":                          {func(s *seen) { s.issues[0].estimates = 2 }, "2 estimate labels"},
		"a stolen label":                         {func(s *seen) { s.issues[0].stolen = []string{"bug"} }, "people's labels"},
		"titles differ":                          {func(s *seen) { s.cards[0].now[mapping.Title] = "one" }, "the title differs"},
		"summaries differ":                       {func(s *seen) { s.cards[0].now[mapping.Summary] = "a\nb" }, "the summary differs"},
		"estimates differ":                       {func(s *seen) { s.cards[0].now[mapping.Estimate] = "" }, "the estimate differs"},
		"a state in planning was run over": {func(s *seen) {
			person(&s.issues[0].seenItem, mapping.State, mapping.StateTodo, mapping.StateInProgress)
			person(&s.cards[0].seenItem, mapping.State, mapping.StateTodo, mapping.StateDone)
			c := &s.cards[0].seenItem
			c.past[mapping.State][1].at = c.past[mapping.State][1].at.Add(time.Minute) // the later one
			at := c.past[mapping.State][1].at.Add(time.Second)
			c.past[mapping.State] = append(c.past[mapping.State], write{from: mapping.StateDone, to: mapping.StateInProgress, at: at})
			s.issues[0].now[mapping.State], c.now[mapping.State] = mapping.StateInProgress, mapping.StateInProgress
		}, "lost state"},
		"states differ":     {func(s *seen) { s.cards[0].now[mapping.State] = mapping.StateDone }, "the state differs"},
		"a doubled comment": {func(s *seen) { s.issues[0].comments = []keptTexts{{marker: "x.1-1"}, {marker: "x.1-1"}} }, "doubled comment"},
		"a comment said again under another id": {func(s *seen) {
			s.issues[0].comments = []keptTexts{{"x.1-1", mapping.Title, []string{"a", "b"}}, {"x.2-1", mapping.Title, []string{"a", "b"}}}
		}, "doubled comment"},
		"an edit taken back": {func(s *seen) {
			c := &s.cards[0].seenItem
			person(c, mapping.Title, "two", "three")
			c.past[mapping.Title] = append(c.past[mapping.Title], write{from: "three", to: "two"})
			s.issues[0].comments = []keptTexts{{"x.1-1", mapping.Title, []string{"two", "three"}}}
		}, "took back the title"},
		"a lost title":         {func(s *seen) { person(&s.cards[0].seenItem, mapping.Title, "one", "gone") }, "lost title"},
		"a lost first title":   {func(s *seen) { s.issues[0].past[mapping.Title][1].person = false }, "lost title"},
		"a lost line":          {func(s *seen) { person(&s.cards[0].seenItem, mapping.Summary, "a\nb", "z\na\nb") }, "lost summary"},
		"a line that was back": {func(s *seen) { person(&s.cards[0].seenItem, mapping.Summary, "a\nb", "a") }, "lost summary"},
		"a removed line that is back": {func(s *seen) {
			c := &s.cards[0].seenItem
			person(c, mapping.Summary, "a\nb\nc", "a\nb\nd")
			s.issues[0].now[mapping.Summary], c.now[mapping.Summary] = "a\nb\nc\nd", "a\nb\nc\nd"
		}, "lost summary"},
		"a lost estimate": {func(s *seen) { person(&s.cards[0].seenItem, mapping.Estimate, "3", "5") }, "lost estimate"},
		"a lost state": {func(s *seen) {
			person(&s.cards[0].seenItem, mapping.State, mapping.StateTodo, mapping.StateDone)
		}, "lost state"},
		"an edit taken back that the bridge had seen": {func(s *seen) {
			person(&s.issues[0].seenItem, mapping.State, mapping.StateTodo, mapping.StateInProgress)
			person(&s.issues[0].seenItem, mapping.State, mapping.StateInProgress, mapping.StateTodo)
			past := s.cards[0].past
			past[mapping.State] = append(past[mapping.State], write{
				from: mapping.StateTodo, to: mapping.StateInProgress,
				at: s.issues[0].past[mapping.State][1].at,
			})
			s.issues[0].now[mapping.State], s.cards[0].now[mapping.State] = mapping.StateInProgress, mapping.StateInProgress
		}, "lost state"},
		"kept under another attribute": {func(s *seen) {
			person(&s.cards[0].seenItem, mapping.Estimate, "3", "5")
			s.issues[0].comments = []keptTexts{{"x.1-1", mapping.Title, []string{"5"}}}
		}, "lost estimate"},
		"replaced by who did not see it": {func(s *seen) {
			person(&s.cards[0].seenItem, mapping.Title, "one", "gone")
			person(&s.issues[0].seenItem, mapping.Title, "one", "two")
		}, "lost title"},
		"seen, carried on and then lost": {func(s *seen) {
			person(&s.cards[0].seenItem, mapping.Summary, "a\nb", "z\na\nb")
			person(&s.cards[0].seenItem, mapping.Summary, "z\na\nb", "z\na\nb\nc")
		}, "lost summary"},
	} {
		t.Run(name, func(t *testing.T) {
			s := agreed()
			c.change(&s)
			got := judge(s)
			for _, one := range got {
				if strings.Contains(one.what, c.want) {
					return
				}
			}
			t.Errorf("complaints %v, want one of %q", got, c.want)
		})
	}
}

func TestChaosSettings(t *testing.T) {
	env := map[string]string{}
	get := func(name string) string { return env[name] }
	if seeds, of, err := chaosSettings(get); len(seeds) != 3 || of.lasts != 8*time.Second || err != nil {
		t.Errorf("without settings: %v %v %v", seeds, of, err)
	}
	env["PLANBRIDGE_CHAOS_SEEDS"], env["PLANBRIDGE_CHAOS_SECONDS"] = "50x", "30"
	if seeds, of, err := chaosSettings(get); len(seeds) != 50 || of.lasts != 30*time.Second || err != nil {
		t.Errorf("fifty seeds: %v %v %v", seeds, of, err)
	}
	env["PLANBRIDGE_CHAOS_SEEDS"] = "17 4711"
	if seeds, _, err := chaosSettings(get); len(seeds) != 2 || seeds[1] != 4711 || err != nil {
		t.Errorf("two seeds: %v %v", seeds, err)
	}
	env["PLANBRIDGE_CHAOS_SIZE"] = "large"
	if _, of, err := chaosSettings(get); of.items != 60 || of.acts != 700 || of.lasts != 2*time.Hour || err != nil {
		t.Errorf("a large run: %+v %v", of, err)
	}
	env["PLANBRIDGE_CHAOS_SIZE"] = "huge"
	if _, _, err := chaosSettings(get); err == nil {
		t.Error("a size is taken that there is not")
	}
	delete(env, "PLANBRIDGE_CHAOS_SIZE")
	for _, bad := range []string{"many", "x", "-1"} {
		env["PLANBRIDGE_CHAOS_SEEDS"] = bad
		if _, _, err := chaosSettings(get); err == nil {
			t.Errorf("seeds %q are taken", bad)
		}
	}
}
