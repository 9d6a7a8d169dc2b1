package mapping_test

import (
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestWhatStaysLive has a row for each way in which a reference in a new text is, or is not, a
// person's one on GitHub. The same one stays live.
func TestWhatStaysLive(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		held, text string
		live       bool
	}{
		"the same name":                           {"@ann", "ask @ann", true},
		"in another case":                         {"@Ann", "ask @aNN", true},
		"a name that goes on with a letter":       {"@ann", "ask @anna", false},
		"with a digit":                            {"@ann", "ask @ann7", false},
		"with a hyphen":                           {"@ann", "ask @ann-b", false},
		"with an underscore":                      {"@ann", "ask @ann_b", false},
		"with a team":                             {"@ann", "ask @ann/core", false},
		"with another team":                       {"@ann/web", "ask @ann/core", false},
		"with the same team":                      {"@ann/web-2.x_y", "ask @ann/web-2.x_y!", true},
		"a team that goes on with a dot":          {"@ann/web", "ask @ann/web.x", false},
		"with a hyphen, a digit, an underscore":   {"@ann/web", "ask @ann/web-7_x", false},
		"a team that goes on with a slash":        {"@ann/web", "ask @ann/web/x", true},
		"a slash that begins no team":             {"@ann", "ask @ann/", true},
		"a name that a dot ends":                  {"@ann", "ask @ann.", true},
		"a comma":                                 {"@ann", "ask @ann, b", true},
		"a letter beyond ASCII":                   {"@ann", "ask @anné", true},
		"a digit for its first letter":            {"@7up", "ask @7up!", true},
		"another digit":                           {"@7up", "ask @8up", false},
		"a letter written by its number":          {"@ann", "ask @&#97;nn", true},
		"a backslash in it":                       {"@ann_b", "ask @ann\\_b", true},
		"hidden behind the same tag":              {"@<b>ann", "ask @<b>ann", true},
		"hidden behind another tag":               {"@<b>ann", "ask @<i>ann", false},
		"hidden behind a tag, and not":            {"@<b>ann", "ask @ann", false},
		"a line of its own for its first letter":  {"@_ann", "ask @_ann", true},
		"and goes on":                             {"@_ann", "ask @_anna", false},
		"the same number":                         {"#12", "see #12", true},
		"a number that goes on":                   {"#12", "see #123", false},
		"a number that is shorter":                {"#12", "see #1", false},
		"a number that a letter follows":          {"#12", "see #12a", true},
		"a number that a hyphen follows":          {"#12", "see #12-13", true},
		"a number in another repository":          {"acme/web#12", "see acme/api#12", true},
		"a number by another sign":                {"#12", "see GH-12", false},
		"the same by GH":                          {"GH-12", "see gh-12", true},
		"another by GH":                           {"GH-12", "see GH-13", false},
		"a digit written by its number":           {"#12", "see #1&#50;", true},
		"hidden digits":                           {"#<b>12", "see #<b>12", true},
		"other hidden digits":                     {"#<b>12", "see #<b>13", false},
		"the same URL":                            {"https://a.b/issues/1", "see https://a.b/issues/1", true},
		"in another case, too":                    {"https://a.b/issues/1", "see https://A.b/Issues/1", true},
		"by another scheme":                       {"https://a.b/issues/1", "see http://a.b/issues/1", true},
		"of another host":                         {"https://a.b/issues/1", "see https://a.c/issues/1", false},
		"of another number":                       {"https://a.b/issues/1", "see https://a.b/issues/12", false},
		"with a comment":                          {"https://a.b/issues/1", "see https://a.b/issues/1#c2", false},
		"with a full stop behind":                 {"https://a.b/issues/1", "see https://a.b/issues/1.", true},
		"with other signs behind":                 {"https://a.b/issues/1!", "see https://a.b/issues/1,;:?!", true},
		"in brackets":                             {"https://a.b/issues/1", "(https://a.b/issues/1)", true},
		"in other brackets":                       {"https://a.b/issues/1", "<https://a.b/issues/1> [x](https://a.b/issues/1)", true},
		"in quotes":                               {"https://a.b/issues/1", "\"https://a.b/issues/1\" 'https://a.b/issues/1'", true},
		"between stars":                           {"https://a.b/issues/1", "*https://a.b/issues/1*", true},
		"in a table":                              {"https://a.b/issues/1", "|https://a.b/issues/1|", true},
		"at the end of a line":                    {"https://a.b/issues/1", "https://a.b/issues/1\nb", true},
		"a long one":                              {"https://a.b/issues/" + long, "see https://a.b/issues/" + long, true},
		"a long one, different far behind":        {"https://a.b/issues/" + long + "1", "see https://a.b/issues/" + long + "2", true},
		"a long one, different before":            {"https://a.b/issues/1" + long, "see https://a.b/issues/2" + long, false},
		"a long name, different far behind":       {"@" + long + "1", "ask @" + long + "2", true},
		"a long name, different before":           {"@1" + long, "ask @2" + long, false},
		"different where a name may still end":    {"@" + long[:139] + "1", "ask @" + long[:139] + "2", false},
		"different behind where it may":           {"@" + long[:140] + "1", "ask @" + long[:140] + "2", true},
		"different where a URL may still end":     {"https://a.b/issues/" + long[:244] + "1", "see https://a.b/issues/" + long[:244] + "2", false},
		"different behind where a URL may":        {"https://a.b/issues/" + long[:245] + "1", "see https://a.b/issues/" + long[:245] + "2", true},
		"the same program":                        {"[x](javascript:a(1))", "see [x](javascript:a(1))", true},
		"another program":                         {"[x](javascript:a(1))", "see [x](javascript:b(1))", false},
		"the same up to a blank":                  {"[x](javascript:a b)", "see [x](javascript:a c)", true},
		"a mark's end of a long program":          {"[x](data:" + long + "1)", "see [x](data:" + long + "2)", true},
		"different where a program may still end": {"[x](data:" + long[:254] + "1)", "see [x](data:" + long[:254] + "2)", false},
		"different behind where a program may":    {"[x](data:" + long[:255] + "1)", "see [x](data:" + long[:255] + "2)", true},
	} {
		got := mapping.DefuseKeeping(c.text, strings.Join([]string{c.held, c.held, c.held}, " "))
		if (got == c.text) != c.live {
			t.Errorf("%s: beside %q %q becomes %q", name, c.held, c.text, shown(got))
		}
		if back := mapping.Restore(got); back != c.text {
			t.Errorf("%s: %q comes back as %q", name, c.text, back)
		}
	}
}

