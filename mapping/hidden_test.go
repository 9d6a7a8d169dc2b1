package mapping_test

import (
	"strings"
	"testing"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

func TestHidden(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain é 日本 \U0001f469\u200d\U0001f680 می\u200cخواهم \U0001f3f4\U000e0067\U000e0062\U000e007f": "",
		"a <!-- note --> b <!-- open":  "2 HTML comments",
		"<!-- a --> \u200b <!-- b -->": "2 HTML comments, 1 zero-width character",
		"pass\u200bword \ufeff \u2060": "3 zero-width characters",
		"a\u200db \u200d\u200d":        "3 zero-width characters",
		"so\u00adft":                   "1 zero-width character",
		"tags\U000e0041\U000e0042":     "2 zero-width characters",
		"x\u202ey\u2066z":              "2 bidirectional controls",
		"<!-- \u202e -->\u202e\u200b":  "1 HTML comment, 1 zero-width character, 1 bidirectional control",

		// A comment ends at its end, and one that does not goes on to the text's.
		"<!--\u200b-->\u200b":             "1 HTML comment, 1 zero-width character",
		"<!-- a <!-- b --> \u200b":        "1 HTML comment, 1 zero-width character",
		"<!-- \u200b <!-- \u200b":         "1 HTML comment, 2 zero-width characters",
		"< !-- no -- > <! -- <b>bold</b>": "",

		// The tags of a flag are letters; behind anything else they are hidden.
		"\U0001f3f4\U000e0020\U000e007f":  "",
		"\U0001f3f4 \U000e0067":           "1 zero-width character",
		"\U0001f3f4\U000e001f\U000e0067":  "2 zero-width characters",
		"\U0001f3f4\U000e0080\U000e0067":  "2 zero-width characters",
		"\U0001f3f4\U000e0067a\U000e0067": "1 zero-width character",

		// A joiner joins two letters of a script that does, and nothing else.
		"é\u200dé é\u200cé":  "",
		"\u0080\u200d\u0080": "",
		"\u007f\u200d\u0080": "1 zero-width character",
		"\u0080\u200d\u007f": "1 zero-width character",
		"é\u200d":            "1 zero-width character",
		"é\u200d\u200dé":     "2 zero-width characters",
		"é\u200bé":           "1 zero-width character",
		"\u200dé":            "1 zero-width character",
		"a\u3164b \u115f":    "2 zero-width characters", // fillers of Hangul
	} {
		if got := mapping.HiddenOn(mapping.GitHub, text).String(); got != want {
			t.Errorf("%q hides %q, want %q", text, got, want)
		}
		if got := mapping.HiddenOn(mapping.Planning, text).String(); got != want {
			t.Errorf("planning's %q hides %q, want %q", text, got, want)
		}
	}
	defused := mapping.Defuse(`@bob GH\-12 [x](javascript:x)`)
	if got := mapping.HiddenOn(mapping.GitHub, defused).String(); got != "" {
		t.Errorf("the bridge's own marks in %q count as %s", shown(defused), got)
	}
	if got := mapping.HiddenOn(mapping.Planning, "GH\u2060-12 @bob\u2060").String(); got != "2 zero-width characters" {
		t.Errorf("in planning, where the bridge puts none, joiners count as %q", got)
	}
	for _, unit := range []string{"<!--", "<!-- -->", "\u200d", "\u202e", "-->"} {
		mappingtest.Growth(t, "hidden text of "+unit, 16<<10, func(size int) {
			mapping.HiddenOn(mapping.GitHub, strings.Repeat(unit, size/len(unit)))
		})
	}
}
