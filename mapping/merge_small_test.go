package mapping_test

import (
	"strings"
	"testing"

	"planbridge/mapping"
)

// smallTexts are all texts of so many words at most, of which two are different.
func smallTexts(most int, sep string) []string {
	var all []string
	for n := range most + 1 {
		for bits := range 1 << n {
			words := make([]string, n)
			for i := range words {
				words[i] = string(rune('a' + bits>>i&1))
			}
			all = append(all, strings.Join(words, sep))
		}
	}
	return all
}

// TestSmallMerges goes through all merges of small texts, by lines and by words. Where equal words
// stand beside each other there is more than one way to say what was edited, and the laws hold all
// the same.
func TestSmallMerges(t *testing.T) {
	t.Parallel()
	for name, sep := range map[string]string{"lines": "\n", "words": " "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sides := smallTexts(3, sep)
			for _, base := range smallTexts(2, sep) {
				for i, x := range sides {
					for _, y := range sides[:i] {
						checkSmallMerge(t, base, x, y)
					}
				}
			}
		})
	}
}

func checkSmallMerge(t *testing.T, base, x, y string) {
	m, clean := mapping.Merge(base, x, y)
	if other, ok := mapping.Merge(base, y, x); ok != clean || other != m {
		t.Errorf("%q: %q and %q make %q, %v, the other way round %q, %v", base, x, y, m, clean, other, ok)
	}
	if !clean {
		if m != "" || x == base || y == base {
			t.Errorf("%q: %q and %q do not merge, and make %q", base, x, y, m)
		}
		return
	}
	for _, side := range []string{x, y} {
		if again, ok := mapping.Merge(base, side, m); !ok || again != m {
			t.Errorf("%q: %q and %q make %q, that and %q make %q, %v", base, x, y, m, side, again, ok)
		}
	}
	if x == base && m != y || y == base && m != x {
		t.Errorf("%q: %q and %q make %q, though one side alone was edited", base, x, y, m)
	}
	for _, word := range []string{"a", "b"} {
		was, inX, inY, got := strings.Count(base, word), strings.Count(x, word), strings.Count(y, word), strings.Count(m, word)
		if was == 0 && got < max(inX, inY) {
			t.Errorf("%q: %q and %q make %q, without what was new", base, x, y, m)
		}
		if inX == 0 && inY == 0 && got > 0 {
			t.Errorf("%q: %q and %q make %q, with what both removed", base, x, y, m)
		}
	}
}

// TestSmallMergesOfApartEdits: an edit at the beginning and one at the end merge, whatever
// the words are, where something that nobody touched stands between them.
func TestSmallMergesOfApartEdits(t *testing.T) {
	t.Parallel()
	between := "one sentence between.\nAnother line.\nAnd a third one."
	texts := smallTexts(2, "\n")
	for _, old := range texts {
		for _, now := range texts {
			base, x := old+"\n"+between+"\nend", now+"\n"+between+"\nend"
			for _, end := range []string{"end", "the end", "", "end\nand more"} {
				y := old + "\n" + between + "\n" + end
				want := strings.TrimRight(now+"\n"+between+"\n"+end, "\n")
				if m, ok := mapping.Merge(base, x, y); !ok || strings.TrimRight(m, "\n") != want {
					t.Errorf("%q to %q and the end to %q make %q, %v", old, now, end, m, ok)
				}
			}
		}
	}
}

// TestMergesThatHaveTheOtherEdit has a row for each way in which a text already has the edit of the
// other side. It also has rows where that is not certain.
func TestMergesThatHaveTheOtherEdit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ base, x, y, want string }{
		"a word removed, and put behind":              {"a b", "b", "b a", "b a"},
		"a line removed, and one apart from it":       {"a\nb\nc\nd", "a\nc\nd", "a\nc", "a\nc"},
		"a line removed, and the next":                {"a\nb\nc", "a\nc", "a", ""},
		"a line added, and one behind it":             {"a", "a\nb", "a\nb\nc", ""},
		"one of two removed, and the next changed":    {"b\nb", "b", "b!", ""},
		"one added and one removed, which is unknown": {"a\na", "a", "a\na\na", ""},
		"one added above one of two that is removed":  {"c\nc\na", "c\nc\nc\na", "c\na", ""},
		"one of two removed, words put behind both":   {"a\na", "a", "a\na\na b", ""},
		"a blank line added, and a word":              {"\n\nc", "a\n\nc", "\n\n\nc", ""},
	} {
		for _, sides := range [][2]string{{c.x, c.y}, {c.y, c.x}} {
			m, ok := mapping.Merge(c.base, sides[0], sides[1])
			if got := strings.TrimRight(m, "\n"); got != c.want || ok != (c.want != "") {
				t.Errorf("%s: %q, %v, want %q", name, m, ok, c.want)
			}
		}
	}
}

// TestMergesOfRepeatedLines has a row for each merge of texts with repeated lines, whose edits can be
// described in more than one way. The merge has both edits, or there is none.
func TestMergesOfRepeatedLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ base, x, y, want string }{
		"a line more, which one side has alone":       {"a\nb\n", "a\na\n", "a\n", "a\na\n"},
		"a line and its blank one less on both":       {"b\n\nb\n", "b\n", "c\n\nb\n", "c\n\nb\n"},
		"a line less here, and another there":         {"a\na\n", "a\na\nc\n", "a\n", "a\nc"},
		"a blank line less here, and more there":      {"b\n\n\n\nc\n", "b\n\n\nc\n", "\n\n\nc\n", "\n\nc"},
		"a blank line more, and the text behind gone": {"b\na\n\na\n", "b\n\na\n\na\n", "b\n\na\n", ""},
		"a sentence less, and a line for it":          {"a. b\n", "a\n", "a\na\n", "a\na\n"},
		"words less within a line that has moved":     {"a. b\nc d e\nb\n", "a. b\nc\nb\n", "c d e\nb\nb\n", "c\nb\nb"},
	} {
		for _, sides := range [][2]string{{c.x, c.y}, {c.y, c.x}} {
			got, clean := mapping.Merge(c.base, sides[0], sides[1])
			if clean != (c.want != "") || got != c.want {
				t.Errorf("%s: %q, %t, want %q", name, got, clean, c.want)
			}
		}
	}
}
