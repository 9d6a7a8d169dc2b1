package mapping

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Searching from place to place finds what a search of the whole text finds.
func TestOwnFormsAreFoundEverywhere(t *testing.T) {
	t.Parallel()
	marker := "planbridge-1.card.l1.n1.p1." + strings.Repeat("0123456789abcdef", 2)
	link := "https://github.com/acme/web/issues/12#" + marker
	pieces := []string{
		"<p>", "</p>", "<", "S", "Synced", "Synced by planbridge with ", "Synced\n by planbridge with\t", "<!--", "<!-- planbridge:", "-->", " ", "\n", "text é",
		marker, strings.Replace(marker, "-1.", `\-1\.`, 1), link, "[acme/web#12](" + link + ")", `<a href="` + link + `">acme/web#12</a>`, "<" + link + ">",
		"<!-- planbridge:" + marker + " -->", "Synced by planbridge with [acme/web#12](" + link + ")",
		"[", "](", "](" + link, "#", ")", "https://github.com/acme/web/issues/12#", strings.ToUpper(marker), strings.TrimSuffix(marker, "f"), strings.Replace(marker, ".n1", "", 1), strings.Replace(marker, ".n1", ".é-", 1), ".x",
	}
	whole := regexp.MustCompile(strings.TrimPrefix(ownForms.String(), "^"))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		if d := cmp.Diff(whole.FindAllStringSubmatchIndex(text, -1), findOwn(text)); d != "" {
			t.Fatalf("in %q: %s", text, d)
		}
	})
}
