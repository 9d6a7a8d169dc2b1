package mapping_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
)

func TestMatchItems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old, now string // texts, separated by bars
		want     []int
	}{
		"nothing":                        {"", "", []int{}},
		"from nothing":                   {"", "write tests|ship", []int{-1, -1}},
		"to nothing":                     {"write tests|ship", "", []int{}},
		"the same":                       {"a|b|c", "a|b|c", []int{0, 1, 2}},
		"the same but for white space":   {"a b", " a\tb ", []int{0}},
		"one in front":                   {"a|b", "new|a|b", []int{-1, 0, 1}},
		"one in between":                 {"a|b", "a|new|b", []int{0, -1, 1}},
		"one gone":                       {"a|b|c", "a|c", []int{0, 2}},
		"moved":                          {"a|b|c", "c|a|b", []int{2, 0, 1}},
		"renamed":                        {"write tests|ship", "write more tests|ship", []int{0, 1}},
		"renamed and moved up":           {"ship it|write tests", "write more tests|ship it", []int{1, 0}},
		"words put behind":               {"tag|ship", "tag v2 and tell everybody about it|ship", []int{0, 1}},
		"words taken off":                {"tag v2 and tell everybody about it", "tag", []int{0}},
		"more than a word's beginning":   {"a", "announce", []int{-1}},
		"more than a number's beginning": {"1", "12 apples for the tea", []int{-1}},
		"a number and words behind it":   {"1", "1 apple for the tea on Sunday", []int{0}},
		"another text behind a mark":     {"pay rent", "!!! call the bank", []int{-1}},
		"no text is continued by none":   {"|b", "anything at all|b", []int{-1, 1}},
		"nor by a mark":                  {"|b", "!!!|b", []int{-1, 1}},
		"two of one text, one renamed":   {"test|test", "test|test it", []int{0, 1}},
		"the second of two renamed":      {"a|test|b|test|c", "a|test it|b|test|c", []int{0, 1, 2, 3, 4}},
		"exchanged":                      {"one|two", "two|one", []int{1, 0}},
		"exchanged and renamed between":  {"one|write tests|two", "two|write more tests|one", []int{2, 1, 0}},
		"rewritten is new":               {"write tests|ship", "call the bank|ship", []int{-1, 1}},
		"two renamed":                    {"step one|step two", "step one!|step two!", []int{0, 1}},
		"two renamed, one gone between":  {"buy milk|feed the cat|pay rent", "buy milk today|pay rent today", []int{0, 2}},
		"a new one like it":              {"write tests", "write tests|write more tests", []int{0, -1}},
		"the same text twice":            {"test|a|test", "test|test", []int{0, 2}},
		"the first of two is gone":       {"a|test|b|test", "a|b|test", []int{0, 2, 3}},
		"the same text once more":        {"a|test|b", "a|test|b|test", []int{0, 1, 2, -1}},
		"exact before similar":           {"write tests!|write tests", "write tests", []int{1}},
		"only the more similar of two":   {"release version 1|release version 2.0", "release version 2.0.1", []int{1}},
		"of several the one that leaves the others in order": {"c|d|c", "c!|d!|c|e", []int{0, 1, 2, -1}},
		"not against the order":                              {"alpha release|omega testing", "omega testing 2|alpha release 2", []int{1, -1}},
		"words that only share letters":                      {"deploy", "employ a doctor", []int{-1}},
		"capitals and other scripts too":                     {"日本語を書く|café", "日本語を書くこと|cafés", []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			split := func(s string) []string {
				if s == "" {
					return nil
				}
				return strings.Split(s, "|")
			}
			if got := mapping.MatchItems(split(c.old), split(c.now)); !slices.Equal(got, c.want) {
				t.Errorf("MatchItems = %v, want %v", got, c.want)
			}
		})
	}
}

func TestMatchItemsLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "write tests", "write more tests", "write test", "ship", "ship it", "ship it!"}), 0, 8)
		old, now := texts.Draw(t, "old"), texts.Draw(t, "now")
		match := mapping.MatchItems(old, now)
		if len(match) != len(now) {
			t.Fatalf("%d matches of %d items", len(match), len(now))
		}
		used := map[int]bool{}
		exact := map[string]int{}
		for i, m := range match {
			if m < 0 {
				continue
			}
			if m >= len(old) || used[m] {
				t.Fatalf("item %d is matched with %d: %v", i, m, match)
			}
			used[m] = true
			if old[m] == now[i] {
				exact[now[i]]++
			}
		}
		// As many exact matches as there can be.
		for _, text := range now {
			count := func(in []string) (n int) {
				for _, s := range in {
					if s == text {
						n++
					}
				}
				return n
			}
			if want := min(count(old), count(now)); exact[text] != want {
				t.Fatalf("%q is matched %d times, want %d: %v", text, exact[text], want, match)
			}
		}
		if self := mapping.MatchItems(now, now); !slices.IsSorted(self) || len(self) > 0 && (self[0] != 0 || self[len(self)-1] != len(self)-1) {
			t.Fatalf("a list matched with itself: %v", self)
		}
	})
}

// A removed item and any renaming by a suffix keep every identity.
func TestMatchItemsAfterAnEdit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var old []string
		for i := range rapid.IntRange(1, 12).Draw(t, "items") {
			old = append(old, strings.Repeat(string(rune('a'+i)), 20)) // items that have nothing in common
		}
		gone := rapid.IntRange(0, len(old)).Draw(t, "gone")
		var now []string
		var want []int
		for i, text := range old {
			if i == gone {
				continue
			}
			now, want = append(now, text+rapid.SampledFrom([]string{"", "", "!", " today"}).Draw(t, "suffix")), append(want, i)
		}
		if got := mapping.MatchItems(old, now); !slices.Equal(got, want) {
			t.Fatalf("MatchItems = %v, want %v", got, want)
		}
	})
}

// However long a list is, matching ends soon, and a change of every item is
// not taken for so many new ones.
func TestMatchItemsOfLongLists(t *testing.T) {
	t.Parallel()
	var old, now []string
	for i := range 5000 {
		old, now = append(old, "- item number "+strconv.Itoa(i)), append(now, "item number "+strconv.Itoa(i))
	}
	start := time.Now()
	for i, m := range mapping.MatchItems(old, now) {
		if m != i {
			t.Fatalf("item %d is matched with %d", i, m)
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("%v", took)
	}
	start = time.Now()
	for i, m := range mapping.MatchItems(old[:128], now[:128]) {
		if m != i {
			t.Fatalf("of a short list item %d is matched with %d", i, m)
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("%v for a short list", took)
	}
	t.Log(time.Since(start))
}
