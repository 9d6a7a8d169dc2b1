package mapping_test

import (
	"strings"
	"testing"

	"planbridge/mapping"
)

// isDefused checks the mentions of a text. That of ann is surely inert and stays unchanged, and
// that of bob must not notify.
func isDefused(t *testing.T, name, text string) {
	t.Helper()
	got := mapping.Defuse(text)
	if want := strings.ReplaceAll(text, "@bob", "@|bob"); shown(got) != want {
		t.Errorf("%s: %q becomes %q, want %q", name, text, shown(got), want)
	}
	if back := mapping.Restore(got); back != text {
		t.Errorf("%s: %q comes back as %q", name, text, back)
	}
}

// TestCodeBehindTags has a row for each kind of tag. Behind one that only changes how text looks,
// code is still code. Behind any other, code is not certain in the same paragraph, or ever.
func TestCodeBehindTags(t *testing.T) {
	t.Parallel()
	for kind, tt := range map[string]struct{ names, behind string }{
		"how text looks": {"b br del em i ins kbd q s samp small strong sub sup u var", "`@ann`\n\n`@ann`"},
		"what holds code": {
			"a blockquote center dd details div dl dt h1 h2 h3 h4 h5 h6 hr img li ol p span summary ul", "`@bob`\n\n`@ann`",
		},
		"what may hold raw text": {
			"code pre script style textarea title select option table td svg math x bb brr dell hb h7 h lis pp spanx", "`@bob`\n\n`@bob`",
		},
	} {
		for name := range strings.FieldsSeq(tt.names) {
			for _, tag := range []string{
				"<" + name + ">", "</" + name + ">", "<" + name + "/>", "<" + name + " />", "<" + strings.ToUpper(name) + ">",
			} {
				isDefused(t, kind, "x "+tag+tt.behind)
				if kind == "how text looks" { // where a block may begin it may not be such a tag
					isDefused(t, kind, tag+"`@bob`\n\n`@ann`")
				}
			}
		}
	}
}

// TestTagsOfManyForms has a row for each form of a tag or a comment that decides whether what
// follows it is code.
func TestTagsOfManyForms(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"at the beginning of a line, where a block may begin": "<b>`@bob`\n\n`@ann`",
		"behind a list's number":                              "1. <b>`@bob`\n\n`@ann`",
		"behind a link's text alone":                          "[x] <b>`@bob`\n\n`@ann`",
		"behind a letter that follows a link":                 "[x](u) y <b>`@ann`",
		"behind the letters of the line before":               "x\n<b>`@bob`\n\n`@ann`",
		"with an attribute":                                   "x <p class=\"a\">`@bob`\n\n`@ann`",
		"with one in single quotes":                           "x <p class='a'>`@bob`\n\n`@ann`",
		"with one without quotes":                             "x <p class=a/b>`@bob`\n\n`@ann`",
		"with one without a value":                            "x <p hidden>`@bob`\n\n`@ann`",
		"with several":                                        "x <p a-b=\"c\" d='e'\tf=g h>`@bob`\n\n`@ann`",
		"with a blank before its end":                         "x <p a >`@bob`\n\n`@ann`",
		"with a quote of the other kind in its value":         "x <p a=\"it's\" b='\"'>`@bob`\n\n`@ann`",
		"with a backtick in a value":                          "x <p a=`b`>`@bob`\n\n`@bob`",
		"with a tag in a value":                               "x <p a=\"<b>\">`@bob`\n\n`@bob`",
		"with a tag in a value in single quotes":              "x <p a='<b>'>`@bob`\n\n`@bob`",
		"with a number in an attribute's name":                "x <p a1=b>`@bob`\n\n`@bob`",
		"with a blank around the sign of equality":            "x <p a = b>`@bob`\n\n`@bob`",
		"with an empty value":                                 "x <p a=\"\" b=''>`@bob`\n\n`@ann`",
		"with many signs in its values":                       "x <p a=\"b=c&d-é;\" e='f=g&h-é;' I=j/k?l&m-n.;>`@bob`\n\n`@ann`",
		"with two blanks":                                     "x <p  a=b  c  >`@bob`\n\n`@ann`",
		"with a tab before its end":                           "x <p\t>`@bob`\n\n`@ann`",
		"with a letter's blanks":                              "x <b \t />`@ann`",
		"with no blank before an attribute":                   "x <pa=b>`@bob`\n\n`@bob`",
		"with a value of no attribute":                        "x <p =b>`@bob`\n\n`@bob`",
		"with two values":                                     "x <p a=b=c>`@bob`\n\n`@bob`",
		"with a missing value":                                "x <p a=>`@bob`\n\n`@bob`",
		"with two slashes in front":                           "x <//p>`@bob`\n\n`@bob`",
		"with two slashes behind":                             "x <p//>`@bob`\n\n`@bob`",
		"a letter's with two slashes":                         "x <//b>`@bob`\n\n`@bob`",
		"a letter's with two behind":                          "x <b//>`@bob`\n\n`@bob`",
		"a letter's with two, later in the text":              "x <b//>y\n\n`@bob`",
		"an empty comment":                                    "x <!-- -->`@bob`\n\n`@ann`",
		"a comment with many signs":                           "x <!-- a=b;c -d=e;f é- -->`@bob`\n\n`@ann`",
		"a letter's with an attribute":                        "x <b a=b>`@bob`\n\n`@ann`",
		"not closed":                                          "x <p `@bob`\n\n`@bob`",
		"not closed, and an end":                              "x </p `@bob`\n\n`@bob`",
		"not closed, of a digit":                              "x <3 `@bob`\n\n`@bob`",
		"a comment":                                           "x <!-- a -->`@bob`\n\n`@ann`",
		"a comment with a hyphen in it":                       "x <!-- a-b -->`@bob`\n\n`@ann`",
		"a comment with two":                                  "x <!-- a--b -->`@bob`\n\n`@bob`",
		"a comment with a backtick":                           "x <!-- a ` -->`@bob`\n\n`@bob`",
		"a comment with a tag":                                "x <!-- <b> -->`@bob`\n\n`@bob`",
		"a comment without a blank in front":                  "x <!--a-->`@bob`\n\n`@bob`",
		"a declaration":                                       "x <!DOCTYPE html>`@bob`\n\n`@bob`",
		"an instruction":                                      "x <?php ?>`@bob`\n\n`@bob`",
		"no tag, for a blank":                                 "x < b>`@ann`",
		"no tag, for a letter beyond ASCII":                   "x <é>`@ann`",
		"no tag, at the end":                                  "`@ann` <",
		"in the paragraph before":                             "x <div>y\n\n`@ann`",
		"an escaped one":                                      "x \\<b>`@ann`",
	} {
		isDefused(t, name, text)
	}
}

