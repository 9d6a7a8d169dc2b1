package mapping

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestGitHubForm(t *testing.T) {
	for _, x := range []struct {
		a        Attribute
		in, want string
	}{
		{Title, "plain  title ", "plain  title "},
		{Title, "two\nlines\tand a \x00 NUL", "two lines and a  NUL"},
		{Title, strings.Repeat("ž", 300), strings.Repeat("ž", 255) + "…"},
		{Summary, "a\x00b\x07\tc\r\nd\u0085e\x7f", "ab\tc\r\nde"},
		{Summary, "trailing  \n\n", "trailing  \n\n"},
		{Summary, "two lines\r\x00\nfurther on", "two lines\r\n\nfurther on"},
		{Estimate, "3.0", "3"},
		{State, StateDone, StateDone},
	} {
		if got := GitHubForm(x.a, x.in, ""); got != x.want {
			t.Errorf("%s %q: %q, want %q", x.a, x.in, got, x.want)
		}
	}
}

// TestFormsAreEqual: what is written to GitHub says the same as what it was
// made of, whatever that holds, and holds nothing that GitHub may refuse.
func TestFormsAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\x00\x07\r\n\t @#1a")))).Draw(t, "text")
		for _, a := range []Attribute{Title, Summary} {
			form := GitHubForm(a, text, "")
			if !Equal(a, form, text) {
				t.Fatalf("%s %q became %q", a, text, form)
			}
			if strings.ContainsFunc(form, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r) }) {
				t.Fatalf("%s %q became %q, with a control character", a, text, form)
			}
		}
	})
}
