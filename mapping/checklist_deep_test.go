package mapping

import (
	"strings"
	"testing"
)

// TestLinesTooDeep has a row for each marker of lists and quotes. A line with sixteen of them is
// read as words, which keeps the parser quick. One with fifteen keeps its meaning.
func TestLinesTooDeep(t *testing.T) {
	t.Parallel()
	for _, marker := range []string{
		">", "> ", " >", "\t> ", "- ", "* ", "+ ", "-\t", "  - ", "\t* ", "1. ", "1) ", "10. ", "123.\t", " 2)\t", "   + ",
	} {
		const rest = "é [ ] a"
		deep, flat := strings.Repeat(marker, 16)+rest, strings.Repeat(marker, 15)+rest
		want := "a\n" + strings.Repeat("x", len(deep)) + "\nb\n"
		if got := string(parseable("a\n" + deep + "\nb\n")); got != want {
			t.Errorf("sixteen of %q are read as %q", marker, got)
		}
		if got := string(parseable("a\n" + flat + "\nb\n")); got != "a\n"+flat+"\nb\n" {
			t.Errorf("fifteen of %q are read as %q", marker, got)
		}
	}
	for _, words := range []string{"-", "a ", ". ", "1 ", "1", "-- ", "1.", "#", "-a ", "=> "} {
		if text := strings.Repeat(words, 20); string(parseable(text)) != text {
			t.Errorf("%q is no marker, and %q is read as %q", words, text, parseable(text))
		}
	}
	text := "x" + strings.Repeat("- ", 20) + "\r\n" + strings.Repeat("> ", 8) + "\r" + strings.Repeat("> ", 8)
	if got := string(parseable(text)); got != unixLines(text) {
		t.Errorf("markers within a line, and of two lines, are read as %q", got)
	}
}

// TestWhereItemsBegin has a row for each form of a line that is an item, or is none.
func TestWhereItemsBegin(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"- [ ] a": "a", "- [x]  a b ": "a b", "-\t[ ]\ta": "a", "  * [X] a": "a", "123456789. [ ] a": "a", "1) [ ] a": "a", "-   [ ] a": "a",
		"- [ ] \u00a0a b\u00a0": "a b", "- [ ] a\vb": "a\vb", "- [ ] a\fb": "a\fb", "- [ ] [ ] a": "[ ] a", "- [ ] [x](u)": "[x](u)",
		"1234567890. [ ] a": "", "-     [ ] a": "", "- [ ]a": "", "- [ ]": "", "- [ ] \u00a0": "", "- [-] a": "", "- [] a": "", "- [  ] a": "",
		"- - [ ] a": "", "> - [ ] a": "", "-[ ] a": "", "1[ ] a": "", "a. [ ] a": "", "    - [ ] a": "", "- # [ ] a": "", "- \\[ ] a": "", "[ ] a": "",
	} {
		got := ""
		for _, item := range Items(line) {
			got += item.Text
		}
		if got != want {
			t.Errorf("%q has the item %q, want %q", line, got, want)
		}
	}
}
