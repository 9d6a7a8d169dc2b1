package mapping_test

import (
	"testing"

	"planbridge/mapping"
)

// TestWhereCodeEnds has a row for each way in which a fence opens, goes on or closes. A mention in
// code is left alone. One behind it, or in an uncertain place, must not notify.
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

// TestWhereFencesMayOpen has a row for each beginning of a line. Behind the markers of lists, quotes,
// boxes and footnotes a fence may open, and then nothing in the rest is certain.
func TestWhereFencesMayOpen(t *testing.T) {
	t.Parallel()
	for _, before := range []string{
		"- ", "+ ", "* ", "1. ", "12) ", "-", "\t", ">\t", "> - ", "- 1. ", "[x] ", "[] ", "- [ ] ", "[^1]: ", "[ab]", "[a]:", "[A-Z9\\]", "- [é] > ",
	} {
		for _, fence := range []string{"```", "~~~", "`````", "~~~~~", "``` go", "~~~ a`b"} {
			isDefused(t, "may open", before+fence+"\n\n`@bob`")
		}
	}
	for _, before := range []string{"a ", "# ", "= ", "_", "1: ", "é ", "[[a]]", "(x) ", "[a ", "[x](y) ", "~", "``` a`b "} {
		for _, fence := range []string{"```", "~~~"} {
			isDefused(t, "opens nothing", before+fence+"\n\n`@ann`")
		}
	}
	for _, fence := range []string{"``", "~~", "`", "~", "```a`", "````` `` a"} {
		isDefused(t, "is no fence", "- "+fence+"\n\n`@ann`")
	}
}

// TestFencesThatAreSure has a row for each thing that decides whether the lines behind a fence are
// surely code.
func TestFencesThatAreSure(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"behind a list's marker, closed outside the list": "- ```\n @bob\n ```\n\n`@bob`",
		"in a quote, with an indent":                      ">  ```\n>  @bob\n\n`@bob`",
		"in a quote, with a wider one":                    ">   ~~~\n>  @bob",
		"indented by four behind words":                   "x\n    ```\n    @bob\n    ```\n`@bob`",
		"indented by four behind a blank line":            "x\n\n    ```\n    @ann\n    ```\n@bob",
		"indented by five behind a blank line":            "x\n\n     ```\n     @ann\n     ```\n@bob",
		"indented by three behind words":                  "x\n   ```\n   @ann\n   ```\n@bob",
		"indented by four at the beginning":               "    ```\n    @ann\n    ```\n@bob",
		"indented by four, and its line is not":           "    ```\n@bob",
		"indented in a list's item":                       "- x\n    ```\n    @bob\n    ```",
		"indented in an item's next paragraph":            "- x\n\n    ```\n    @ann\n    ```\n- @bob",
		"indented, with a blank line":                     " ```\n\n @ann\n ```\n@bob",
		"indented, with a line of blanks":                 " ```\n \t\n @ann\n ```\n@bob",
		"indented, with a line of a tab":                  " ```\n\t\n @ann\n ```\n@bob",
		"indented farther than its end":                   "  ```\n  @bob\n ```",
		"indented less than its end":                      "  ```\n  @bob\n   ```\n  ```",
		"indented less than its lines":                    "  ```\n   @ann\n  ```\n@bob",
		"indented, closed by a longer one":                "  ```\n  @ann\n  ````\n@bob",
		"indented, not closed by a shorter one":           "  ```\n  @bob\n  ``\n`@bob`",
		"a quote with an indent of four":                  "> ```\n    > @bob",
		"a quote with an indent of three":                 "> ```\n   > @ann",
		"a quote without a blank":                         "> ```\n>@ann\n>```\n>@bob",
		"a quote with two":                                "> ```\n>  @ann",
		"quotes of two depths":                            ">> ```\n> > @ann\n> @bob",
		"quotes with indents":                             "> > ```\n>    > @ann\n>     > @bob",
		"a quote that ends with another fence":            "> ```\n> @ann\n```\n@ann",
		"a quote that ends with a blank line":             "> ```\n> @ann\n\n@bob",
		"a quote's paragraph before it":                   "> x\n> ```\n> @ann\n> ```\n> @bob",
		"code behind the fence's end":                     "> ```\n> @ann\n> ```\n`@ann` @bob",
		"tildes not closed by fewer":                      "~~~~\n~~~\n@ann\n~~~~\n@bob",
		"tildes not closed by two":                        "~~~\n~~\n@ann\n~~~\n@bob",
		"tildes closed by more and a blank":               "~~~\n~~~~~ \n@bob",
		"closed with an indent of two":                    "```\n  ```\n@bob",
		"behind raw HTML":                                 "x <p>\n```\n@bob\n```\n\n`@bob`",
		"behind raw HTML and a blank line":                "x <p>\n\n```\n@ann\n```\n@bob",
		"with CRLF":                                       "```\r\n@ann\r\n```\r\n@bob",
		"with CR":                                         "```\r@ann\r```\r@bob",
		"with a blank line of CRLF":                       " ```\r\n\r\n @ann\r\n ```\r\n@bob",
		"behind a line end":                               "\r```\n@ann",
		"a span across CR":                                "`@bob\r`@bob`\r\r`@ann`",
	} {
		isDefused(t, name, text)
	}
}
