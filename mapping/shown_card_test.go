package mapping_test

import (
	"slices"
	"testing"

	"planbridge/mapping"
)

func cardScheme(pattern string) mapping.LabelScheme {
	return mapping.LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}", Card: pattern}
}

// TestCardLabels has a row for each outcome of showing a card's number.
func TestCardLabels(t *testing.T) {
	for name, c := range map[string]struct {
		pattern             string
		made, current       []string
		cid                 int64
		add, remove, stayed []string
	}{
		"off":                                  {"", nil, []string{"bug", "card/7"}, 7, nil, nil, nil},
		"shown at first":                       {"card/{value}", nil, []string{"bug"}, 7, []string{"card/7"}, nil, []string{"card/7"}},
		"shown, and people's stay":             {"card/{value}", nil, []string{"card/9"}, 7, []string{"card/7"}, nil, []string{"card/7"}},
		"shown already":                        {"card/{value}", []string{"card/7"}, []string{"card/7"}, 7, nil, nil, []string{"card/7"}},
		"ours, in another case":                {"card/{value}", []string{"Card/7"}, []string{"Card/7"}, 7, nil, nil, []string{"Card/7"}},
		"a person's says it":                   {"card/{value}", nil, []string{"Card/7"}, 7, nil, nil, nil},
		"taken off by hand":                    {"card/{value}", []string{"card/7"}, nil, 7, []string{"card/7"}, nil, []string{"card/7"}},
		"another card":                         {"card/{value}", []string{"card/7"}, []string{"card/7", "card/9"}, 8, []string{"card/8"}, []string{"card/7"}, []string{"card/7", "card/8"}},
		"another pattern":                      {"no/{value}", []string{"card/7"}, []string{"card/7"}, 7, []string{"no/7"}, []string{"card/7"}, []string{"card/7", "no/7"}},
		"switched off":                         {"", []string{"card/7"}, []string{"card/7", "card/9"}, 7, nil, []string{"card/7"}, []string{"card/7"}},
		"the number is not known":              {"card/{value}", []string{"card/7"}, []string{"card/7"}, 0, nil, nil, []string{"card/7"}},
		"an older one was taken off by hand":   {"card/{value}", []string{"card/7", "card/8"}, []string{"card/8"}, 8, nil, nil, []string{"card/8"}},
		"a person made it after ours had gone": {"", nil, []string{"card/7"}, 8, nil, nil, nil},
	} {
		scheme, s, card := cardScheme(c.pattern), mapping.Shown{Made: c.made}, &mapping.Card{CID: c.cid}
		s.Carry(c.current, card, scheme)
		add, remove := s.Project(c.current, card, scheme)
		if s.Make(add, scheme); !slices.Equal(add, c.add) || !slices.Equal(remove, c.remove) || !slices.Equal(s.Made, c.stayed) {
			t.Errorf("%s: add %q, remove %q, made %q; want %q, %q, %q", name, add, remove, s.Made, c.add, c.remove, c.stayed)
		}
		now := slices.DeleteFunc(slices.Concat(c.current, add), func(l string) bool { return slices.Contains(remove, l) })
		s.Carry(now, card, scheme)
		if add, remove := s.Project(now, card, scheme); len(add)+len(remove) > 0 {
			t.Errorf("%s: a second time it adds %q and removes %q", name, add, remove)
		}
		if add, remove := s.Project(s.Labels, card, scheme); len(add)+len(remove) > 0 {
			t.Errorf("%s: from the record it adds %q and removes %q", name, add, remove)
		}
	}
}

// TestGoneCardLabelsStayGone: a number's label that the bridge made and somebody took off is not
// taken off again.
func TestGoneCardLabelsStayGone(t *testing.T) {
	shown := &mapping.Shown{Made: []string{"card/6", "card/7"}}
	card := &mapping.Card{CID: 8}
	add, remove := shown.Project([]string{"bug", "card/7"}, card, cardScheme("card/{value}"))
	if len(add) != 1 || add[0] != "card/8" || len(remove) != 1 || remove[0] != "card/7" {
		t.Errorf("+%q -%q", add, remove)
	}
}

func TestCardLabelsGoAlong(t *testing.T) {
	s := mapping.Shown{Made: []string{"card/7"}, Labels: []string{"card/7"}}
	if m := s.Moved(); !slices.Equal(m.Made, s.Made) || m.Labels != nil {
		t.Errorf("in another repository: %+v", m)
	}
}

func TestCardPattern(t *testing.T) {
	for pattern, good := range map[string]bool{
		"": true, "card/{value}": true, "#{value}": true, "card": false, "{value}{value}": false, "a,{value}": false,
		"Points/{value}": false, "HOURS/{value}": false,
	} {
		if err := cardScheme(pattern).Validate(); (err == nil) != good {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	if cardScheme("").IsCardLabel("card/7") || !cardScheme("card/{value}").IsCardLabel("Card/7") || cardScheme("card/{value}").IsCardLabel("card/x") {
		t.Error("labels of the pattern are not told from others")
	}
}

// TestLabelsOfTheRecord: the record keeps the labels of planning's that the issue has, each once,
// and of people's kind those that the bridge made.
func TestLabelsOfTheRecord(t *testing.T) {
	for name, c := range map[string]struct {
		made, current      []string
		cid                int64
		madeNow, labelsNow []string
	}{
		"nothing of ours":                   {nil, []string{"bug"}, 7, nil, nil},
		"a projection":                      {nil, []string{"bug", "plan:Done", "bucket:Later"}, 7, nil, []string{"plan:Done", "bucket:Later"}},
		"a number that the bridge made":     {[]string{"card/7"}, []string{"card/7", "bug"}, 7, []string{"card/7"}, []string{"card/7"}},
		"a number that a person made":       {nil, []string{"card/7"}, 7, nil, []string{"card/7"}},
		"one made by an earlier pattern":    {[]string{"no/7"}, []string{"no/7"}, 7, []string{"no/7"}, []string{"no/7"}},
		"one of an earlier pattern, gone":   {[]string{"no/7"}, []string{"bug"}, 7, nil, nil},
		"a number that is gone, the card's": {[]string{"Card/7"}, nil, 7, []string{"Card/7"}, nil},
		"a number that is gone, another's":  {[]string{"card/8"}, nil, 7, nil, nil},
		"in another case":                   {[]string{"card/7"}, []string{"CARD/7"}, 7, []string{"card/7"}, []string{"CARD/7"}},
	} {
		s := mapping.Shown{Made: c.made, Labels: []string{"plan:old"}}
		s.Carry(c.current, &mapping.Card{CID: c.cid}, cardScheme("card/{value}"))
		if !slices.Equal(s.Made, c.madeNow) || !slices.Equal(s.Labels, c.labelsNow) {
			t.Errorf("%s: made %q, has %q; want %q, %q", name, s.Made, s.Labels, c.madeNow, c.labelsNow)
		}
	}
	s := mapping.Shown{Made: []string{"card/7"}}
	s.Make([]string{"plan:Done", "Card/7", "card/8", "card/8"}, cardScheme("card/{value}"))
	if !slices.Equal(s.Made, []string{"card/7", "card/8"}) {
		t.Errorf("made are %q", s.Made)
	}
}
