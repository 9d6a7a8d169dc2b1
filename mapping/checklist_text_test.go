package mapping_test

import (
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

func TestWithText(t *testing.T) {
	t.Parallel()
	const body = "one\n\n- [ ] a\n- [x] b\n\ntwo\n"
	for name, c := range map[string]struct{ body, text, want string }{
		"the same":                           {body, "one\n\ntwo\n", body},
		"the same but for white space":       {body, "one \r\n\r\ntwo", body},
		"no items":                           {"one\n", "two", "two"},
		"an edited line above":               {body, "one!\n\ntwo\n", "one!\n\n- [ ] a\n- [x] b\n\ntwo\n"},
		"an edited line below":               {body, "one\n\ntwo!\n", "one\n\n- [ ] a\n- [x] b\n\ntwo!\n"},
		"a paragraph at the top":             {body, "new\n\none\n\ntwo\n", "new\n\none\n\n- [ ] a\n- [x] b\n\ntwo\n"},
		"a paragraph at the end":             {body, "one\n\ntwo\n\nnew\n", "one\n\n- [ ] a\n- [x] b\n\ntwo\n\nnew\n"},
		"a paragraph at the list's place":    {body, "one\n\nnew\n\ntwo\n", "one\n\nnew\n\n- [ ] a\n- [x] b\n\ntwo\n"},
		"the paragraph above is gone":        {body, "two\n", "- [ ] a\n- [x] b\n\ntwo\n"},
		"the paragraph below is gone":        {body, "one\n", "one\n\n- [ ] a\n- [x] b\n"},
		"all is gone":                        {body, "", "- [ ] a\n- [x] b\n"},
		"all is new":                         {body, "x\ny\n\nz", "x\ny\n\n- [ ] a\n- [x] b\n\nz"},
		"the blank line is gone":             {body, "one\ntwo\n", "one\ntwo\n\n- [ ] a\n- [x] b\n"},
		"words for an empty body":            {"- [ ] a", "one", "one\n\n- [ ] a"},
		"a line under a heading":             {"# T\n- [ ] a\n\n# N\n", "# T\nwhy\n\n# N\n", "# T\nwhy\n- [ ] a\n\n# N\n"},
		"a heading gone":                     {"# T\n- [ ] a\n\nend\n", "end\n", "- [ ] a\n\nend\n"},
		"no blank line below":                {"# T\n- [ ] a\n\nend\n", "# T\nend\n", "# T\n- [ ] a\n\nend\n"},
		"two lists":                          {"one\n\n- [ ] a\n\ntwo\n\n- [ ] b\n\nthree\n", "one!\n\ntwo\n\nmore\n\nthree\n", "one!\n\n- [ ] a\n\ntwo\n\nmore\n\n- [ ] b\n\nthree\n"},
		"two lists come together":            {"one\n\n- [ ] a\n\ntwo\n\n- [ ] b\n\nthree\n", "one\n\nthree\n", "one\n\n- [ ] a\n\n- [ ] b\n\nthree\n"},
		"items under plain ones":             {"- p\n  - [ ] a\n- q\n  - [ ] b\n", "- p!\n- q\n- r\n", "- p!\n  - [ ] a\n- q\n  - [ ] b\n- r\n"},
		"CRLF":                               {strings.ReplaceAll(body, "\n", "\r\n"), "one!\n\ntwo\n", "one!\r\n\r\n- [ ] a\r\n- [x] b\r\n\r\ntwo\r\n"},
		"a text with items":                  {body, "one\n\ntwo\n\n- [ ] c\n", "one\n\n- [ ] a\n- [x] b\n\ntwo\n\n- [ ] c\n"},
		"code that is not ended":             {body, "```\none\n\ntwo\n", "- [ ] a\n- [x] b\n\n```\none\n\ntwo\n"},
		"a comment that is not ended":        {body, "<!-- one\n\ntwo\n", "- [ ] a\n- [x] b\n\n<!-- one\n\ntwo\n"},
		"the plain item of an item is gone":  {"one\n\n- p\n    - [ ] a\n", "one\n", "- [ ] a\n\none\n"},
		"two items with a line between":      {"# T\n- [ ] a\n\n- [ ] b\n\nend\n", "# T\nwhy\n\nend\n", "# T\nwhy\n- [ ] a\n\n- [ ] b\n\nend\n"},
		"a line right below":                 {"one\n- [ ] a\ntwo\n\nend\n", "ONE\ntwo\n\nend\n", "ONE\n- [ ] a\ntwo\n\nend\n"},
		"items under plain ones, by tabs":    {"- p\n\t- [ ] a\n- q\n", "- p\n- n\n- q\n", "- p\n\t- [ ] a\n- n\n- q\n"},
		"two lists and a paragraph on top":   {"one\n\n- [ ] a\n\ntwo\n\n- [ ] b\n", "new\n\none\n\ntwo\n", "new\n\none\n\n- [ ] a\n\ntwo\n\n- [ ] b\n"},
		"a longer line above two lists":      {"one\n\n- [ ] a\n\ntwo\n\n- [ ] b\n", "one and more\n\ntwo\n", "one and more\n\n- [ ] a\n\ntwo\n\n- [ ] b\n"},
		"a paragraph that grew at its end":   {"one\n\n- [ ] a\n\ntwo\n", "one\nmore\nand more\n\ntwo\n", "one\nmore\nand more\n\n- [ ] a\n\ntwo\n"},
		"a paragraph that grew at its top":   {"one\n\n- [ ] a\n\ntwo\n", "one\n\nbefore\ntwo\n", "one\n\nbefore\ntwo\n\n- [ ] a\n"},
		"a numbered list that cannot follow": {"one\n\n2. [ ] a\n", "one\ntwo", "one\ntwo\n\n2. [ ] a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := mapping.WithText(c.body, c.text); got != c.want {
				t.Errorf("WithText = %q, want %q", got, c.want)
			}
		})
	}
}

