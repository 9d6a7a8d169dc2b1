package mapping

import "testing"

// TestCutOut has a row for each gap that a mark of the bridge may stand in. The wider of the gaps
// before and after it joins what people wrote, so that their paragraphs stay apart.
func TestCutOut(t *testing.T) {
	for name, tt := range map[string]struct{ before, after, want string }{
		"alone":                               {"", "", ""},
		"alone, between blank lines":          {"\n\n", "\n\n", ""},
		"at the end":                          {"a\n\n", "", "a"},
		"at the end, blank lines behind it":   {"a\n\n", "\n \n", "a"},
		"at the beginning":                    {"", "\n\nb", "b"},
		"at the beginning, an indented line":  {"", "\n\n  b", "  b"},
		"at the beginning, in CRLF":           {"", "\r\n\r\nb", "b"},
		"between words":                       {"a ", " b", "a b"},
		"between words, no space before it":   {"a", " b", "a b"},
		"between words, no space behind it":   {"a ", "b", "a b"},
		"within a word":                       {"a", "b", "ab"},
		"between lines":                       {"a\n", "\nb", "a\nb"},
		"between paragraphs":                  {"a\n\n", "\n\nb", "a\n\nb"},
		"below a paragraph, above a line":     {"a\n\n", "\nb", "a\n\nb"},
		"below a line, above a paragraph":     {"a\n", "\n\nb", "a\n\nb"},
		"between paragraphs, in CRLF":         {"a\r\n\r\n", "\r\n\r\nb", "a\r\n\r\nb"},
		"below a line, in CRLF":               {"a\r\n", "\r\n\r\nb", "a\r\n\r\nb"},
		"on a line's end, in CRLF":            {"a ", "\r\n\r\n  b", "a\r\n\r\n  b"},
		"on a line's end":                     {"a ", "\n  b", "a\n  b"},
		"above a blank line with white space": {"a\n", "\n \t\nb", "a\n \t\nb"},
		"above an indented line":              {"a\n\n", "\n    b", "a\n\n    b"},
		"before words, blank lines far below": {"a ", " b\n\nc", "a b\n\nc"},
	} {
		text := tt.before + "MARK" + tt.after
		if got := cutOut(text, len(tt.before), len(tt.before)+len("MARK")); got != tt.want {
			t.Errorf("%s: of %q is left %q, want %q", name, text, got, tt.want)
		}
	}
}
