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

// TestPlainFootersNeedNoExpression: a footer as the bridge writes it is found without the long
// expression, with the same result. Each other form is left to the expression.
func TestPlainFootersNeedNoExpression(t *testing.T) {
	t.Parallel()
	keys := NewKeys([]byte("key"))
	footer := keys.AppendFooter("", Marker{MarkCard, "link", "nonce-1", "a/b é"}, "acme/web", 12, "https://github.com/acme/web/issues/12")
	mark := footer[strings.Index(footer, "#planbridge")+1 : len(footer)-1]
	replace := func(old, now string) string { return strings.Replace(footer, old, now, 1) }
	for name, tt := range map[string]struct {
		text  string
		plain bool
	}{
		"as it is written":             {footer, true},
		"with text behind it":          {footer + " and more\n\ntext", true},
		"with the next one behind it":  {footer + footer, true},
		"of a longer label":            {replace("acme/web#12]", "acme/web-and.more#123]"), true},
		"nothing":                      {"", false},
		"its words alone":              {footerWords, false},
		"its words and a bracket":      {footerWords + " [", false},
		"no link behind the label":     {footerWords + " [acme/web#12] (x)", false},
		"a label that goes on":         {replace("acme/web#12]", "acme\n/web#12]"), false},
		"a bracket in the label":       {replace("acme/web#12]", "acme[web#12]"), false},
		"two spaces between its words": {replace("Synced by", "Synced  by"), false},
		"a title behind the address":   {replace(mark+")", mark+` "title")`), false},
		"an address in angle brackets": {replace("](https", "](<https"), false},
		"of an empty label":            {replace("[acme/web#12]", "[]"), true},
		"a tab in the address":         {replace("//github", "//git\thub"), false},
		"a line end in the address":    {replace("//github", "//git\nhub"), false},
		"a form feed in the address":   {replace("//github", "//git\fhub"), false},
		"a CR in the address":          {replace("//github", "//git\rhub"), false},
		"a quote in the address":       {replace("//github", "//git\"hub"), false},
		"an apostrophe in the address": {replace("//github", "//git'hub"), false},
		"a bracket in the address":     {replace("//github", "//git(hub"), false},
		"a tag in the address":         {replace("//github", "//git>hub"), false},
		"an address without an end":    {strings.TrimSuffix(footer, ")"), false},
		"no marker":                    {replace("#planbridge", "planbridge"), false},
		"another word":                 {replace(mark, strings.Replace(mark, "planbridge", "planbridges", 1)), false},
		"a later form of markers":      {replace(mark, strings.Replace(mark, "-1.", "-2.", 1)), false},
		"one field less":               {replace(mark, strings.Replace(mark, ".link.", ".", 1)), false},
		"one field more":               {replace(mark, strings.Replace(mark, ".link.", ".link.link.", 1)), false},
		"a short signature":            {strings.TrimSuffix(footer, mark[len(mark)-1:]+")") + ")", false},
		"a long signature":             {replace(mark, mark+"0"), false},
		"a signature of other digits":  {replace(mark, mark[:len(mark)-1]+"g"), false},
		"escaped by a Markdown writer": {replace(mark, strings.Replace(mark, ".link", `\.link`, 1)), false},
		"a letter beyond ASCII":        {replace(mark, strings.Replace(mark, ".link", ".lınk", 1)), false},
		"a letter just beyond ASCII":   {replace(mark, strings.Replace(mark, ".link", ".l\u0080nk", 1)), false},
		"a comma in a field":           {replace(mark, strings.Replace(mark, ".link", ".l,nk", 1)), false},
		"an underscore in a field":     {replace(mark, strings.Replace(mark, ".link", ".l_nk", 1)), false},
	} {
		got, want := plainFooter(tt.text), ownForms.FindStringSubmatchIndex(tt.text)
		if (got != nil) != tt.plain {
			t.Errorf("%s: plain %v: %q", name, got != nil, tt.text)
		}
		if tt.plain && cmp.Diff(want, got) != "" {
			t.Errorf("%s: %s", name, cmp.Diff(want, got))
		}
	}
}