// paragraphs generates texts that are no Markdown but paragraphs and plain lists,
// so that a run of items can stand anywhere between two lines.
func paragraphs() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "one", "two", "three", "# four", "- five", "**six**"}), 0, 9).Draw(t, "lines")
		return strings.Join(lines, "\n")
	})
}

// withLists generates bodies of paragraphs with runs of items at their places.
func withLists() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "one", "two", "# four", "- five", "- [ ] a", "- [x] b", "* [ ] c", "  - [ ] d", "1. [ ] e"}), 0, 10).Draw(t, "lines")
		body := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		if rapid.Bool().Draw(t, "crlf") {
			body = strings.ReplaceAll(body, "\n", "\r\n")
		}
		return body
	})
}

// inkOf is a text without its blank lines and line ends.
func inkOf(text string) string {
	var out []string
	for line := range strings.Lines(mapping.Canonical(text)) {
		if strings.TrimSpace(line) != "" {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return strings.Join(out, "\n")
}

func TestWithTextGetPut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.OneOf(withLists(), anyBody()).Draw(t, "body")
		if got := mapping.WithText(body, mapping.WithoutItems(body)); got != body {
			t.Fatalf("WithText(body, WithoutItems(body)) = %q, want %q", got, body)
		}
	})
}

func TestWithTextPutGet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := withLists().Draw(t, "body")
		text := rapid.OneOf(paragraphs(), mappingtest.Edited(mapping.Canonical(mapping.WithoutItems(body)), "x")).Draw(t, "text")
		put := mapping.WithText(body, text)
		if got, want := itemList(mapping.Items(put)), itemList(mapping.Items(body)); got != want {
			t.Fatalf("the items of %q: %q, want %q", put, got, want)
		}
		if got := mapping.WithoutItems(put); inkOf(got) != inkOf(text) {
			t.Fatalf("the text of %q: %q, want %q", put, got, text)
		}
	})
}

// TestWithTextPutGetOfParagraphs: an edit of a text with a run of items between its paragraphs
// gives exactly that text back. So planning is not written again.
func TestWithTextPutGetOfParagraphs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prose := func(name string) []string {
			return rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two\nlines", "# three", "four"}), 0, 5).Draw(t, name)
		}
		var body []string
		for _, p := range prose("body") {
			body = append(body, p)
			if rapid.Bool().Draw(t, "list") {
				body = append(body, "- [ ] a\n- [x] b")
			}
		}
		text := strings.Join(prose("text"), "\n\n")
		put := mapping.WithText(strings.Join(body, "\n\n"), text)
		if got := mapping.WithoutItems(put); mapping.Canonical(got) != text {
			t.Fatalf("the text of %q: %q, want %q", put, got, text)
		}
	})
}

// No text of planning loses an item of the issue.
func TestWithTextLosesNoItem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body, text := anyBody().Draw(t, "body"), anyBody().Draw(t, "text")
		put := mapping.WithText(body, text)
		if items := mapping.Items(body); !among(mapping.Items(put), items) {
			t.Fatalf("of %q not all are in %q", itemList(items), put)
		}
		written, kept := inkOf(mapping.WithoutItems(text)), inkOf(mapping.WithoutItems(put))
		if kept != written && strings.TrimPrefix(kept, "<!-- -->\n") != written && !strings.Contains(text, "]") {
			t.Fatalf("the text %q became %q in %q", written, kept, put)
		}
	})
}

