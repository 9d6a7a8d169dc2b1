package mapping

import (
	"slices"
	"strings"
	"testing"
)

// diffWithin is diff where a search follows that many differences at most.
func diffWithin(depth int, from, to []string) []edit {
	ids := map[string]int{}
	d := differ{a: numbered(from, ids), b: numbered(to, ids), depth: depth}
	d.forward, d.backward = make([]int, 2*depth+3), make([]int, 2*depth+3)
	d.compare(0, len(from), 0, len(to))
	return d.edits()
}

// listsOf returns all lists of these tokens up to a length.
func listsOf(tokens string, length int) [][]string {
	lists, last := [][]string{nil}, [][]string{nil}
	for range length {
		var longer [][]string
		for _, list := range last {
			for token := range strings.SplitSeq(tokens, "") {
				longer = append(longer, append(slices.Clone(list), token))
			}
		}
		lists, last = append(lists, longer...), longer
	}
	return lists
}

// TestDiffWithinAFewSteps: a search that breaks off goes on from the farthest place that it reached.
// Its result is right for all short lists, and has hardly more tokens than necessary.
func TestDiffWithinAFewSteps(t *testing.T) {
	t.Parallel()
	lists := listsOf("abc", 4)
	needed := 0
	for _, from := range lists {
		for _, to := range lists {
			needed += shortest(from, to)
		}
	}
	for depth, more := range map[int]int{1: 516, 2: 24, 3: 0} {
		told := 0
		for _, from := range lists {
			for _, to := range lists {
				edits := diffWithin(depth, from, to)
				if got := applied(from, to, edits); !slices.Equal(got, to) {
					t.Fatalf("within %d: %v make %v of %v, want %v", depth, edits, got, from, to)
				}
				for _, e := range edits {
					told += e.to - e.from + e.newTo - e.newFrom
				}
			}
		}
		if told > needed+more {
			t.Errorf("within %d the edits have %d tokens more than are needed, at most %d are right", depth, told-needed, more)
		}
	}
}

// TestLinesOfAText: a line has its end, and a text that ends with a line end has no line behind it.
func TestLinesOfAText(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "a": {"a"}, "a\n": {"a\n"}, "\n": {"\n"}, "a\nb": {"a\n", "b"}, "a\n\nb\n": {"a\n", "\n", "b\n"}, "a\r\nb": {"a\r\n", "b"}, "\n\n": {"\n", "\n"},
	} {
		if got := lineTokens(text); !slices.Equal(got, want) {
			t.Errorf("%q has the lines %q, want %q", text, got, want)
		}
	}
}

// TestEditsByLines has a row for each kind of difference of two texts, told by bytes in whole lines.
func TestEditsByLines(t *testing.T) {
	for name, tt := range map[string]struct {
		from, to string
		want     []textEdit
	}{
		"the same":                  {"a\nb\n", "a\nb\n", nil},
		"a line more":               {"a\nc\n", "a\nbb\nc\n", []textEdit{{2, 2, "bb\n"}}},
		"a line less":               {"a\nbb\nc\n", "a\nc\n", []textEdit{{2, 5, ""}}},
		"another line":              {"a\nbb\nc\n", "a\nddd\nc\n", []textEdit{{2, 5, "ddd\n"}}},
		"two lines":                 {"a\nbb\nc\ndddd\ne\n", "a\nx\nc\nyy\ne\n", []textEdit{{2, 5, "x\n"}, {7, 12, "yy\n"}}},
		"three lines":               {"aa\nb\ncc\nd\nee\n", "1\nb\n2\nd\n3\n", []textEdit{{0, 3, "1\n"}, {5, 8, "2\n"}, {10, 13, "3\n"}}},
		"one at the begin, one end": {"a\nb\n", "x\na\nb\ny\n", []textEdit{{0, 0, "x\n"}, {4, 4, "y\n"}}},
		"of nothing":                {"", "a\nb", []textEdit{{0, 0, "a\nb"}}},
		"to nothing":                {"a\nb", "", []textEdit{{0, 3, ""}}},
		"a line end more":           {"a\nb", "a\nb\n", []textEdit{{2, 3, "b\n"}}},
		"a change, then a new one":  {"a\nb\n", "x\nb\nc\n", []textEdit{{0, 2, "x\n"}, {4, 4, "c\n"}}},
		"a new paragraph behind":    {"one\n\ntwo\n", "ONE\n\nmore\n\ntwo\n", []textEdit{{0, 4, "ONE\n"}, {5, 5, "more\n\n"}}},
		"characters beyond ASCII":   {"é\nb\nc\n", "é\nbb\nc\nd\n", []textEdit{{3, 5, "bb\n"}, {7, 7, "d\n"}}},
	} {
		got := lineEdits(tt.from, tt.to)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
		var out strings.Builder
		at := 0
		for _, e := range got {
			out.WriteString(tt.from[at:e.start] + e.text)
			at = e.end
		}
		if out.WriteString(tt.from[at:]); out.String() != tt.to {
			t.Errorf("%s: the edits make %q, want %q", name, out.String(), tt.to)
		}
	}
}
