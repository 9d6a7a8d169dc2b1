package mapping

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// applied is what edits make of a list of tokens.
func applied(from, to []string, edits []edit) []string {
	var out []string
	at := 0
	for _, e := range edits {
		out = append(append(out, from[at:e.from]...), to[e.newFrom:e.newTo]...)
		at = e.to
	}
	return append(out, from[at:]...)
}

// shortest is how many tokens have to be removed and inserted at least, counted in full.
func shortest(a, b []string) int {
	common := make([]int, len(b)+1) // the longest common part of a so far and b[:j]
	for _, token := range a {
		corner := 0
		for j, other := range b {
			up := common[j+1]
			if common[j+1] = max(up, common[j]); token == other {
				common[j+1] = corner + 1
			}
			corner = up
		}
	}
	return len(a) + len(b) - 2*common[len(b)]
}

func tokenLists(t *rapid.T) (from, to []string) {
	list := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 14)
	return list.Draw(t, "from"), list.Draw(t, "to")
}

// TestReadingsSayTheDifference: in each form the edits make one list the other one, in order,
// and where both lists are the same there is none.
func TestReadingsSayTheDifference(t *testing.T) {
	raw := func(_, _ []string, edits []edit) []edit { return edits }
	for name, read := range map[string]reading{"as found": raw, "parted": parted, "whole": whole, "above": above} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			from, to := tokenLists(t)
			edits := read(from, to, diff(from, to))
			if got := applied(from, to, edits); !slices.Equal(got, to) {
				t.Fatalf("%v make %v of %v, want %v", edits, got, from, to)
			}
			if none := len(edits) == 0; none != slices.Equal(from, to) {
				t.Fatalf("%v and %v have the edits %v", from, to, edits)
			}
			end, newEnd := -1, -1
			for _, e := range edits {
				if e.from < end || e.newFrom < newEnd || e.to < e.from || e.newTo < e.newFrom || e.from == e.to && e.newFrom == e.newTo {
					t.Fatalf("%v are out of order, or empty", edits)
				}
				end, newEnd = e.to, e.newTo
			}
		}))
	}
}

// TestDiffIsShortest: of short lists the edits are the fewest there can be, and no form adds one.
func TestDiffIsShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := tokenLists(t)
		want := shortest(from, to)
		if got := changed(from, to); got != want {
			t.Fatalf("%v to %v is told with %d tokens, want %d", from, to, got, want)
		}
		if back := changed(to, from); back != want {
			t.Fatalf("back from %v to %v it is %d tokens, want %d", to, from, back, want)
		}
		for _, read := range []reading{whole, above} {
			n := 0
			for _, e := range read(from, to, diff(from, to)) {
				n += e.to - e.from + e.newTo - e.newFrom
			}
			if n != want {
				t.Fatalf("%v to %v in another form takes %d tokens, want %d", from, to, n, want)
			}
		}
	})
}

// movable reports whether an insertion or a deletion could stand by tokens further down (up where
// by is negative) and say the same.
func movable(from, to []string, edits []edit, i, by int) bool {
	moved := slices.Clone(edits)
	e := &moved[i]
	if e.from < e.to && e.newFrom < e.newTo {
		return false
	}
	e.from, e.to, e.newFrom, e.newTo = e.from+by, e.to+by, e.newFrom+by, e.newTo+by
	if e.from < 0 || e.newFrom < 0 || e.to > len(from) || e.newTo > len(to) {
		return false
	}
	if i > 0 && (e.from < moved[i-1].to || e.newFrom < moved[i-1].newTo) || i+1 < len(moved) && (e.to > moved[i+1].from || e.newTo > moved[i+1].newFrom) {
		return false
	}
	return slices.Equal(applied(from, to, moved), to)
}

