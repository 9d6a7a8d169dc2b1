package mapping_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"planbridge/mapping"
)

// oldJoint is where programs before this one put joiners.
var oldJoint = regexp.MustCompile(`(?i)(@|&(?:#0*64|#x0*40|commat);)|(#|&(?:#0*35|#x0*23|num);)|(gh-)|://`)

// oldDefused is a text as an older program may have written it to GitHub. It has joiners at some
// joints, and at all that a joiner follows already.
func oldDefused(text string, some func() bool) string {
	var b strings.Builder
	rest := 0
	for _, loc := range oldJoint.FindAllStringIndex(text, -1) {
		if some() || strings.HasPrefix(text[loc[1]:], "\u2060") {
			b.WriteString(text[rest:loc[1]] + "\u2060")
			rest = loc[1]
		}
	}
	return b.String() + text[rest:]
}

// TestOldDefusedTextsStand: a body that an older program defused is neither
// seen as edited nor written again, whatever that program left live.
func TestOldDefusedTextsStand(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	texts := []string{
		"ask @bob about #12", "<div>\n&#64octocat\n</div>", "[https://medium.com/@octocat]", `GH\-12`, "GH-<!-- -->12", "[x](javascript:alert(1))",
		`closes [x](https:\/\/github.com/acme/other/issues/1)`, "www.github.com/acme/other/issues/1", "`@bob`", "    `#12", "@\u2060bob",
	}
	for i := range *referenceTexts / 5 {
		if text := randomText(r, i); !strings.Contains(text, "\u2064") && !strings.Contains(text, "\x00") && !strings.Contains(text, "&#1;") {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		sent := oldDefused(text, func() bool { return r.IntN(3) > 0 })
		if back := mapping.Restore(sent); back != text {
			t.Errorf("Restore(%q) = %q, want %q", shown(sent), back, text)
		}
		if kept := mapping.DefuseKeeping(text, sent); kept != sent {
			t.Errorf("%q on GitHub would be rewritten to %q", shown(sent), shown(kept))
		}
		base := map[mapping.Attribute]mapping.Base{mapping.Summary: {GitHub: sent, Planning: text, Version: 3}}
		if d := decisionsAbout(base, sent, text, 3); len(d) > 0 {
			t.Errorf("%q, agreed on, is not left alone: %+v", shown(sent), d)
		}
		for _, d := range decisionsAbout(nil, sent, text, 3) { // as after a lost store
			if d.GitHub != nil || d.Planning != nil {
				t.Errorf("%q, adopted, is written: %+v", shown(sent), d)
			}
		}
		edited := text + "\n\nAnd more."
		d := decisionsAbout(base, sent, edited, 4)
		if len(d) != 1 || d[0].GitHub == nil || d[0].Planning != nil || mapping.Restore(d[0].GitHub.To) != edited {
			t.Errorf("%q, edited in planning, is decided %+v", shown(sent), d)
		}
	}
}

func decisionsAbout(base map[mapping.Attribute]mapping.Base, github, planning string, version int64) []mapping.Decision {
	plan := mapping.Resolve(mapping.Input{
		Route: &mapping.Route{}, Link: &mapping.Link{Pair: mapping.Pair{Base: base}},
		GitHub:   mapping.View{mapping.Summary: {Value: github}},
		Planning: mapping.View{mapping.Summary: {Value: planning, Version: version}},
	})
	return plan.Decisions
}
