package mapping_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

var labelScheme = mapping.LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"}

func TestEstimateOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		labels []string
		base   string
		want   string
		all    []string
	}{
		"none":                          {[]string{"bug", "hours/3"}, "3", "", nil},
		"one":                           {[]string{"bug", "points/3"}, "", "3", []string{"points/3"}},
		"the base's":                    {[]string{"points/3"}, "3", "3", []string{"points/3"}},
		"the new one wins":              {[]string{"points/3", "points/5"}, "3", "5", []string{"points/3", "points/5"}},
		"the new one wins, smaller":     {[]string{"points/5", "points/3"}, "5", "3", []string{"points/5", "points/3"}},
		"the order does not matter":     {[]string{"points/3", "points/5"}, "5", "3", []string{"points/3", "points/5"}},
		"of several the greatest":       {[]string{"points/8", "points/13", "points/2"}, "8", "13", []string{"points/8", "points/13", "points/2"}},
		"another spelling of the base":  {[]string{"points/3.0", "points/1"}, "3", "1", []string{"points/3.0", "points/1"}},
		"case does not matter":          {[]string{"Points/03"}, "", "3", []string{"Points/03"}},
		"what is no number is a person": {[]string{"points/many", "points/", "points/-1", "points/1e3", "points"}, "", "", nil},
		"zero is an estimate":           {[]string{"points/0"}, "", "0", []string{"points/0"}},
	} {
		value, all := labelScheme.EstimateOf(c.labels, c.base)
		if value != c.want || !slices.Equal(all, c.all) {
			t.Errorf("%s: EstimateOf = %q, %q; want %q, %q", name, value, all, c.want, c.all)
		}
	}
	hours := labelScheme
	hours.Estimate = hours.Hours
	if value, all := hours.EstimateOf([]string{"hours/0.5", "points/3"}, ""); value != "0.5" || len(all) != 1 {
		t.Errorf("EstimateOf hours = %q, %q", value, all)
	}
}

func TestEstimateLabelLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := mappingtest.Number().Draw(t, "value")
		labels := mappingtest.Labels().Draw(t, "labels")
		base := rapid.OneOf(mappingtest.Number(), rapid.Just("")).Draw(t, "base")
		if got, _ := labelScheme.EstimateOf([]string{labelScheme.EstimateLabel(value)}, base); got != value {
			t.Errorf("put %q, get %q", value, got)
		}
		before, all := labelScheme.EstimateOf(labels, base)
		slices.Reverse(labels)
		if after, _ := labelScheme.EstimateOf(labels, base); after != before {
			t.Errorf("the order of labels matters: %q, %q", before, after)
		}
		for _, label := range all {
			if !labelScheme.Owned(label) || !slices.Contains(labels, label) {
				t.Errorf("%q is not an estimate label of %q", label, labels)
			}
		}
		if (before == "") != (len(all) == 0) {
			t.Errorf("value %q of labels %q", before, all)
		}
		hours := labelScheme
		hours.Estimate = hours.Hours
		if got, _ := hours.EstimateOf([]string{hours.EstimateLabel(value), labelScheme.EstimateLabel(value)}, base); got != value {
			t.Errorf("put %q hours, get %q", value, got)
		}
	})
}

func TestOwned(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]bool{
		"plan:Done": true, "PLAN:done": true, "plan:conflict": true, "bucket:Incoming": true, "Bucket:x": true,
		"plan:": true, "bucket:": true, "bucket": false,
		"points/3": true, "POINTS/3.5": true, "hours/0.25": true,
		"plan:ignore": false, "Plan:Ignore": false, "in-progress": false, "bug": false, "plan": false, "planning": false,
		"points/many": false, "points/": false, "mypoints/3": false, "": false, "größe": false,
	} {
		if got := labelScheme.Owned(label); got != want {
			t.Errorf("Owned(%q) = %v", label, got)
		}
	}
	if (mapping.LabelScheme{}).Owned("bug") || (mapping.LabelScheme{InProgress: "doing"}).Owned("doing") {
		t.Error("without a prefix everything is owned")
	}
	if !labelScheme.InProgressOn([]string{"bug", "In-Progress"}) || labelScheme.InProgressOn([]string{"in-progress-2"}) {
		t.Error("InProgressOn does not go by the name in any case")
	}
}

