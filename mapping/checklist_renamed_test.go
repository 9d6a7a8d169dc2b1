package mapping

import (
	"fmt"
	"testing"
)

// TestRenamedItemsOfLongLists: some lists are too long to compare each item with each. There the
// first item that is gone is compared with the first new one, the second with the second, and so
// on. The shorter list ends it.
func TestRenamedItemsOfLongLists(t *testing.T) {
	const long, short = 1 << 10, 1 << 5
	items := func(n int, behind string) (texts []string, places []int) {
		for i := range n {
			texts, places = append(texts, fmt.Sprintf("write the chapter about subject %d", i)+behind), append(places, i)
		}
		return texts, places
	}
	for name, tt := range map[string]struct {
		old, now  int
		rewritten int // -1: none
		matched   int
	}{
		"as many":                      {long, long, -1, long},
		"fewer are left":               {long, short, -1, short},
		"more are left":                {short, long, -1, short},
		"one is new":                   {long, short, 1, short - 1},
		"the first is new":             {short, long, 0, short - 1},
		"one that has no old one":      {short, long, short, short},
		"fewer are left, the last new": {long, short, short - 1, short - 1},
	} {
		old, gone := items(tt.old, "")
		now, left := items(tt.now, ", please")
		if tt.rewritten >= 0 {
			now[tt.rewritten] = "%%%"
		}
		match, matched := make([]int, tt.now), 0
		for i := range match {
			match[i] = -1
		}
		alignRenamed(old, now, gone, left, match)
		for i, m := range match {
			if m < 0 {
				continue
			}
			if matched++; m != i || i == tt.rewritten {
				t.Errorf("%s: item %d is matched with %d", name, i, m)
			}
		}
		if matched != tt.matched {
			t.Errorf("%s: %d are matched, want %d", name, matched, tt.matched)
		}
	}
}
