package mapping_test

import (
	"testing"

	"planbridge/mapping"
)

// TestWhereCodeEnds has a row for each way in which a fence opens, goes on or closes: a mention in
// code is left alone, and one behind it, or where that is not certain, must not notify.
func TestWhereCodeEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"closed":                             {"```\n@ann\n```\n@bob", "```\n@ann\n```\n@|bob"},
		"not closed":                         {"```\n@ann\n\n@bob", "```\n@ann\n\n@bob"},
		"not closed by a shorter one":        {"````\n```\n@ann\n````\n@bob", "````\n```\n@ann\n````\n@|bob"},
		"closed by a longer one":             {"```\n@ann\n`````\n@bob", "```\n@ann\n`````\n@|bob"},
		"not closed by another kind":         {"~~~\n```\n@ann\n~~~\n@bob", "~~~\n```\n@ann\n~~~\n@|bob"},
		"not closed by one with words":       {"```\n``` end\n@ann", "```\n``` end\n@ann"},
		"closed by one with blanks":          {"```\n@ann\n``` \t\n@bob", "```\n@ann\n``` \t\n@|bob"},
		"closed with an indent of three":     {"```\n@ann\n   ```\n@bob", "```\n@ann\n   ```\n@|bob"},
		"not closed with an indent of four":  {"```\n    ```\n@ann", "```\n    ```\n@ann"},
		"opened with words":                  {"``` go\n@ann", "``` go\n@ann"},
		"not opened with a backtick behind":  {"``` a`b\n@bob", "``` a`b\n@|bob"},
		"opened by tildes with one behind":   {"~~~ a`b\n@ann", "~~~ a`b\n@ann"},
		"not opened by two":                  {"``\n@bob\n``", "``\n@|bob\n``"},
		"indented as far as its lines":       {"   ```\n   @ann\n   ```\n@bob", "   ```\n   @ann\n   ```\n@|bob"},
		"indented farther than its lines":    {"   ```\n@bob\n   ```", "   ```\n@|bob\n   ```"},
		"indented, and not closed":           {" ```\n @bob", " ```\n @|bob"},
		"in a quote":                         {"> ```\n> @ann\n> ```\n> @bob", "> ```\n> @ann\n> ```\n> @|bob"},
		"in a quote that has ended":          {"> ```\n@bob", "> ```\n@|bob"},
		"in a quote of a quote":              {">> ```\n>> @ann", ">> ```\n>> @ann"},
		"in a quote of a quote that ended":   {">> ```\n> @bob", ">> ```\n> @|bob"},
		"in a quote, closed behind a tab":    {"> ```\n>\t```\n> @bob", "> ```\n>\t```\n> @|bob"},
		"outside a quote, a tab in its code": {"```\n>\t@ann\n```\n@bob", "```\n>\t@ann\n```\n@|bob"},
		"in raw HTML":                        {"<pre>\n```\n@bob\n```", "<pre>\n```\n@|bob\n```"},
		"behind a list's marker":             {"- ```\n  @bob", "- ```\n  @|bob"},
		"two, one behind the other":          {"```\n@ann\n```\n\n~~~\n@ann\n~~~\n\n@bob", "```\n@ann\n```\n\n~~~\n@ann\n~~~\n\n@|bob"},
		"a span across two lines is unsure":  {"`@bob\n@bob`", "`@|bob\n@|bob`"},
		"a span on its line":                 {"`@ann` @bob", "`@ann` @|bob"},
		"a span of two backticks":            {"``@ann ` @ann`` @bob", "``@ann ` @ann`` @|bob"},
		"a span that an escape cannot end":   {"`@ann\\` @bob", "`@ann\\` @|bob"},
		"a backtick that is escaped":         {"\\`@bob\\`", "\\`@|bob\\`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := mapping.Defuse(c.in)
			if shown(got) != c.want {
				t.Errorf("%q becomes %q, want %q", c.in, shown(got), c.want)
			}
			if back := mapping.Restore(got); back != c.in {
				t.Errorf("%q comes back as %q", c.in, back)
			}
		})
	}
}