func TestValidateScheme(t *testing.T) {
	t.Parallel()
	if err := labelScheme.Validate(); err != nil {
		t.Errorf("the default scheme: %v", err)
	}
	for name, c := range map[string]struct {
		change func(*mapping.LabelScheme)
		want   string
	}{
		"no value":            {func(s *mapping.LabelScheme) { s.Estimate = "points" }, "estimate: "},
		"two values":          {func(s *mapping.LabelScheme) { s.Hours = "{value}-{value}" }, "hours: "},
		"comma":               {func(s *mapping.LabelScheme) { s.Hours = "h,{value}" }, "comma"},
		"too long":            {func(s *mapping.LabelScheme) { s.Estimate = strings.Repeat("é", 41) + "{value}" }, "too long"},
		"empty prefix":        {func(s *mapping.LabelScheme) { s.Prefix = "" }, "prefix: "},
		"blank prefix":        {func(s *mapping.LabelScheme) { s.Prefix = " " }, "prefix: "},
		"long prefix":         {func(s *mapping.LabelScheme) { s.Prefix = strings.Repeat("p", 42) }, "prefix: "},
		"no in-progress":      {func(s *mapping.LabelScheme) { s.InProgress = "" }, "in_progress: "},
		"in-progress owned":   {func(s *mapping.LabelScheme) { s.InProgress = "plan:doing" }, "in_progress: "},
		"same patterns":       {func(s *mapping.LabelScheme) { s.Hours = "Points/{value}" }, "both"},
		"ambiguous one way":   {func(s *mapping.LabelScheme) { s.Hours = "points/1{value}" }, "both"},
		"ambiguous the other": {func(s *mapping.LabelScheme) { s.Estimate = "hours/1{value}" }, "both"},
	} {
		scheme := labelScheme
		c.change(&scheme)
		if err := scheme.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Validate = %v, want something with %q", name, err, c.want)
		}
	}
	err := mapping.LabelScheme{}.Validate()
	if n := strings.Count(err.Error(), "\n") + 1; n != 4 {
		t.Errorf("an empty scheme has 4 faults, %d reported: %v", n, err)
	}
}

func TestCanonicalNumber(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"3": "3", "3.0": "3", "03": "3", "0.50": "0.5", "0": "0", "00": "0", "0.0": "0", "10": "10", "100.010": "100.01", "12345678901234": "12345678901234",
		"0.08333333333333333": "0.08333333333333333",
	}
	for in, number := range want {
		if got := mapping.CanonicalNumber(in); got != number {
			t.Errorf("CanonicalNumber(%q) = %q, want %q", in, got, number)
		}
	}
	for _, in := range []string{"", "+3", "-3", "1e3", ".5", "3.", "3,5", " 3", "3\n", "٣", "0x1", "NaN", "1.2.3", "."} {
		if got := mapping.CanonicalNumber(in); got != "" {
			t.Errorf("CanonicalNumber(%q) = %q, but it is no number", in, got)
		}
	}
}

func TestNumberLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := mappingtest.Number().Draw(t, "number")
		if got := mapping.CanonicalNumber(number); got != number {
			t.Errorf("canonical %q became %q", number, got)
		}
		zeros := rapid.StringMatching(`0{0,3}`).Draw(t, "zeros")
		if strings.Contains(number, ".") {
			number += zeros
		}
		if got := mapping.CanonicalNumber(zeros + number); got != mapping.CanonicalNumber(number) {
			t.Errorf("CanonicalNumber(%q) = %q", zeros+number, got)
		}
	})
}

// TestPatternOfALabel has a row for each thing that a label may say by a pattern.
func TestPatternOfALabel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pattern, label, want string
	}{
		"the value behind":               {"points/{value}", "points/3", "3"},
		"the value in front":             {"{value} points", "3 points", "3"},
		"the value between":              {"({value} pt)", "(0.5 PT)", "0.5"},
		"the value alone":                {"{value}", "13", "13"},
		"in another case":                {"points/{value}", "POINTS/3", "3"},
		"no value":                       {"points/{value}", "points/", ""},
		"no value between":               {"({value} pt)", "( pt)", ""},
		"shorter than what stands round": {"aa{value}aa", "aaa", ""},
		"another word in front":          {"points/{value}", "hours/3", ""},
		"another word behind":            {"{value} points", "3 hours", ""},
		"other letters in front":         {"points/{value}", "version3", ""},
		"other letters behind":           {"{value} points", "3 apples", ""},
		"a word more":                    {"points/{value}", "points/3 or 5", ""},
		"part of a word":                 {"points/{value}", "points", ""},
		"no pattern":                     {"", "3", ""},
		"a pattern without a value":      {"points", "points", ""},
	} {
		value, all := mapping.LabelScheme{Estimate: c.pattern}.EstimateOf([]string{c.label}, "")
		if value != c.want || (len(all) == 1) != (c.want != "") {
			t.Errorf("%s: %q says %q, %q", name, c.label, value, all)
		}
	}
}