// TestPlacesOfEdits: an edit that fits several positions takes the last of them. The function above
// moves it as far up as it goes, and reach is that bound. Whole edits never touch.
func TestPlacesOfEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := tokenLists(t)
		last, first := whole(from, to, diff(from, to)), above(from, to, diff(from, to))
		if len(last) != len(first) {
			t.Fatalf("%v from below, %v from above", last, first)
		}
		for i, e := range last {
			if i > 0 && last[i-1].to >= e.from {
				t.Fatalf("%v touch", last)
			}
			if movable(from, to, last, i, 1) {
				t.Fatalf("%v could stand further down: %v to %v", e, from, to)
			}
			if e.from != e.to && e.newFrom != e.newTo && e.reach != e.from {
				t.Fatalf("%v changes tokens, and is said to move", e)
			}
			for by := range e.from - e.reach {
				if !movable(from, to, last, i, -by-1) {
					t.Fatalf("%v cannot stand %d tokens further up: %v to %v", e, by+1, from, to)
				}
			}
			if movable(from, to, last, i, e.reach-e.from-1) {
				t.Fatalf("%v goes further up than %d: %v to %v", e, e.reach, from, to)
			}
			if f := first[i]; f.from != e.reach || f.to-f.from != e.to-e.from || f.newTo-f.newFrom != e.newTo-e.newFrom {
				t.Fatalf("%v stands at %v above", e, f)
			}
		}
	})
}

// TestFormsOfAnEdit has a row for each form of one difference.
func TestFormsOfAnEdit(t *testing.T) {
	for name, tt := range map[string]struct {
		from, to             string // a token a word
		parted, whole, above []edit
	}{
		"nothing":            {"a b", "a b", nil, nil, nil},
		"a word put in":      {"a c", "a b c", []edit{{1, 1, 1, 2, 1}}, []edit{{1, 1, 1, 2, 1}}, []edit{{1, 1, 1, 2, 1}}},
		"one of two":         {"a b", "a a b", []edit{{1, 1, 1, 2, 0}}, []edit{{1, 1, 1, 2, 0}}, []edit{{0, 0, 0, 1, 0}}},
		"one of two removed": {"a a b", "a b", []edit{{1, 2, 1, 1, 0}}, []edit{{1, 2, 1, 1, 0}}, []edit{{0, 1, 0, 0, 0}}},
		"at the end":         {"a", "a a", []edit{{1, 1, 1, 2, 0}}, []edit{{1, 1, 1, 2, 0}}, []edit{{0, 0, 0, 1, 0}}},
		"a changed word":     {"a b c", "a x c", []edit{{1, 2, 1, 2, 1}}, []edit{{1, 2, 1, 2, 1}}, []edit{{1, 2, 1, 2, 1}}},
		// The line end that follows the word can stand between the changed word and the new one.
		"changed, and one added": {
			"a / c", "x / b / c",
			[]edit{{0, 1, 0, 1, 0}, {2, 2, 2, 4, 1}},
			[]edit{{0, 1, 0, 3, 0}},
			[]edit{{0, 1, 0, 3, 0}},
		},
		"changed, and one removed": {
			"a / b / c", "x / c",
			[]edit{{0, 1, 0, 1, 0}, {2, 4, 2, 2, 1}},
			[]edit{{0, 3, 0, 1, 0}},
			[]edit{{0, 3, 0, 1, 0}},
		},
		"all of it": {"a b", "x", []edit{{0, 2, 0, 1, 0}}, []edit{{0, 2, 0, 1, 0}}, []edit{{0, 2, 0, 1, 0}}},
	} {
		from, to := strings.Fields(tt.from), strings.Fields(tt.to)
		for form, x := range map[string]struct {
			read reading
			want []edit
		}{"parted": {parted, tt.parted}, "whole": {whole, tt.whole}, "above": {above, tt.above}} {
			if got := x.read(from, to, diff(from, to)); !slices.Equal(got, x.want) {
				t.Errorf("%s, %s: %v, want %v", name, form, got, x.want)
			}
		}
	}
}

