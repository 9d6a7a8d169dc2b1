package mapping_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
)

func linesOf(texts ...string) []mapping.Line {
	var out []mapping.Line
	for _, text := range texts {
		out = append(out, mapping.Line{Text: text})
	}
	return out
}

func TestFindLines(t *testing.T) {
	t.Parallel()
	away := func(text string) mapping.Line { return mapping.Line{Text: text, Away: true} }
	for name, c := range map[string]struct {
		known []mapping.Line
		now   string
		want  []int
	}{
		"the same":                         {linesOf("a", "b"), "a|b", []int{0, 1}},
		"moved":                            {linesOf("one", "two", "three"), "three|one|two", []int{2, 0, 1}},
		"renamed":                          {linesOf("write the docs", "test"), "write the documents|test", []int{0, 1}},
		"new and gone":                     {linesOf("one", "two"), "two|seven", []int{1, -1}},
		"came back":                        {[]mapping.Line{away("gone"), {Text: "two"}}, "two|gone", []int{1, 0}},
		"away and alike":                   {[]mapping.Line{away("write the docs")}, "write the documents", []int{-1}},
		"what a write made":                {[]mapping.Line{{Text: "one", To: "seven"}, {Text: "two"}}, "seven|two", []int{0, 1}},
		"what a write did not":             {[]mapping.Line{{Text: "one", To: "seven"}, {Text: "two"}}, "one|two", []int{0, 1}},
		"renamed, and a write did nothing": {[]mapping.Line{{Text: "write the docs", To: "seven"}}, "write the documents", []int{0}},
		"a write that was renamed since":   {[]mapping.Line{{Text: "one", To: "write the docs"}}, "write the docs", []int{0}},
		"back before the one beside it":    {[]mapping.Line{{Text: "two"}, away("gone")}, "gone|two", []int{1, 0}},
		"away, and no line is free":        {[]mapping.Line{{Text: "one"}, away("one")}, "one", []int{0}},
		"away, and one line is free":       {[]mapping.Line{{Text: "one"}, away("one")}, "one|one", []int{0, 1}},
		"somebody else's seven":            {[]mapping.Line{{Text: "one", To: "seven"}}, "one|seven", []int{0, -1}},
		"defused":                          {linesOf("ask @bob"), "ask @\u2060bob", []int{0}},
		"of two away the first":            {[]mapping.Line{away("a"), away("a")}, "a|a|a", []int{0, 1, -1}},
	} {
		var now []mapping.Item
		for text := range strings.SplitSeq(c.now, "|") {
			now = append(now, mapping.Item{Text: text})
		}
		if got := mapping.FindLines(c.known, now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestItemViews(t *testing.T) {
	t.Parallel()
	got := mapping.ItemView(mapping.Item{Text: " ask  @\u2060bob ", Checked: true})
	if got[mapping.Title].Value != "ask  @bob" || got[mapping.State].Value != mapping.StateDone {
		t.Errorf("item %v", got)
	}
	got = mapping.ItemView(mapping.Item{Text: "ask"})
	if len(got) != 2 || got[mapping.Title].Value != "ask" || got[mapping.State].Value != mapping.StateTodo {
		t.Errorf("an item without a tick: %v", got)
	}
	for state, want := range map[string]string{mapping.StateTodo: mapping.StateTodo, mapping.StateInProgress: mapping.StateTodo, mapping.StateDone: mapping.StateDone} {
		view := mapping.ItemTaskView(&mapping.Task{Title: mapping.Versioned{Value: "a", Version: 2}, State: mapping.Versioned{Value: state, Version: 3}})
		if view[mapping.State] != (mapping.Versioned{Value: want, Version: 3}) || view[mapping.Title] != (mapping.Versioned{Value: "a", Version: 2}) || len(view) != 2 {
			t.Errorf("a task in state %s: %v", state, view)
		}
	}
	if got := mapping.ItemText("ask @bob and\n@eve", "ask @eve"); got != "ask @\u2060bob and @eve" {
		t.Errorf("text %q", got)
	}
}

func TestMergeBodies(t *testing.T) {
	t.Parallel()
	const base = "one\n\n- [ ] a\n- [ ] b\n- [ ] c\n\ntwo\n"
	for name, c := range map[string]struct{ a, b, want string }{
		"ticks of neighbours":           {"one\n\n- [x] a\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [ ] a\n- [x] b\n- [ ] c\n\ntwo\n", "one\n\n- [x] a\n- [x] b\n- [ ] c\n\ntwo\n"},
		"a text and a tick":             {"ONE\n\n- [ ] a\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [x] a\n- [ ] b\n- [ ] c\n\ntwo\n", "ONE\n\n- [x] a\n- [ ] b\n- [ ] c\n\ntwo\n"},
		"a name and a tick":             {"one\n\n- [ ] a!\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [x] a\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [x] a!\n- [ ] b\n- [ ] c\n\ntwo\n"},
		"two names":                     {"one\n\n- [ ] a!\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [ ] a?\n- [ ] b\n- [ ] c\n\ntwo\n", ""},
		"two texts":                     {"ONE\n\n- [ ] a\n- [ ] b\n- [ ] c\n\ntwo\n", "Eins\n\n- [ ] a\n- [ ] b\n- [ ] c\n\ntwo\n", ""},
		"new ones":                      {base + "\n- [ ] of a\n", "one\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [x] of b\n\ntwo\n", base + "\n- [ ] of a\n- [x] of b\n"},
		"the same new one":              {base + "\n- [ ] new\n", "one\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] new\n\ntwo\n", base + "\n- [ ] new\n"},
		"the same new one, ticked by a": {base + "\n- [x] new\n", "one\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] new\n\ntwo\n", base + "\n- [x] new\n"},
		"the same new one, ticked by b": {base + "\n- [ ] new\n", "one\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [x] new\n\ntwo\n", base + "\n- [x] new\n"},
		"the same new one, twice in b":  {base + "\n- [ ] new\n", "one\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] new\n- [x] new\n\ntwo\n", base + "\n- [ ] new\n- [x] new\n"},
		"two of the same, ticked by b":  {base + "\n- [ ] new\n- [ ] new\n", "one\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] new\n- [x] new\n\ntwo\n", base + "\n- [ ] new\n- [x] new\n"},
		"a tick and a name":             {"one\n\n- [x] a\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [ ] a!\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [x] a!\n- [ ] b\n- [ ] c\n\ntwo\n"},
		"the same name":                 {"one\n\n- [x] a!\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [ ] a!\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [x] a!\n- [ ] b\n- [ ] c\n\ntwo\n"},
		"both tick it":                  {"one\n\n- [x] a\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [x] a\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [x] a\n- [ ] b\n- [ ] c\n\ntwo\n"},
		"both remove it":                {"one\n\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [ ] b\n- [x] c\n\ntwo\n", "one\n\n- [ ] b\n- [x] c\n\ntwo\n"},
		"removed and renamed":           {"one\n\n- [ ] a!\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [ ] a!\n- [ ] b\n- [ ] c\n\ntwo\n"},
		"removed":                       {"one\n\n- [x] a\n- [ ] b\n- [ ] c\n\ntwo\n", "one\n\n- [ ] a\n- [ ] c\n\ntwo\n", "one\n\n- [x] a\n- [ ] c\n\ntwo\n"},
		"removed and ticked":            {"one\n\n- [ ] a\n- [x] b\n- [ ] c\n\ntwo\n", "one\n\n- [ ] a\n- [ ] c\n\ntwo\n", "one\n\n- [ ] a\n- [x] b\n- [ ] c\n\ntwo\n"},
		"ticked and removed":            {"one\n\n- [ ] a\n- [ ] c\n\ntwo\n", "one\n\n- [ ] a\n- [x] b\n- [ ] c\n\ntwo\n", "one\n\n- [ ] a\n- [ ] c\n- [x] b\n\ntwo\n"},
	} {
		got, clean := mapping.MergeBodies(base, c.a, c.b)
		if clean != (c.want != "") || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, clean, c.want)
		}
	}
}

// sortedItems is an itemList without its order.
func sortedItems(body string) string {
	list := strings.Split(itemList(mapping.Items(body)), "|")
	slices.Sort(list)
	return strings.Join(list, "|")
}

// edited is a body after a person's edits of its items and its text.
func edited(t *rapid.T, body, who string) string {
	want := wishes(mapping.Items(body), false).Draw(t, who+" items")
	for i := range want {
		if want[i].At == 0 {
			want[i].Text += " of " + who
		}
	}
	if rapid.Bool().Draw(t, who+" text") {
		body = mapping.WithText(body, mapping.WithoutItems(body)+"\n\nof "+who)
	}
	return mapping.SetItems(body, want)
}

// Bodies merge as texts do: an edit of only one side is taken, and it does not matter who merges.
func TestMergeBodiesLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := strings.ReplaceAll(withLists().Draw(t, "body"), "\r", "")
		x, y := edited(t, base, "x"), edited(t, base, "y")
		if got, clean := mapping.MergeBodies(base, x, base); !clean || got != x {
			t.Fatalf("MergeBodies(b, x, b) = %q, %v, want %q", got, clean, x)
		}
		got, clean := mapping.MergeBodies(base, base, y)
		if !clean || sortedItems(got) != sortedItems(y) || inkOf(mapping.WithoutItems(got)) != inkOf(mapping.WithoutItems(y)) {
			t.Fatalf("MergeBodies(b, b, y) = %q, %v, want %q", got, clean, y)
		}
		one, clean := mapping.MergeBodies(base, x, y)
		other, too := mapping.MergeBodies(base, y, x)
		if clean != too || sortedItems(one) != sortedItems(other) {
			t.Fatalf("of %q, %q and %q: %q, %v and %q, %v", base, x, y, one, clean, other, too)
		}
	})
}
