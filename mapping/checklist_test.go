package mapping_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

// itemList writes items as "x one|  two", the box first.
func itemList(items []mapping.Item) string {
	var out []string
	for _, i := range items {
		box := " "
		if i.Checked {
			box = "x"
		}
		out = append(out, box+" "+mapping.CanonicalTitle(i.Text))
	}
	return strings.Join(out, "|")
}

func TestItems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, items, rest string }{
		"nothing":                       {"", "", ""},
		"no list":                       {"text [ ] text\n", "", "text [ ] text\n"},
		"a list and nothing else":       {"- [ ] a\n- [x] b\n", "  a|x b", ""},
		"no line end":                   {"- [ ] a", "  a", ""},
		"big X":                         {"- [X] a\n", "x a", ""},
		"every marker":                  {"- [ ] a\n* [ ] b\n+ [ ] c\n1. [ ] d\n2) [x] e\n", "  a|  b|  c|  d|x e", ""},
		"between paragraphs":            {"one\n\n- [ ] a\n\ntwo\n", "  a", "one\n\ntwo\n"},
		"below its heading":             {"# Tasks\n- [ ] a\n- [ ] b\n\ntwo\n", "  a|  b", "# Tasks\n\ntwo\n"},
		"a loose list":                  {"one\n\n- [ ] a\n\n- [x] b\n\n\ntwo", "  a|x b", "one\n\ntwo"},
		"at the top":                    {"- [ ] a\n\ntwo\n", "  a", "two\n"},
		"nested":                        {"- [ ] a\n  - [x] b\n    1. [ ] c\n", "  a|x b|  c", ""},
		"under a plain item":            {"- plain\n  - [ ] a\n- plain\n", "  a", "- plain\n- plain\n"},
		"a plain item under it":         {"- [ ] a\n  - plain\n", "  a", "  - plain\n"},
		"several markers on a line":     {"- - [ ] a\n1. - [ ] b\n", "", "- - [ ] a\n1. - [ ] b\n"},
		"wrapped words are text":        {"- [ ] a\n  more of a\n", "  a", "  more of a\n"},
		"a paragraph of it is text":     {"- [ ] a\n\n  more of a\n", "  a", "  more of a\n"},
		"white space and markup":        {"-   [ ] \t **a** `b`  \t\n", "  **a** `b`", ""},
		"tabs":                          {"-\t[x]\ta\n", "x a", ""},
		"CRLF":                          {"one\r\n\r\n- [ ] a\r\n- [x] b\r\n\r\ntwo\r\n", "  a|x b", "one\r\n\r\ntwo\r\n"},
		"a lone CR ends a line":         {"one\r\r- [ ] a\r- [x] b\rtwo", "  a|x b", "one\r\rtwo"},
		"no blank behind the box":       {"- [ ]a\n- [x]b\n", "", "- [ ]a\n- [x]b\n"},
		"no words":                      {"- [ ]\n- [ ]  \n- [x] \u00a0\x00\n", "", "- [ ]\n- [ ]  \n- [x] \u00a0\x00\n"},
		"no box":                        {"- [y] a\n- [] b\n- [  ] c\n- [\t] d\n", "", "- [y] a\n- [] b\n- [  ] c\n- [\t] d\n"},
		"a link":                        {"- [x](https://example.com) a\n", "", "- [x](https://example.com) a\n"},
		"an escaped box":                {"- \\[ ] a\n", "", "- \\[ ] a\n"},
		"not first in its item":         {"- words [ ] a\n", "", "- words [ ] a\n"},
		"a box on the next line":        {"-\n  [ ] a\n", "", "-\n  [ ] a\n"},
		"a heading in a list":           {"- # [ ] a\n", "", "- # [ ] a\n"},
		"an underlined heading":         {"- [ ] a\n  ===\n", "  a", "  ===\n"},
		"fenced code":                   {"```\n- [ ] a\n```\n- [ ] b\n", "  b", "```\n- [ ] a\n```\n"},
		"code in an item":               {"- [ ] a\n  ```\n  - [ ] no\n  ```\n", "  a", "  ```\n  - [ ] no\n  ```\n"},
		"code that is not ended":        {"~~~\n- [ ] a\n", "", "~~~\n- [ ] a\n"},
		"code behind a list marker":     {"-     [ ] a\n1.\t\t[x] b\n-    [ ] c\n", "  c", "-     [ ] a\n1.\t\t[x] b\n"},
		"indented code":                 {"one\n\n    - [ ] a\n", "", "one\n\n    - [ ] a\n"},
		"a quote":                       {"> - [ ] a\n\n- [ ] b\n", "  b", "> - [ ] a\n\n"},
		"a quote in a list":             {"- > - [ ] a\n- [ ] b\n", "  b", "- > - [ ] a\n"},
		"a comment":                     {"<!--\n- [ ] a\n-->\n- [ ] b\n", "  b", "<!--\n- [ ] a\n-->\n"},
		"HTML right above":              {"<details>\n- [ ] a\n</details>\n", "", "<details>\n- [ ] a\n</details>\n"},
		"HTML with blank lines between": {"<details>\n\n- [ ] a\n\n</details>\n", "  a", "<details>\n\n</details>\n"},
		"words like a box":              {"- [ ] [ ] a\n- [x] - [ ] b\n", "  [ ] a|x - [ ] b", ""},
		"an interrupted paragraph":      {"one\n- [ ] a\ntwo\n", "  a", "one\ntwo\n"},
		"not at two in a paragraph":     {"one\n2. [ ] a\n", "", "one\n2. [ ] a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items := mapping.Items(c.body)
			if got := itemList(items); got != c.items {
				t.Errorf("Items = %q, want %q", got, c.items)
			}
			for i, item := range items {
				if item.At != i+1 || item.Remove {
					t.Errorf("item %d: %+v", i, item)
				}
			}
			if got := mapping.WithoutItems(c.body); got != c.rest {
				t.Errorf("WithoutItems = %q, want %q", got, c.rest)
			}
		})
	}
}

