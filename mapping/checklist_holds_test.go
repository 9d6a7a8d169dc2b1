package mapping

import "testing"

// TestHolds: a written body is taken only if it has each of the items, in their order. Others may
// stand between them.
func TestHolds(t *testing.T) {
	a, b, c := Item{Text: "a"}, Item{Text: "b"}, Item{Text: "c"}
	done := Item{Text: "b", Checked: true}
	for name, tt := range map[string]struct {
		others, items []Item
		want          bool
	}{
		"none in none":             {nil, nil, true},
		"none in some":             {[]Item{a}, nil, true},
		"some in none":             {nil, []Item{a}, false},
		"the same":                 {[]Item{a, b, c}, []Item{a, b, c}, true},
		"the first":                {[]Item{a, b, c}, []Item{a}, true},
		"the last":                 {[]Item{a, b, c}, []Item{c}, true},
		"with one between":         {[]Item{a, b, c}, []Item{a, c}, true},
		"the second is missing":    {[]Item{a, c}, []Item{a, b}, false},
		"the last is missing":      {[]Item{a, b}, []Item{a, b, c}, false},
		"in another order":         {[]Item{a, b}, []Item{b, a}, false},
		"the last two exchanged":   {[]Item{a, c, b}, []Item{a, b, c}, false},
		"twice, and there once":    {[]Item{a, b}, []Item{a, a}, false},
		"twice, and there twice":   {[]Item{a, b, a}, []Item{a, a}, true},
		"the second is ticked":     {[]Item{a, done}, []Item{a, b}, false},
		"the second is not ticked": {[]Item{a, b}, []Item{a, done}, false},
		"ticked behind another":    {[]Item{b, done}, []Item{done}, true},
	} {
		if got := holds(tt.others, tt.items); got != tt.want {
			t.Errorf("%s: %v in %v: %v", name, tt.items, tt.others, got)
		}
	}
}
