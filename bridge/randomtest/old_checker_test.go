package randomtest_test

import (
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/mapping"
)

// importedWorld is an agreed world whose issue is older than the bridge and was
// imported.
func importedWorld() seen {
	s := agreed()
	s.issues[0].old = &oldItem{asleep: true}
	s.takenIn = takenIn{begun: mapping.ImportOpen, ended: mapping.ImportOpen}
	return s
}

func TestJudgeKnowsImports(t *testing.T) {
	never := func(s *seen) { s.takenIn = takenIn{} }
	alone := func(s *seen) { s.cards = nil }
	touch := func(s *seen) {
		past := s.issues[0].past[mapping.Title]
		past[1].at = past[0].at.Add(oldAge)
	}
	closed := func(s *seen) { s.issues[0].closed, s.issues[0].old.closed = true, true }
	all := func(s *seen) { s.takenIn = takenIn{begun: mapping.ImportAll, ended: mapping.ImportAll} }
	oldCard := func(s *seen) {
		s.cards = append(s.cards, seenCard{id: "c2", bucket: bridgetest.Bucket, old: &oldItem{}})
	}
	twin := func(s *seen) {
		s.takenIn.matching = true
		s.issues[0].old.twin, s.cards[0].old, s.cards[0].own = "c1", &oldItem{}, false
	}
	for name, c := range map[string]struct {
		changes []func(*seen)
		want    string // "": nothing is wrong
	}{
		"imported":                          {nil, ""},
		"missing":                           {[]func(*seen){alone}, "no card"},
		"imported twice":                    {[]func(*seen){func(s *seen) { s.cards = append(s.cards, s.cards[0]) }}, "one of 2 cards"},
		"closed, and only open ones taken":  {[]func(*seen){closed, alone}, ""},
		"closed, and taken all the same":    {[]func(*seen){closed}, "no import was to take it"},
		"closed since, by its card":         {[]func(*seen){func(s *seen) { s.issues[0].closed = true }}, ""},
		"closed since, and missing":         {[]func(*seen){func(s *seen) { s.issues[0].closed = true }, alone}, "no card"},
		"closed, and missing":               {[]func(*seen){closed, all, alone}, "no card"},
		"never imported":                    {[]func(*seen){never, alone}, ""},
		"never imported, and taken":         {[]func(*seen){never}, "no import was to take it"},
		"never imported, touched":           {[]func(*seen){never, touch, func(s *seen) { s.issues[0].old.asleep = false }}, ""},
		"never imported, touched, missing":  {[]func(*seen){never, touch, alone}, "no card"},
		"an old card without an import":     {[]func(*seen){never, alone, oldCard}, ""},
		"an old card that is missing":       {[]func(*seen){oldCard}, "no issue"},
		"joined":                            {[]func(*seen){twin}, ""},
		"an own card beside one to join":    {[]func(*seen){twin, func(s *seen) { s.issues[0].old.twin = "c2" }}, "did not join it"},
		"made of a title that is not clear": {[]func(*seen){twin, func(s *seen) { s.issues[0].old.apart = true }}, "no import was to take it"},
		"a card of such a title":            {[]func(*seen){twin, func(s *seen) { s.cards[0].old.apart = true }}, "no import was to take it"},
		"a lost title": {[]func(*seen){func(s *seen) {
			s.issues[0].now[mapping.Title], s.cards[0].now[mapping.Title] = "one", "one"
		}}, "lost title"},
	} {
		t.Run(name, func(t *testing.T) {
			s := importedWorld()
			for _, change := range c.changes {
				change(&s)
			}
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

func TestTouchedSinceTheFirstRun(t *testing.T) {
	s := importedWorld()
	if s.touched(&s.issues[0]) {
		t.Error("touched by what people did before")
	}
	past := s.issues[0].past[mapping.Title]
	for _, person := range []bool{false, true} {
		past[1].at, past[1].person = past[0].at.Add(oldAge+time.Second), person
		if s.touched(&s.issues[0]) != person {
			t.Errorf("touched: %t", !person)
		}
	}
}