// TestDiffOfLongLists: lists with more differences than are searched for still get edits that are
// right, though not the fewest.
func TestDiffOfLongLists(t *testing.T) {
	for name, tt := range map[string]struct{ every, of int }{"all differ": {1, 3000}, "every other": {2, 3000}, "every third": {3, 6000}} {
		from, to := make([]string, tt.of), make([]string, tt.of)
		for i := range from {
			from[i], to[i] = strconv.Itoa(i%700), strconv.Itoa(i%700)
			if i%tt.every == 0 {
				to[i] = "new " + strconv.Itoa(i)
			}
		}
		for form, read := range map[string]reading{"parted": parted, "whole": whole, "above": above} {
			if got := applied(from, to, read(from, to, diff(from, to))); !slices.Equal(got, to) {
				t.Errorf("%s, %s: the edits do not make one list the other", name, form)
			}
		}
	}
}

// TestDiffOfLongListsIsNearlyShortest: where the search is given up, it continues from the farthest
// point that it reached. So hardly any unchanged token counts as changed.
func TestDiffOfLongListsIsNearlyShortest(t *testing.T) {
	for name, tt := range map[string]struct{ of, every int }{
		"a few changes": {4000, 50}, "more than are searched for": {4000, 5}, "many more": {6000, 2}, "in a short list": {600, 2},
	} {
		var from, to []string
		replaced, inserted := 0, 0
		for i := range tt.of {
			word := strconv.Itoa(i)
			from = append(from, word)
			switch {
			case i*i%tt.every != 0 || i%3 == 0:
				to = append(to, word)
			case i%2 == 0:
				to, replaced = append(to, "new "+word), replaced+1
			default:
				to, inserted = append(to, "more "+word, word), inserted+1
			}
		}
		least := 2*replaced + inserted // each word stands once
		if got := changed(from, to); got < least || got > least+least/20 {
			t.Errorf("%s: told with %d words, %d do", name, got, least)
		}
		if got := changed(to, from); got < least || got > least+least/20 {
			t.Errorf("%s, back: told with %d words, %d do", name, got, least)
		}
	}
}

// TestDistance has a row for each kind of change; it counts the bytes on both sides.
func TestDistance(t *testing.T) {
	for name, tt := range map[string]struct {
		from, to string
		want     int
	}{
		"the same":        {"write tests", "write tests", 0},
		"two empty ones":  {"", "", 0},
		"from nothing":    {"", "four", 4},
		"to nothing":      {"four", "", 4},
		"a word put in":   {"write tests", "write more tests", 5},
		"a letter more":   {"test", "tests", 1},
		"a letter less":   {"tests", "test", 1},
		"another letter":  {"cat", "cut", 2},
		"at the front":    {"ship", "!ship", 1},
		"nothing in both": {"abc", "xyz", 6},
		"not of one byte": {"日本", "日", 3},
	} {
		if got := distance(tt.from, tt.to); got != tt.want {
			t.Errorf("%s: %d bytes, want %d", name, got, tt.want)
		}
	}
}

// TestWordTokens has a row for each kind of word.
func TestWordTokens(t *testing.T) {
	for text, want := range map[string][]string{
		"":               nil,
		"one":            {"one"},
		"one two":        {"one", " two"},
		"a  \tb":         {"a", "  \tb"},
		"one, two.":      {"one", ",", " two", "."},
		"it_is 3rd":      {"it_is", " 3rd"},
		"a\nb\n":         {"a", "\n", "b", "\n"},
		"end ":           {"end", " "},
		"café naïve":     {"café", " naïve"},
		"e\u0301te":      {"e\u0301te"},
		"日本 語":           {"日", "本", " 語"},
		"go日":            {"go", "日"},
		"ที่นี่":         {"ท", "ี", "่", "น", "ี", "่"},
		"Привет, мир":    {"Привет", ",", " мир"},
		"한국어 배우기":        {"한국어", " 배우기"},
		"#12":            {"#", "12"},
		"bad\xffbyte":    {"bad", "\xff", "byte"},
		" \t":            {" \t"},
		"かな kana カナ":     {"か", "な", " kana", " カ", "ナ"},
		"x=1; y=x":       {"x", "=", "1", ";", " y", "=", "x"},
		"\u00a0no\u00a0": {"\u00a0", "no", "\u00a0"},
	} {
		if got := wordTokens(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
