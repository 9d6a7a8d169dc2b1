package mapping_test

import (
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestSpellingsOfReferences has a group of texts for each rule that tells what is live. They are
// written as GitHub gets them, a joiner as "|" and a seam as "~|"; without these it is what
// planning has.
func TestSpellingsOfReferences(t *testing.T) {
	t.Parallel()
	for rule, texts := range map[string][]string{
		"a sign may be a character reference": {
			"&#64;|bob", "&#064;|bob", "&#0000064;|bob", "&#x40;|bob", "&#X40;|bob", "&#x0040;|bob", "&commat;|bob",
			"&#35;|12", "&#035;|12", "&#0035;|12", "&#x23;|12", "&#X0023;|12", "&num;|12",
			"gH&#45;~|12", "GH&#x2d;~|12", "GH&#x2D;~|12",
		},
		"in raw HTML a reference needs no semicolon": {"&#64~|bob", "&#x40~|zob", "&#35~|&#49;", "&#x23~|<b>"},
		"another number is another character":        {"&#x40bob", "&#3512", "&#x5Hbob", "&#65;bob", "&#34;12", "&#36;12", "&#x24;12"},
		"a named reference has its own case and its semicolon": {
			"&COMMAT;bob", "&commatbob", "&Commat;bob", "&NUM;12", "&num12", "GH&hyphen;12",
		},
		"a name begins with a letter, a digit or a line of its own": {
			"@|bob", "@|7", "@|_x", "@|-x", "@|éx", "@|٣", "@.x", "@/x", "@ x", "@,", "@", "@@|bob", "@\u200bx",
		},
		"a tag or a reference may hide what follows": {"@|<b>bob", "@|&b;", "#|<b>1", "#|&#49;", "GH-|<b>12", "GH-|&#49;"},
		"a backslash hides what it does not escape":  {"@\\bob", "#\\12", "GH-\\12", "\\@|bob", "\\#|12", "\\GH-|12", "GH\\-~|12"},
		"an address of mail calls nobody": {
			"a@bob", "1@bob", "Z@bob", "a.b@bob", "_@|bob", "é@|bob", "a\\@|bob", "a&#64;|bob", "&#97;@|bob", ".@|bob",
		},
		"an ampersand may make a reference of the letters before": {
			"&copy@|bob", "&copy;@|bob", "&a;@|bob", "&#a@|bob", "&# a@bob", "a&b c@bob", "&a-b@bob",
		},
		"a number begins with a digit": {"a#|12", "##|12", "#|1x", "#x", "# 12", "#-1", "#٣", "#", "&a#|12"},
		"GH is a word of its own": {
			"GH-|12", "gh-|12", "Gh-|12", "_GH-|12", "éGH-|12", "&#97;GH-|12", "&aGH-|12", "a\\GH-|12", "G\\H-12",
			"aGH-12", "1GH-12", "zgh-12", "H-12", "G-12", "GHx-12", "GH -12", "GH-x", "GH--1", "GH-", "-12",
		},
		"the end of a tag may hide it": {">-~|12", "<b>-~|12", ">H-~|12", "<b>h-~|12", ">G-12", ">x-12", "><-12"},
		"the scheme of a URL may be written in many ways": {
			"https:\\/\\/~|a.b/issues/1", "https:/\\/~|a.b/issues/1", "https:&#47;&#47;~|a.b/issues/1", "https:&sol;&sol;~|a.b/issues/1",
			"https:<b>/~|/~|a.b/issues/1", "<b>/~|a.b/issues/1", "https:/ /a.b/issues/1", "https:/a/b/issues/1",
		},
		"a page's name may be, too": {
			"www.~|a.b/issues/1", "WWW.~|a.b/issues/1", "www&period;~|a.b/issues/1", "w&#119;w.~|a.b/issues/1", "xwww.~|a.b/issues/1",
			"ww.a.b/issues/1", "w<b>ww.a.b/issues/1", "www a.b/issues/1", "wwwa.b/issues/1",
		},
		"a path counts once something follows it": {
			"//~|a/issues/1", "//~|a/issues/x", "//a/issues", "//a/issues/", "//a/issues/ ", "//a/issuesx/1", "//a/xissues/1",
			"//~|issues/1", "//~|a//~|b/issues/1", "www.~|a.b//~|c/issues/1", "//~|a/issues/1/issues/2",
		},
		"a blank ends a URL, but in a tag or a comment": {
			"//a b/issues/1", "//a\tb/issues/1", "//a\nb/issues/1", "<a //~|b c/issues/1>", "<!-- //~|x -->/~|issues/1", "<a b=//~|c d>/~|issues/1",
			"<a>//b c/issues/1", "//~|a&#32;b/issues/1", "//~|a\u00a0b/issues/1",
		},
		"code ends a URL": {"`//a`/issues/1", "//a/`issues/1`", "`//a/issues/1`"},
		"a link that runs a program": {
			"[x](javascript~|:1)", "[x](vbscript~|:1)", "[x](data~|:1)", "[x]: javascript~|:1", "<javascript~|:1>", "<a href=javascript~|:1>",
			"<a href=\"javascript~|:1\">", "<a href='javascript~|:1'>", "[x](<javascript~|:1>)", "[x](`javascript~|:1)", "[x]( \tjavascript~|:1)",
			"[x](JAVAscript~|:1)", "[x](java\tscript~|:1)", "[x](java\x01script~|:1)", "[x](&#106;avascript~|:1)", "[x](javascript~|&colon;1)",
		},
		"a link's text that is escaped":                 {"\\[x](data~|:1)", "[\\]](data~|:1)", "[x](data~|::1)", "<data~|:\n:>", "[x](data~|:) [y](data~|:)"},
		"a reference at the end of a URL is none of it": {"https://a.b/&num;|<b>", "https://a.b/&#64;|b"},
		"no program": {
			"javascript:1", "(javascript:1)", "x](javascript :1)", "[x](javascripts:1)", "[x](xjavascript:1)", "[x](java script:1)", "[x](java-script:1)",
			"[x] (javascript:1)", "[x]x(javascript:1)", "[x](ajavascript:1)", "[x](datas:1)", "[x](https:1)", "[x](javascript)", "[x]\\(javascript:1)",
		},
	} {
		for _, want := range texts {
			text := strings.NewReplacer("~|", "", "|", "").Replace(want)
			got := mapping.Defuse(text)
			if shown(got) != want {
				t.Errorf("%s: %q becomes %q, want %q", rule, text, shown(got), want)
			}
			if back := mapping.Restore(got); back != text {
				t.Errorf("%s: %q comes back as %q", rule, text, back)
			}
		}
	}
}

// TestMarksOfAPerson has a group of texts that have the bridge's marks by themselves. Each is
// distinguished from the bridge's own, and comes back unchanged.
func TestMarksOfAPerson(t *testing.T) {
	t.Parallel()
	unshown := strings.NewReplacer("~|", "\u2064\u2060", "|", "\u2060")
	for text, want := range map[string]string{
		"@|bob":           "@||bob",
		"@||bob":          "@|||bob",
		"@bob @|bob":      "@|bob @||bob",
		"@|bob @bob":      "@||bob @|bob",
		"@ bob|":          "@ bob|",
		"@| bob":          "@|| bob",
		"#|12 #12":        "#||12 #|12",
		"GH-|12 gh-7":     "GH-||12 gh-|7",
		"://|x":           "://||x",
		"a~|b":            "a~|~|b",
		"a~|~|b":          "a~|~|~|~|b",
		"a~|b c~|d":       "a~|~|b c~|~|d",
		"~|a~|":           "~|~|a~|~|",
		"GH\\-~|12":       "GH\\-~|~|12",
		"GH\\-~|12 @bob":  "GH\\-~|~|12 @|bob",
		"@bob GH\\-12":    "@|bob GH\\-~|12",
		"@~|bob":          "@~|~|bob",
		"@|~|bob":         "@||~|~|bob",
		"@~|~|bob #1":     "@~|~|~|~|bob #|1",
		"`@|bob` @bob":    "`@||bob` @|bob",
		"www.|a/issues/1": "www.~||a/issues/1",
	} {
		in := unshown.Replace(text)
		got := mapping.Defuse(in)
		if shown(got) != want {
			t.Errorf("%q becomes %q, want %q", text, shown(got), want)
		}
		if back := mapping.Restore(got); back != in {
			t.Errorf("%q comes back as %q", text, shown(back))
		}
	}
}
