package mapping_test

import (
	"slices"
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestItemsBesideAnotherBlock has a row for each block that follows items once the blank line
// between them is removed. A block of its own stays there; other words get a blank line again, as
// they would belong to the item.
func TestItemsBesideAnotherBlock(t *testing.T) {
	t.Parallel()
	for block, parted := range map[string]bool{
		"# h": false, "## h": false, "###### h": false, " # h": false, "  # h": false, "   # h": false, "> q": false, ">q": false,
		"- b": false, "* b": false, "+ b": false, "1. b": false, "1) b": false, "   > q": false, "   1. b": false,
		"words": true, "####### h": true, "#h": true, "#\th": true, "    # h": true, "\tx": true, "-b": true, "*b*": true, "+b": true,
		"1.b": true, "2. b": true, "10. b": true, "11) b": true, "a. b": true, "---": true, "```\nc\n```": true, "<p>": true, "é": true,
	} {
		want := "one\n- [ ] a\n" + block + "\n"
		if parted {
			want = "one\n- [ ] a\n\n" + block + "\n"
		}
		body, text := "one\n- [ ] a\n\n"+block+"\n", "one\n"+block+"\n"
		if got := mapping.WithText(body, text); got != want {
			t.Errorf("%q: the body becomes %q, want %q", block, got, want)
		}
	}
}

// TestWhereItemsGo has a row for each edit of the text around items: these stay beside the lines
// that nobody edited.
func TestWhereItemsGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, text, want string }{
		"two longer lines above":              {"one\n\ntwo\n\n- [ ] a\n\nthree\n", "one and more\n\nTWO\n\nthree\n", "one and more\n\nTWO\n\n- [ ] a\n\nthree\n"},
		"a paragraph more above":              {"one\n\ntwo\n\n- [ ] a\n\nthree\n", "ONE\n\nnew\n\ntwo\n\nthree\n", "ONE\n\nnew\n\ntwo\n\n- [ ] a\n\nthree\n"},
		"two shorter lines above":             {"one\ntwo\nthree\n- [ ] a\nfour\n", "1\ntwo\n3\nfour\n", "1\ntwo\n3\n- [ ] a\nfour\n"},
		"the lines around, and one above":     {"one\ntwo\nthree\n- [ ] a\nfour\n", "one!!!\ntwo\n3\n4\n", "one!!!\ntwo\n3\n4\n- [ ] a\n"},
		"its paragraph goes on":               {"one\n\n- [ ] a\n\ntwo\n\nthree\n", "one\nmore\ntwo\n\nthree\n", "one\nmore\ntwo\n\n- [ ] a\n\nthree\n"},
		"it goes on, and three follow":        {"one\n\n- [ ] a\n\ntwo\n\nthree\n\nfour\n", "one\nmore\ntwo\n\nthree\n\nfour\n", "one\nmore\ntwo\n\n- [ ] a\n\nthree\n\nfour\n"},
		"paragraphs before and behind":        {"one\n\n- [ ] a\n\ntwo\n\nthree\n", "one two\nx\n\ny\n\nthree\n", "one two\nx\n\n- [ ] a\n\ny\n\nthree\n"},
		"all above is gone":                   {"one\n\n- [ ] a\n\ntwo\n\nthree\n\nfour\n", "two\n\nthree\n\nfour\n", "- [ ] a\n\ntwo\n\nthree\n\nfour\n"},
		"new lines above each of two":         {"one\n- [ ] a\ntwo\n- [ ] b\nthree\n", "x\none\ny\ntwo\nz\nthree\n", "x\none\ny\n- [ ] a\ntwo\nz\n- [ ] b\nthree\n"},
		"a new line above an outer item":      {"one\n- [ ] a\n  - [ ] b\ntwo\n", "one\nnew\ntwo\n", "one\nnew\n- [ ] a\n  - [ ] b\ntwo\n"},
		"a new line below a plain outer item": {"- plain\n  - [ ] a\n- plain\n", "- plain\n- new\n- plain\n", "- plain\n  - [ ] a\n- new\n- plain\n"},
		"with a tab for its indent":           {"- plain\n\t- [ ] a\n- plain\n", "- plain\n- new\n- plain\n", "- plain\n\t- [ ] a\n- new\n- plain\n"},
		"a tab within the item":               {"one\n-\t[ ] a\ntwo\n", "one\nnew\ntwo\n", "one\nnew\n-\t[ ] a\ntwo\n"},
		"onto a text that begins with items":  {"one\n- [ ] a\n", "- [ ] new\n\n```\ncode\n", "- [ ] a\n\n- [ ] new\n\n```\ncode\n"},
		"without a line end":                  {"one\n- [ ] a\ntwo", "one\ntwo\nthree", "one\n- [ ] a\ntwo\nthree"},
		"at the end, without a line end":      {"one\n\n- [ ] a", "one\n\ntwo", "one\n\ntwo\n\n- [ ] a"},
		"at the begin, without a line end":    {"- [ ] a\n\none", "two\n\none", "two\n\n- [ ] a\n\none"},
		"with CRLF":                           {"one\r\n- [ ] a\r\ntwo\r\n", "one\nTWO\n", "one\r\n- [ ] a\r\nTWO\r\n"},
		"between many blank lines":            {"one\n\n\n- [ ] a\n\n\ntwo\n", "ONE\n\n\n\ntwo\n", "ONE\n\n\n\n- [ ] a\n\ntwo\n"},
	} {
		got := mapping.WithText(c.body, c.text)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if again := mapping.WithText(got, mapping.WithoutItems(got)); again != got {
			t.Errorf("%s: without an edit %q becomes %q", name, got, again)
		}
	}
}

