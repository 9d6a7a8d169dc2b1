package status_test

import (
	"net/url"
	"strings"
	"testing"

	"planbridge/bridge/status"
	"planbridge/config"
)

// TestPageOfAnItemLinksToBothSides: to the issue, and to the card where the configuration says
// what its address is.
func TestPageOfAnItemLinksToBothSides(t *testing.T) {
	const issue = `href="https://github.example/acme/web/issues/12"`
	for pattern, want := range map[string]string{
		"": "",
		"https://planning.example/projects/{project}/cards/{card}#{cid}": `href="https://planning.example/projects/p1/cards/c1#7"`,
	} {
		a := newAdmin(t, func(o *status.Options) {
			o.Settings = &status.Access{WebURL: "https://github.example", Cards: &config.Planning{CardURL: pattern}}
		})
		page := a.text(a.do("GET", "/explain?item="+url.QueryEscape("acme/web#12"), ""), 200)
		if !strings.Contains(page, issue) || want != "" && !strings.Contains(page, want) || want == "" && strings.Contains(page, "The card in planning") {
			t.Errorf("with %q the page does not have %s and %q:\n%s", pattern, issue, want, page)
		}
	}
}