func TestTextAndItemEditsCommute(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body, text := withLists().Draw(t, "body"), paragraphs().Draw(t, "text")
		want := wishes(mapping.Items(body), false).Draw(t, "want")
		one := mapping.SetItems(mapping.WithText(body, text), want)
		other := mapping.WithText(mapping.SetItems(body, want), text)
		if a, b := itemList(mapping.Items(one)), itemList(mapping.Items(other)); a != b {
			t.Fatalf("items %q and %q", a, b)
		}
		if a, b := inkOf(mapping.WithoutItems(one)), inkOf(mapping.WithoutItems(other)); a != b {
			t.Fatalf("texts %q and %q", a, b)
		}
	})
}

// TestTextAndItemEditsMerge: concurrent edits of two people, one of the text and one of the items,
// merge whatever lines they touched. Neither can run over the other.
func TestTextAndItemEditsMerge(t *testing.T) {
	t.Parallel()
	const body = "one\n- [ ] a\n- [ ] b\ntwo\n"
	onGitHub := mapping.SetItems(body, []mapping.Item{{Text: "a!", Checked: true, At: 1}, {Text: "c"}})
	if _, clean := mapping.Merge(body, onGitHub, "ONE\n- [ ] a\n- [ ] b\nTWO\n"); clean {
		t.Fatal("the edits do not touch, the test shows nothing")
	}
	text, clean := mapping.Merge(mapping.WithoutItems(body), mapping.WithoutItems(onGitHub), "ONE\nTWO\n")
	if !clean {
		t.Fatal("the texts do not merge")
	}
	if got, want := mapping.WithText(onGitHub, text), "ONE\nTWO\n- [x] a!\n- [ ] b\n- [ ] c\n"; got != want {
		t.Errorf("merged: %q, want %q", got, want)
	}
}

func FuzzChecklist(f *testing.F) {
	f.Add("one\r\n\r\n- [ ] a\r\n  - [x] b\r\n", "two", "c")
	f.Add("one\rtwo\r- [ ] a\r\n\nthree", "one", "two")
	f.Add("1. [ ] a\n```\n- [ ] b", "~~~\n\n    x", "```")
	f.Fuzz(func(t *testing.T, body, text, words string) {
		items := mapping.Items(body)
		if got := mapping.SetItems(body, items); got != body {
			t.Fatalf("SetItems(body, Items(body)) = %q", got)
		}
		if got := mapping.WithText(body, mapping.WithoutItems(body)); got != body {
			t.Fatalf("WithText(body, WithoutItems(body)) = %q", got)
		}
		want := []mapping.Item{{Text: words, Checked: true, At: 1}, {Text: words}}
		if len(items) == 0 {
			want = want[1:]
		}
		if put := mapping.SetItems(body, want); itemList(mapping.Items(put)) != itemList(granted(items, want)) {
			t.Fatalf("items of %q: %q", put, itemList(mapping.Items(put)))
		}
		put := mapping.WithText(body, text)
		if n := len(mapping.Items(put)); n < len(items) {
			t.Fatalf("%d of %d items are left in %q", n, len(items), put)
		}
	})
}

// TestWithTextAroundSomeItems: where only some lines are items, the others are the text's, and it
// is told which lines of the new body are items.
func TestWithTextAroundSomeItems(t *testing.T) {
	t.Parallel()
	const body = "one\n\n- [ ] a\n- [x] b\n"
	for name, c := range map[string]struct {
		lines mapping.LineSet
		text  string
		want  string
		items mapping.LineSet
	}{
		"all are":                   {nil, "ONE\n", "ONE\n\n- [ ] a\n- [x] b\n", nil},
		"none is":                   {mapping.LineSet{}, "ONE\n", "ONE\n", mapping.LineSet{}},
		"none is, nothing changed":  {mapping.LineSet{}, body, body, mapping.LineSet{}},
		"the second is":             {mapping.LineSet{2: true}, "ONE\n\n- [ ] a\n", "ONE\n\n- [ ] a\n- [x] b\n", mapping.LineSet{2: true}},
		"the first is":              {mapping.LineSet{1: true}, "ONE\n\n- [x] b\n", "ONE\n\n- [ ] a\n- [x] b\n", mapping.LineSet{1: true}},
		"the text above it is gone": {mapping.LineSet{2: true}, "- [ ] a\n", "- [ ] a\n- [x] b\n", mapping.LineSet{2: true}},
		"the text is code":          {mapping.LineSet{1: true, 2: true}, "```\ncode\n", "- [ ] a\n- [x] b\n\n```\ncode\n", mapping.LineSet{1: true, 2: true}},
		"the text is another list":  {mapping.LineSet{2: true}, "- [ ] new\n- [ ] a\n", "- [ ] new\n- [ ] a\n- [x] b\n", mapping.LineSet{3: true}},
	} {
		got, items := mapping.WithTextAround(body, c.lines, c.text)
		if got != c.want || !maps.Equal(items, c.items) || (items == nil) != (c.items == nil) {
			t.Errorf("%s: %q with the items %v, want %q with %v", name, got, items, c.want, c.items)
		}
	}
}