func TestItemTextIsAsWritten(t *testing.T) {
	t.Parallel()
	want := []mapping.Item{{Text: "see\u2060 @bob\tand  **#12**", At: 1, Checked: true}}
	if got := mapping.Items("* [X]  see\u2060 @bob\tand  **#12** \u00a0\r\n"); !slices.Equal(got, want) {
		t.Errorf("Items = %+v, want %+v", got, want)
	}
}

// A body of absurd nesting keeps its items all the same. (How long it takes is
// for BenchmarkItems to tell.)
func TestItemsOfDeepNesting(t *testing.T) {
	t.Parallel()
	stairs := ""
	for i := 0; len(stairs) < 1<<13; i++ {
		stairs += strings.Repeat("  ", i) + "- [ ] a\n"
	}
	for name, body := range map[string]string{
		"stairs": stairs,
		"lists":  strings.Repeat("- ", 1<<12) + "[ ] a",
		"quotes": strings.Repeat(strings.Repeat("> ", 40)+"a\n", 100) + "\n- [ ] a\n",
		"boxes":  strings.Repeat("- [ ] ", 1<<10) + "a",
		"items":  strings.Repeat("- [ ] a\n", 1<<10),
	} {
		items := mapping.Items(body)
		if got := mapping.Items(mapping.WithText(body, "other\n\nwords")); len(got) != len(items) {
			t.Errorf("%s: %d items of %d are left under another text", name, len(got), len(items))
		}
		if name != "lists" && len(items) == 0 {
			t.Errorf("%s: no items", name)
		}
	}
}

// listBody generates bodies in which items stand in every place they can, and
// some that only look like items.
func listBody() *rapid.Generator[string] {
	lines := []string{
		"- [ ] a", "- [x] a", "- [X] b b", "* [ ] c", "1. [ ] d", "2. [x] e", "  - [ ] f", "    - [x] g", "      - [ ] h", "\t- [ ] i", "- - [ ] j",
		"", "", "", "one", "two words", "  three", "    four", "# five", "- six", "1. seven", "  - eight", "> nine", "> - [ ] ten", "```", "~~~", "---", "===", "<details>",
		"</details>", "<!--", "-->", "[r]: http://example.com", "| a | b |", "|---|---|", "- [ ]x", "- [ ]", "   ", "-", "\\",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 12).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "eol")) +
			rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
	})
}

func anyBody() *rapid.Generator[string] {
	return rapid.OneOf(listBody(), listBody(), mappingtest.Markdown(), mappingtest.Text())
}

func TestWithoutItemsKeepsTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := strings.ReplaceAll(anyBody().Draw(t, "body"), "\r", "")
		rest := mapping.WithoutItems(body)
		if len(mapping.Items(body)) == 0 && rest != body {
			t.Fatalf("WithoutItems = %q of a body without items", rest)
		}
		// The rest are the body's lines in their order, all that are not blank and no item among
		// them.
		left := strings.SplitAfter(rest, "\n")
		for _, line := range strings.SplitAfter(body, "\n") {
			if len(left) > 0 && left[0] == line {
				left = left[1:]
			} else if strings.TrimSpace(line) != "" && !strings.Contains(line, "]") {
				t.Fatalf("%q is gone from %q", line, rest)
			}
		}
		if strings.Join(left, "") != "" {
			t.Fatalf("%q is not of %q", left, body)
		}
	})
}
