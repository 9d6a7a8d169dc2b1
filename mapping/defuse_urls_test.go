package mapping_test

import (
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestMentionsInURLs has a row for each place of a URL: in one that surely becomes a link a mention
// calls nobody.
func TestMentionsInURLs(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"at the beginning":                  "https://a.b/@ann",
		"behind a blank":                    "see http://a.b/@ann",
		"behind a tab":                      "see\thttps://a.b/@ann",
		"behind a bracket":                  "(https://a.b/@ann)",
		"behind a star":                     "*https://a.b/@ann*",
		"behind quotes":                     "'https://a.b/@ann' \"https://a.b/@ann\"",
		"in another case":                   "HTTPS://A.B/@ann Http://a.b/@ann",
		"behind a letter":                   "xhttps://a.b/@bob",
		"behind a digit":                    "1https://a.b/@bob",
		"behind a letter beyond ASCII":      "éhttps://a.b/@bob",
		"behind a slash":                    "/https://a.b/@bob",
		"behind a hyphen":                   "-https://a.b/@bob",
		"behind an underscore":              "_https://a.b/@bob_",
		"behind a tilde":                    "~https://a.b/@bob~",
		"behind a code span":                "`x`https://a.b/@bob",
		"behind a code span and a blank":    "`x` https://a.b/@ann",
		"behind a comma":                    "https://a.b/,https://c.d/@ann",
		"an escape before it":               "\\https://a.b/@bob",
		"an escape in it":                   "https\\://a.b/@bob",
		"an escape behind its host":         "https://a.b/\\@ann",
		"of another scheme":                 "ftp://a.b/@bob mailto:@bob",
		"without a scheme":                  "www.a.b/@bob //a.b/@bob",
		"of a host with a port":             "https://a.b:80/@ann",
		"of a host with hyphens and digits": "https://a-1.b.c2/@ann",
		"of a host of one word":             "https://localhost/@bob",
		"of a host with an underscore":      "https://a_c.b/@bob",
		"of a host that ends with a dot":    "https://a./@bob",
		"of a host that begins with a dot":  "https://.a.b/@bob",
		"of a host with a hyphen at last":   "https://a.b-c/@ann",
		"of a scheme with a letter more":    "httpss://a.b/@bob",
		"behind a host and a comma":         "https://a.b,@bob",
		"in a query":                        "https://a.b?x=@ann",
		"in a fragment":                     "https://a.b#@ann",
		"behind other signs of a path":      "https://a.b/x~y_z-!$&+,;=%20:.@ann",
		"in brackets":                       "[https://a.b/@bob]",
		"in brackets of the line before":    "[x\nhttps://a.b/@bob",
		"in brackets of a paragraph before": "[x\n\nhttps://a.b/@ann",
		"behind brackets":                   "[x] https://a.b/@ann",
		"behind brackets that close only":   "x] https://a.b/@ann",
		"behind a link":                     "[x](u) https://a.b/@ann",
		"two of them":                       "https://a.b/@ann https://c.d/@ann, @bob",
		"behind a footnote":                 "[^1] https://a.b/@bob\n\nhttps://a.b/@ann",
		"behind a tag that is no letter's":  "x <div> https://a.b/@bob\n\nhttps://a.b/@ann",
		"behind a letter's tag":             "x <b> https://a.b/@ann",
	} {
		isDefused(t, name, text)
	}
}

// TestWhereURLsEnd has a row for each character that ends a URL, or does not: behind its end a
// mention calls somebody.
func TestWhereURLsEnd(t *testing.T) {
	t.Parallel()
	for _, end := range []string{" ", "\t", "\n", "<", ">", "(", ")", "[", "]", "\"", "'", "*", "|", "`", "&amp;", "&#64;", "&#x40;", "&a_b;", "&AB7;"} {
		isDefused(t, "ended by "+end, "https://a.b/x"+end+"@bob")
	}
	for _, on := range []string{"~", "_", "!", "$", "&", ";", "&amp", "&;", ",", "/", "#", "?", "{", "}", "^", "\\", "é"} {
		isDefused(t, "not ended by "+on, "https://a.b/x"+on+"@ann")
	}
}

