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
		{Summary, "a line end\r\x00b", "a line end\rb"},
		{Summary, "two \x00\nlines", "two \nlines"},
		{Estimate, "3.0", "3"},
		{State, StateDone, StateDone},
	} {
		if got := GitHubForm(x.a, x.in, ""); got != x.want {
			t.Errorf("%s %q: %q, want %q", x.a, x.in, got, x.want)
		}
	}
}

// TestFormsAreEqual: a text for GitHub means the same as its source, whatever that has, and has
// nothing that GitHub may refuse.
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

// TestDigestsTellValuesApart: two values of a side have one digest exactly where they are the
// same to the bridge.
func TestDigestsTellValuesApart(t *testing.T) {
	value := rapid.SampledFrom([]string{"", "a", "a ", " a", "a\r\n", "A", "3", "3.0", "03", "3.5", "3.50", "two\nlines", "two\r\nlines \n", "\x00a"})
	rapid.Check(t, func(t *rapid.T) {
		a, x, y := rapid.SampledFrom(Attributes).Draw(t, "attribute"), value.Draw(t, "x"), value.Draw(t, "y")
		if same := DigestValue(a, x) == DigestValue(a, y); same != Same(a, x, y) {
			t.Errorf("%s %q and %q have the same digest: %v", a, x, y, same)
		}
	})
}

// TestSameOfASide has a row for each thing that is no edit of an attribute, and one that is.
func TestSameOfASide(t *testing.T) {
	for _, x := range []struct {
		a    Attribute
		x, y string
		want bool
	}{
		{Title, "a title", " a\ttitle ", true},
		{Title, "a title", "A title", false},
		{Title, strings.Repeat("x", 300), CutTitle(strings.Repeat("x", 300)), false},
		{Summary, "a\r\nb  \n", "a\nb", true},
		{Summary, "  a", "a", false},
		{Estimate, "3", "3.0", true},
		{Estimate, "", "0", false},
		{Estimate, "none", "", true},
		{State, StateDone, StateDone, true},
		{State, StateDone, "Done", false},
		{"unknown", "a", "a", true},
		{"unknown", "a", "a ", false},
	} {
		if got := Same(x.a, x.x, x.y); got != x.want {
			t.Errorf("%s: %.20q and %.20q are the same: %v", x.a, x.x, x.y, got)
		}
	}
}

// TestViewsAreOfPeoplesText: the bridge's additions are removed from the texts that have them. A
// title that says the same is a person's.
func TestViewsAreOfPeoplesText(t *testing.T) {
	keys := NewKeys([]byte("key"))
	footer := keys.AppendFooter("", Marker{MarkCard, "link", "nonce", "12"}, "acme/web", 12, "https://github.com/acme/web/issues/12")
	title, summary := Versioned{footer, 3}, Versioned{"text\n\n" + footer, 4}
	for name, view := range map[string]View{
		"a card": CardView(&Card{Title: title, Summary: summary}, keys),
		"a task": TaskItemView(&Task{Title: title, Summary: summary}, keys),
	} {
		if view[Title] != title || view[Summary] != (Versioned{"text", 4}) {
			t.Errorf("%s says %+v", name, view)
		}
	}
}

// TestRouteThatSparesGitHubReadsTheGreatestEstimate: nobody takes the older of two labels off
// there, so that the base does not tell which one is new, and both stay.
func TestRouteThatSparesGitHubReadsTheGreatestEstimate(t *testing.T) {
	scheme := LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"}
	issue, base := &Issue{State: "open", Labels: []string{"points/8", "points/2"}}, map[Attribute]Base{Estimate: {GitHub: "8"}}
	for name, tt := range map[string]struct {
		direction Direction
		value     string
		extra     int
	}{
		"both ways":   {Both, "2", 1},
		"to GitHub":   {ToGitHub, "2", 1},
		"to planning": {ToPlanning, "8", 0},
	} {
		view, extra := (&Route{Direction: tt.direction}).IssueView(issue, scheme, Keys{}, base)
		if view[Estimate].Value != tt.value || len(extra) != tt.extra {
			t.Errorf("%s: the estimate is %q, %v should go", name, view[Estimate].Value, extra)
		}
	}
}