// TestCodeSpansThatAreSure has a row for each thing that decides whether backticks make code.
func TestCodeSpansThatAreSure(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"closed by as many":                       "x ```@ann``` @bob",
		"not closed by fewer":                     "x ``@bob`",
		"not closed by more":                      "x `@bob``",
		"closed behind fewer and more":            "x ``@ann` @ann```@ann`` @bob",
		"a table's border in it":                  "x `a|@bob` `@bob`\n\n`@ann`",
		"a table's border behind it":              "`a` | `@ann`",
		"behind a footnote":                       "x [^1] `@bob`\n\n`@ann`",
		"behind brackets":                         "x [1] `@ann` [`@ann`] (`@ann`)",
		"behind an escaped backtick":              "x \\`@bob`",
		"behind an escaped backslash":             "x \\\\`@ann`",
		"behind an escaped bracket":               "x \\[ `@ann` \\] `@ann`",
		"behind a backslash that escapes nothing": "x \\a`@ann` \\é`@ann`",
		"behind a backslash that ends the line":   "x \\\n`@ann`",
		"behind a backslash that ends the text":   "`@ann` \\",
		"at the end of the text":                  "x `@ann`",
		"behind one that is not closed":           "x `@bob\n`@bob`\n\n`@ann`",
		"behind a line of blanks":                 "x `@bob\n \t\n`@ann`",
		"behind a line of another blank":          "x `@bob\n\u00a0\n`@bob`",
		"in an address that is odd":               "[x](a`b) `@bob`",
		"behind an address that is odd":           "[x](a b) `@bob`\n\n`@ann`",
		"behind a label":                          "[x][a b.c-d] `@ann`",
		"behind a label of many signs":            "[x][A1_b. -Z9] `@ann`",
		"behind an empty label":                   "[x][] `@ann`",
		"behind an empty address":                 "[x]() `@ann`",
		"behind a label that is odd":              "[x][a!] `@bob`",
		"behind a definition":                     "[x]: u `@bob`\n\n`@ann`",
		"behind brackets that close nothing":      "x] `@ann` ](u) `@ann`",
		"behind a colon":                          "x: `@ann` : `@ann`",
		"behind a URL":                            "https://a.b/c `@ann`",
		"in a URL":                                "https://a.b/c`@bob` `@bob`\n\n`@ann`",
		"in a URL of another scheme":              "ftp://a.b/`@bob`",
		"in a URL without a scheme":               "://`@bob`",
		"in a page's name":                        "www.a.b/`@bob`",
		"in a page's name, in another case":       "x WwW.a.b/`@bob`",
		"in a name that ends so":                  "xwww.a.b/`@bob`",
		"in a name of two letters":                "ww.a.b/`@ann`",
		"in a name that ends so later":            "a.www/`@ann`",
		"behind a tag that ends a URL":            "https://a.b/c<`@ann`",
		"behind a tab that ends a URL":            "https://a.b/c\t`@ann`",
		"in the second URL of a line":             "https://a.b/c https://a.b/`@bob`",
		"in the next line's URL":                  "https://a.b/c\nhttps://a.b/`@bob`",
	} {
		isDefused(t, name, text)
	}
}