// TestMentionsInLinks has a row for each form of a link with an address. A mention in the address
// notifies nobody where the address surely is one.
func TestMentionsInLinks(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a link":                         "[x](https://a.b/@ann) @bob",
		"a picture":                      "![x](http://a.b/@ann)",
		"in another case":                "[x](HTTPS://a.b/@ann)",
		"of another scheme":              "[x](ftp://a.b/@bob)",
		"of a page here":                 "[x](/u/@bob)",
		"two of them":                    "[x](https://a.b/@ann) [y](https://a.b/@ann)",
		"with brackets in its address":   "[x](https://a.b/(y)/@ann)",
		"with empty ones":                "[x](https://a.b/()/@ann)",
		"with brackets in brackets":      "[x](https://a.b/((y))/@bob)",
		"with brackets that stay open":   "[x](https://a.b/(y/@bob)",
		"with each sign in brackets":     "[x](https://a.b/(~:?#@!$&+,;=.%-_Az1)/@ann)",
		"with a star in brackets":        "[x](https://a.b/(*)/@bob)",
		"with a title":                   "[x](https://a.b/@bob \"t\")",
		"with each sign of an address":   "[x](https://a.b/~:/?#@!$&+,;=.%-_1/@ann)",
		"with a star":                    "[x](https://a.b/*/@bob)",
		"with a quote":                   "[x](https://a.b/'/@bob)",
		"with a letter beyond ASCII":     "[x](https://a.b/é/@bob)",
		"in a link's text":               "[https://a.b/@bob](https://a.b/@ann)",
		"a link in brackets":             "[a [x](https://a.b/@bob)]",
		"a link behind an open bracket":  "[[x](https://a.b/@bob)",
		"behind what is odd":             "[x](a b) [x](https://a.b/@bob)\n\n[x](https://a.b/@ann)",
		"a label":                        "[x][https://a.b/@bob]",
		"a definition":                   "[x]: https://a.b/@bob",
		"in angle brackets":              "<https://a.b/@ann> <HTTP://a.b/@ann>",
		"in them, of another scheme":     "<ftp://a.b/@bob>",
		"in them, of another scheme yet": "<https:a.b/@bob>",
		"in them, with a letter more":    "<httpss://a.b/@bob>",
		"in them, with each sign":        "<https://a.b/=?-:;[]\"'(){}|^*é@ann>",
		"in them, with a blank":          "<https://a.b/@bob y>",
		"in them, with a backtick":       "<https://a.b/`@bob>",
		"in them, with an escape":        "<https://a.b/\\@bob>",
		"in them, with another one":      "<https://a.b/<@bob>",
		"in them, in brackets":           "[x <https://a.b/@bob>]",
		"in them, behind raw HTML":       "x <div>y\n<https://a.b/@bob>",
		"in them, a paragraph later":     "x <div>y\n\n<https://a.b/@ann>",
		"in them, at the line's end":     "x <https://a.b/@ann>\n@bob",
		"code behind angle brackets":     "<https://a.b/c> `@ann`",
		"code behind a link's address":   "[x](https://a.b/c) `@ann`",
		"code behind brackets in it":     "[x](a(b)c) `@ann`",
		"a mention behind the address":   "[x](https://a.b/c)@bob",
		"a mention in the text of it":    "[@bob](https://a.b/c)",
		"a mention behind the angle end": "<https://a.b/c>@bob",
	} {
		isDefused(t, name, text)
	}
}

// TestPathsOfIssues has each path that makes a URL a reference, in each spelling. The URL is
// defused everywhere except in code, and so is a mention in it.
func TestPathsOfIssues(t *testing.T) {
	t.Parallel()
	for path, reference := range map[string]bool{
		"issues": true, "pull": true, "pulls": true, "discussions": true, "commit": true, "commits": true,
		"Issues": true, "PULL": true, "%69ssues": true, "%49ssues": true, "&#105;ssues": true, "iss\\ues": false,
		"issue": false, "issuesx": false, "xissues": false, "pullss": false, "discussion": false, "commitss": false, "": false, "%zz": false,
		"issues%": false, "tree": false, "%64%69%73%63%75%73%73%69%6f%6e%73": true,
	} {
		for _, around := range []string{"https://a.b/c/d/X/1", "<https://a.b/c/d/X/1>", "[x](https://a.b/c/d/X/1)", "www.a.b/X/1", "//a.b/X/1"} {
			text := strings.Replace(around, "X", path, 1)
			got := mapping.Defuse(text)
			if (got != text) != reference {
				t.Errorf("%q becomes %q", text, shown(got))
			}
			if in := "`" + text + "`"; mapping.Defuse(in) != in {
				t.Errorf("in code %q becomes %q", text, shown(mapping.Defuse(in)))
			}
			if back := mapping.Restore(got); back != text {
				t.Errorf("%q comes back as %q", text, back)
			}
		}
	}
	for path, mention := range map[string]string{
		"issues": "@bob", "pull": "@bob", "pulls": "@bob", "discussions": "@bob", "commit": "@bob", "commits": "@bob", "Issues": "@bob",
		"PULL": "@bob", "pullS": "@bob", "Discussions": "@bob", "COMMIT": "@bob", "commitS": "@bob",
		"issue": "@ann", "xissues": "@ann", "issuesx": "@ann", "pullss": "@ann", "commitss": "@ann", "discussion": "@ann",
	} {
		for _, around := range []string{"https://a.b/c/", "<https://a.b/c/", "[x](https://a.b/c/"} {
			text := around + path + "/" + mention + map[byte]string{'<': ">", '[': ")"}[around[0]]
			want := strings.ReplaceAll(text, "@bob", "@|bob")
			if mention == "@bob" {
				want = strings.Replace(want, "://", "://|", 1)
			}
			if got := shown(mapping.Defuse(text)); got != want {
				t.Errorf("%q becomes %q, want %q", text, got, want)
			}
		}
	}
	for _, text := range []string{"https://a.b/issues", "https://a.b/issues 1", "https://a.b/c/d\nissues/1", "https:/a.b/issues/1", "a.b/issues/1"} {
		if got := mapping.Defuse(text); got != text {
			t.Errorf("%q becomes %q", text, shown(got))
		}
	}
}