// TestNumbersOfNewItems has a row for each form of a list's number: the next item has the next
// number in the same form.
func TestNumbersOfNewItems(t *testing.T) {
	t.Parallel()
	for before, next := range map[string]string{
		"1. ": "2. ", "9. ": "10. ", "3) ": "4) ", "9.  ": "10.  ", "9.\t": "10.\t", "0. ": "1. ", "007. ": "8. ", "99) ": "100) ",
		"- ": "- ", "*  ": "*  ", "+\t": "+\t", "   1. ": "   2. ", "999999998. ": "999999999. ",
	} {
		body := before + "[ ] a\n"
		got := mapping.SetItems(body, []mapping.Item{{Text: "b"}, {Text: "c", Checked: true}})
		if len(mapping.Items(body)) != 1 || len(mapping.Items(got)) != 3 {
			t.Errorf("%q: the items of %q", before, got)
		}
		if before != "999999998. " && !strings.HasPrefix(got, body+next+"[ ] b\n") {
			t.Errorf("%q: the body becomes %q, want the next item with %q", before, got, next)
		}
	}
}

// TestBlanksOfItems: items whose words differ in their kind of blanks alone say the same.
func TestBlanksOfItems(t *testing.T) {
	t.Parallel()
	const plain, other = "a b", "a\u00a0b"
	list := func(words ...string) string {
		body := "- [ ] first\n"
		for _, w := range words {
			body += "- [ ] " + w + "\n"
		}
		return body
	}
	for name, c := range map[string]struct{ base, a, b, want string }{
		"renamed on one, other blanks on the other":  {list(plain), list("a c"), list(other), list("a c")},
		"other blanks on one, renamed on the other":  {list(plain), list(other), list("a c"), list("a c")},
		"the base has other blanks":                  {list(other), list(plain), list("a c"), list("a c")},
		"the same new name, with other blanks":       {list(plain), list("a c"), list("a\u00a0c"), list("a c")},
		"two new names":                              {list(plain), list("a c"), list("a d"), ""},
		"the same new item, with other blanks":       {list(), list(plain), list(other), list(plain)},
		"removed on one, other blanks on the other":  {list(plain), list(), list(other), list()},
		"other blanks on one, removed on the other":  {list(plain), list(other), list(), list()},
		"new, twice on the other, with other blanks": {list(), list(other), list(plain, plain), list(other, plain)},
	} {
		got, clean := mapping.MergeBodies(c.base, c.a, c.b)
		if clean != (c.want != "") || got != c.want {
			t.Errorf("%s: %q, %t, want %q", name, got, clean, c.want)
		}
	}
	for name, c := range map[string]struct {
		known mapping.Line
		now   string
		want  int
	}{
		"as it was known":          {mapping.Line{Text: other}, plain, 0},
		"as it is now":             {mapping.Line{Text: plain}, other, 0},
		"what a write made of it":  {mapping.Line{Text: "one", To: other}, plain, 0},
		"a line that was away":     {mapping.Line{Text: other, Away: true}, plain, 0},
		"another one that is away": {mapping.Line{Text: "a  b", Away: true}, plain, -1},
	} {
		if got := mapping.FindLines([]mapping.Line{c.known}, []mapping.Item{{Text: c.now}}); !slices.Equal(got, []int{c.want}) {
			t.Errorf("%s: found %v, want %d", name, got, c.want)
		}
	}
}
