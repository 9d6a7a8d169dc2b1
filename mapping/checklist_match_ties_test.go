package mapping_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestMatchItemsOfOneText has a row for each rule that chooses among items of one text.
func TestMatchItemsOfOneText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old, now string
		want     []int
	}{
		"the one at the list's end":                   {"buy|test", "test|call|test", []int{-1, -1, 1}},
		"the last one of two, both at the end":        {"ship|test|test", "test", []int{2}},
		"the first one, moved down by a new one":      {"test|ship", "call|test", []int{-1, 0}},
		"the first one is not matched twice":          {"test|ship|test", "call|test|ship", []int{-1, 0, 1}},
		"the one that lets a renamed one stay":        {"tests|test|ship", "test|test", []int{0, 1}},
		"the one that lets a renamed one stay, below": {"ship|ship!", "call|ship|ship now", []int{-1, 0, 1}},
		"the first one of two, below what moved up":   {"a word|a word|ship", "ship|a word", []int{2, 0}},
		// "test" is no renamed one: it stands on both sides.
		"no room for what moved":                     {"test|tests", "tests|tests|test!|test", []int{1, -1, -1, 0}},
		"the first one stays, the second is renamed": {"ship!|ship!|test", "test|ship!|ship", []int{2, 0, 1}},
		"the first one of two, below another one":    {"ship|test|test|tasks", "tasks|test", []int{3, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := mapping.MatchItems(strings.Split(c.old, "|"), strings.Split(c.now, "|")); !slices.Equal(got, c.want) {
				t.Errorf("MatchItems = %v, want %v", got, c.want)
			}
		})
	}
}

// TestMatchItemsOfLists renames every item of lists of either size: those that are compared
// each with each, and longer ones that are compared place by place.
func TestMatchItemsOfLists(t *testing.T) {
	t.Parallel()
	item := func(i int) string { return strings.Repeat("item "+strconv.Itoa(i)+" ", 4) }
	for name, c := range map[string]struct {
		items int
		edit  func(now []string) []string // of the renamed ones
		want  func(i int) int
	}{
		"each with each, the first one moved out": {
			128, func(now []string) []string { return append(now[1:], "bake bread") },
			func(i int) int { return []int{i + 1, -1}[i/127] },
		},
		"place by place": {200, func(now []string) []string { return now }, func(i int) int { return i }},
		"place by place, the last two removed": {
			200, func(now []string) []string { return now[:198] }, func(i int) int { return i },
		},
		"place by place, one rewritten": {
			200, func(now []string) []string { now[77] = "bake bread"; return now }, func(i int) int {
				if i == 77 {
					return -1
				}
				return i
			},
		},
		"place by place, many words put behind one": {
			200, func(now []string) []string { now[77] = item(77) + strings.Repeat("and more ", 40); return now }, func(i int) int { return i },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, now := make([]string, c.items), make([]string, c.items)
			for i := range old {
				old[i], now[i] = item(i), item(i)+"!"
			}
			for i, m := range mapping.MatchItems(old, c.edit(now)) {
				if want := c.want(i); m != want {
					t.Fatalf("item %d is matched with %d, want %d", i, m, want)
				}
			}
		})
	}
}