// TestEstimateLabel: the label of no estimate is none, and of a number it is spelt one way.
func TestEstimateLabel(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"3": "points/3", "3.50": "points/3.5", "0": "points/0", "": "", "many": "", "-1": ""} {
		if got := labelScheme.EstimateLabel(value); got != want {
			t.Errorf("the label of %q is %q, want %q", value, got, want)
		}
	}
	scheme := mapping.LabelScheme{Card: "no {value}!"}
	for cid, want := range map[int64]string{0: "", 7: "no 7!", 1234567890: "no 1234567890!"} {
		if got := scheme.CardLabel(cid); got != want {
			t.Errorf("the label of card %d is %q, want %q", cid, got, want)
		}
	}
	if got := labelScheme.CardLabel(7); got != "" {
		t.Errorf("numbers are not shown, and card 7 has the label %q", got)
	}
}

// TestEstimateBesideAnotherSpellingOfTheBase: the base's value is known in each spelling, so that
// the other label is the new one.
func TestEstimateBesideAnotherSpellingOfTheBase(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"8", "8.0", "08"} {
		if got, _ := labelScheme.EstimateOf([]string{"points/8", "points/2"}, base); got != "2" {
			t.Errorf("beside the base %q the estimate is %q", base, got)
		}
	}
	long := strings.Repeat("9", 30)
	if got, _ := labelScheme.EstimateOf([]string{"points/3", "points/" + long, "points/5"}, "5"); got != long {
		t.Errorf("the greatest is %q", got)
	}
}

// TestBoundsOfLabels: a label has 50 characters on GitHub, and room for what comes into it.
func TestBoundsOfLabels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*mapping.LabelScheme)
		want   string // "": it is valid
	}{
		"the longest prefix": {func(s *mapping.LabelScheme) { s.Prefix = strings.Repeat("é", 41) }, ""},
		"room for ten digits": {func(s *mapping.LabelScheme) {
			s.Hours = strings.Repeat("é", 30) + "{value}" + strings.Repeat("é", 10)
		}, ""},
		"room for nine": {func(s *mapping.LabelScheme) {
			s.Hours = strings.Repeat("é", 31) + "{value}" + strings.Repeat("é", 10)
		}, "hours: "},
		"a prefix too long":                 {func(s *mapping.LabelScheme) { s.Prefix = strings.Repeat("é", 42) }, "is too long, a label has at most 50 characters"},
		"the longest in-progress":           {func(s *mapping.LabelScheme) { s.InProgress = strings.Repeat("é", 50) }, ""},
		"in-progress too long":              {func(s *mapping.LabelScheme) { s.InProgress = strings.Repeat("é", 51) }, "in_progress: "},
		"the longest estimate":              {func(s *mapping.LabelScheme) { s.Estimate = strings.Repeat("é", 40) + "{value}" }, ""},
		"an estimate too long":              {func(s *mapping.LabelScheme) { s.Estimate = strings.Repeat("é", 41) + "{value}" }, "estimate: "},
		"in-progress too long, and a comma": {func(s *mapping.LabelScheme) { s.InProgress = strings.Repeat("é", 50) + "," }, "must not contain a comma"},
		"a blank in-progress":               {func(s *mapping.LabelScheme) { s.InProgress = " \t" }, "in_progress: must not be empty"},
		"no value":                          {func(s *mapping.LabelScheme) { s.Estimate = "points" }, `estimate: "points" must contain {value} exactly once`},
		"in-progress is ours":               {func(s *mapping.LabelScheme) { s.InProgress = "plan:doing" }, `in_progress: "plan:doing" is one of the labels that the bridge owns, but people set it`},
		"a card's and an estimate":          {func(s *mapping.LabelScheme) { s.Card = "points/{value}" }, "card: one label would match it and estimate or hours"},
		"a card without a value":            {func(s *mapping.LabelScheme) { s.Card = "card" }, `card: "card" must contain {value} exactly once`},
	} {
		scheme := labelScheme
		c.change(&scheme)
		err := scheme.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestBoundsOfNumbers: a number has at most 100 characters, 30 of them before the point and 30
// behind it without the zeros around.
func TestBoundsOfNumbers(t *testing.T) {
	t.Parallel()
	nines := strings.Repeat("9", 30)
	for in, want := range map[string]string{
		nines:                                 nines,
		nines + "9":                           "",
		nines + "." + nines:                   nines + "." + nines,
		"1." + nines + "1":                    "",
		strings.Repeat("0", 69) + nines + "9": "",
		strings.Repeat("0", 70) + nines:       nines,
		strings.Repeat("0", 71) + nines:       "",
		"1." + strings.Repeat("0", 98):        "1",
		"1." + strings.Repeat("0", 99):        "",
	} {
		if got := mapping.CanonicalNumber(in); got != want {
			t.Errorf("%d characters: %q, want %q", len(in), got, want)
		}
	}
}