// TestWhatStaysDefused has a row for each text with several marks that is edited in planning. Each
// reference that was defused on GitHub stays so, regardless of the marks before it.
func TestWhatStaysDefused(t *testing.T) {
	t.Parallel()
	unshown := strings.NewReplacer("~|", "\u2064\u2060", "|", "\u2060")
	for name, c := range map[string]struct{ held, want string }{
		"a joiner, then a seam":           {"@|ann &#64~|bob", "@|ann &#64~|bob."},
		"a seam, then a joiner":           {"&#64~|bob @|ann", "&#64~|bob @|ann."},
		"a joiner between seams":          {"&#64~|bob @|ann &#64~|eve", "&#64~|bob @|ann &#64~|eve."},
		"a seam between joiners":          {"@|ann &#64~|bob @|eve", "@|ann &#64~|bob @|eve."},
		"two seams, then two joiners":     {"&#64~|a GH\\-~|1 @|b #|2", "&#64~|a GH\\-~|1 @|b #|2."},
		"two joiners, then two seams":     {"@|b #|2 &#64~|a GH\\-~|1", "@|b #|2 &#64~|a GH\\-~|1."},
		"a live one behind a seam":        {"&#64~|bob @ann", "&#64~|bob @ann."},
		"a live one behind a joiner":      {"@|ann &#64bob", "@|ann &#64bob."},
		"a live one between them":         {"@|ann @bob &#64~|eve", "@|ann @bob &#64~|eve."},
		"the same name, defused and live": {"&#64~|ann @ann @|ann", "&#64~|ann @ann @|ann."},
		"a live one before them":          {"@ann &#64~|bob #|1", "@ann &#64~|bob #|1."},
		"a person's joiner before a seam": {"a| &#64~|bob", "a| &#64~|bob."},
		"a person's seam before a joiner": {"a~|~|b @|bob", "a~|~|b @|bob."},
		"a seam beside a person's":        {"&#64~|~|~|bob", "&#64~|~|bob."},
		"a seam where a tag hides it":     {"@|w<p>-~|<", "@|w<p>-~|<."},
		"a new one behind both":           {"@|ann &#64~|bob", "@|ann &#64~|bob @|eve"},
		"a new one before both":           {"@|ann &#64~|bob", "@|eve @|ann &#64~|bob"},
		"one taken out":                   {"@|ann &#64~|bob #|1", "@|ann #|1"},
	} {
		text := mapping.Restore(unshown.Replace(c.want))
		if got := shown(mapping.DefuseKeeping(text, unshown.Replace(c.held))); got != c.want {
			t.Errorf("%s: %q becomes %q, want %q", name, shown(text), got, c.want)
		}
	}
}

// TestPlanningGetsReferencesAsTheyAre: planning links nothing and calls nobody, so that only links
// which run programs are defused there.
func TestPlanningGetsReferencesAsTheyAre(t *testing.T) {
	t.Parallel()
	unshown := strings.NewReplacer("~|", "\u2064\u2060", "|", "\u2060")
	for github, want := range map[string]string{
		"@bob #12 GH-3":                         "@bob #12 GH-3",
		"@|bob":                                 "@bob",
		"@||bob":                                "@|bob",
		"a| b":                                  "a| b",
		"https://a.b/issues/1":                  "https://a.b/issues/1",
		"https://|a.b/issues/1":                 "https://a.b/issues/1",
		"[x](javascript:1) @bob":                "[x](javascript~|:1) @bob",
		"[x](javascript~|:1) @|bob":             "[x](javascript~|:1) @bob",
		"`[x](javascript:1)` <data:1>":          "`[x](javascript:1)` <data~|:1>",
		"[x](javascript:1) and [y](vbscript:2)": "[x](javascript~|:1) and [y](vbscript~|:2)",
	} {
		got := mapping.PlanningForm(mapping.Summary, unshown.Replace(github), "")
		if shown(got) != want {
			t.Errorf("planning gets %q for %q, want %q", shown(got), github, want)
		}
		if !mapping.Equal(mapping.Summary, unshown.Replace(github), got) {
			t.Errorf("%q and %q are not the same", github, shown(got))
		}
	}
}
