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
		"points/3": true, "POINTS/3.5": true, "hours/0.25": true,
		"plan:ignore": false, "Plan:Ignore": false, "in-progress": false, "bug": false, "plan": false, "planning": false,
		"points/many": false, "points/": false, "mypoints/3": false, "": false, "größe": false,
	} {
		if got := labelScheme.Owned(label); got != want {
			t.Errorf("Owned(%q) = %v", label, got)
		}
	}
	if (mapping.LabelScheme{}).Owned("bug") {
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
