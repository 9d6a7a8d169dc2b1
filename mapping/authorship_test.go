package mapping_test

import (
	"testing"

	"planbridge/mapping"
)

func TestMade(t *testing.T) {
	t.Parallel()
	body := func(kind mapping.MarkerKind) string {
		return keys.AppendComment("Text", mapping.Marker{Kind: kind, Link: "1", Nonce: "2", Partner: "3"})
	}
	stranger := mapping.NewKeys([]byte("another bridge's key, as long as ours"))
	for _, c := range []struct {
		body string
		made [4]bool // by Theirs, Unknown, Answered, Named
	}{
		{"Text", [4]bool{false, false, false, true}},
		{body(mapping.MarkIssue), [4]bool{false, true, true, true}},
		{body(mapping.MarkSubIssue), [4]bool{false, true, true, true}},
		{body(mapping.MarkConflict), [4]bool{false, false, false, true}},
		{body(mapping.MarkConflict) + "\n\n" + body(mapping.MarkSubIssue), [4]bool{false, true, true, true}},
		{body(mapping.MarkIssue) + "\n\n" + body(mapping.MarkConflict), [4]bool{false, true, true, true}},
		{stranger.AppendComment("Text", mapping.Marker{Kind: mapping.MarkIssue, Link: "1", Nonce: "2", Partner: "3"}), [4]bool{false, false, false, true}},
	} {
		for whose, want := range c.made {
			if got := keys.Made(&mapping.Issue{Body: c.body}, mapping.Authorship(whose)); got != want {
				t.Errorf("Made(%q, %d) = %t", c.body, whose, got)
			}
		}
	}
}
