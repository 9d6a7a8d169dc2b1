package mapping

import "testing"

// TestGapBelowItems: a line that reads as the rest of an item gets a blank line above it. One that
// begins a block of its own follows the items at once.
func TestGapBelowItems(t *testing.T) {
	for name, tt := range map[string]struct {
		next string
		gap  bool
	}{
		"words":                     {"text", true},
		"nothing":                   {"", false},
		"a blank line":              {"\ntext", false},
		"white space alone":         {"   \ntext", false},
		"more white space":          {"    \ntext", true},
		"a dash":                    {"- a", false},
		"a plus":                    {"+ a", false},
		"a star":                    {"* a", false},
		"a dash of a word":          {"-a", true},
		"a star of emphasis":        {"*a*", true},
		"an indented dash":          {"   - a", false},
		"a dash too far in":         {"    - a", true},
		"a heading":                 {"# a", false},
		"the lowest heading":        {"###### a", false},
		"lower than any heading":    {"####### a", true},
		"a reference":               {"#12 is it", true},
		"a quote":                   {"> a", false},
		"a quote without a space":   {">a", false},
		"the first of a list":       {"1. a", false},
		"the first, with a bracket": {"1) a", false},
		"a list that begins at two": {"2. a", true},
		"a list that begins at ten": {"10. a", true},
		"a number without a space":  {"1.5 hours", true},
		"a number and a colon":      {"1: a", true},
		"an underline of a heading": {"===", true},
		"a fence":                   {"```", true},
	} {
		const line = "- [ ] a\n"
		want := line + tt.next
		if tt.gap {
			want = line + "\n" + tt.next
		}
		if got, spans := weave(tt.next, []run{{lines: line}}, nil); got != want || spans[0].from != 0 || spans[0].to != len(got)-len(tt.next) {
			t.Errorf("%s: %q, %v, want %q", name, got, spans, want)
		}
		tied := line + tt.next
		if got, _ := weave(tt.next, []run{{lines: line, tied: true}}, nil); got != tied {
			t.Errorf("%s, where the items are tied to it: %q", name, got)
		}
	}
}
