package github

import (
	"encoding/json"
	"testing"
)

// TestPageOfAnIssue: the address is GitHub's own word, and only where it is that
// of the issue.
func TestPageOfAnIssue(t *testing.T) {
	for given, want := range map[string]string{
		"https://github.com/acme/web/issues/7":        "https://github.com/acme/web/issues/7",
		"https://git.example.org/acme/web/issues/7":   "https://git.example.org/acme/web/issues/7",
		"https://github.com/acme/web/issues/71":       "",
		"https://github.com/acme/web/pull/7":          "",
		"javascript:alert(1)//acme/web/issues/7":      "",
		"https://x/) [y](https://z/acme/web/issues/7": "",
		"": "",
	} {
		payload, err := json.Marshal(map[string]any{
			"action": "edited", "repository": map[string]any{"id": 1, "full_name": "acme/web"},
			"issue": map[string]any{"id": 3, "number": 7, "title": "t", "html_url": given},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := parse(t, "issues", string(payload)).Issue.Page; got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}
