package mapping_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                            "",
		"\n \t\r\n":                   "",
		"a\r\nb\rc\n":                 "a\nb\nc",
		"a  \nb\t\nc\u00a0":           "a\nb\nc",
		"  a":                         "  a",
		"\n\na":                       "\n\na",
		"a\n\n\nb":                    "a\n\n\nb",
		"nul\x00 bell\x07 del\x7f":    "nul bell del",
		"tab\tstays":                  "tab\tstays",
		"bad \xff\xfe utf-8":          "bad \ufffd\ufffd utf-8",
		"white space before \x00\nX":  "white space before\nX",
		"joiners \u2060 stay, \u200b": "joiners \u2060 stay, \u200b",
	} {
		if got := mapping.Canonical(in); got != want {
			t.Errorf("Canonical(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCanonicalTitle(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                 "",
		"  a title\n":      "a title",
		"two\nlines":       "two lines",
		"two\r\nlines":     "two  lines",
		"tab\tand\u00a0nb": "tab and nb",
		"\x00nul":          "nul",
		"a  b":             "a  b",
	} {
		if got := mapping.CanonicalTitle(in); got != want {
			t.Errorf("CanonicalTitle(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCanonicalIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(mappingtest.Text(), mappingtest.Markdown()).Draw(t, "text")
		c := mapping.Canonical(text)
		if again := mapping.Canonical(c); again != c {
			t.Errorf("Canonical(%q) = %q, and of that %q", text, c, again)
		}
		if crlf := mapping.Canonical(strings.ReplaceAll(c, "\n", "\r\n")); crlf != c {
			t.Errorf("with CRLF %q, want %q", crlf, c)
		}
		title := mapping.CanonicalTitle(text)
		if again := mapping.CanonicalTitle(title); again != title || strings.ContainsAny(title, "\r\n\x00") {
			t.Errorf("CanonicalTitle(%q) = %q, and of that %q", text, title, again)
		}
		if !utf8.ValidString(c) || !utf8.ValidString(title) {
			t.Errorf("not UTF-8: %q, %q", c, title)
		}
	})
}

func TestEqual(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long title ", 40)
	for name, c := range map[string]struct {
		attr             mapping.Attribute
		github, planning string
		want             bool
	}{
		"title":                     {mapping.Title, "a", " a", true},
		"another title":             {mapping.Title, "a", "A", false},
		"cut title":                 {mapping.Title, mapping.CutTitle(long), long, true},
		"a title as long on both":   {mapping.Title, long, long, true},
		"another long title":        {mapping.Title, mapping.CutTitle(long), "a" + long, false},
		"summary":                   {mapping.Summary, "a\r\nb  \n", "a\nb", true},
		"summary, indented":         {mapping.Summary, "    a", "a", false},
		"summary, defused":          {mapping.Summary, mapping.Defuse("ask @bob, #12"), "ask @bob, #12", true},
		"summary, a live mention":   {mapping.Summary, "ask @bob", "ask @bob", true},
		"summary, a joiner of ours": {mapping.Summary, "ask @\u2060bob", "ask @\u2060bob", false},
		"estimate":                  {mapping.Estimate, "3", "3.0", true},
		"estimate, other":           {mapping.Estimate, "3", "30", false},
		"no estimate":               {mapping.Estimate, "", "", true},
		"an estimate and none":      {mapping.Estimate, "0", "", false},
		"state":                     {mapping.State, mapping.StateDone, mapping.StateDone, true},
		"another state":             {mapping.State, mapping.StateDone, mapping.StateTodo, false},
	} {
		if got := mapping.Equal(c.attr, c.github, c.planning); got != c.want {
			t.Errorf("%s: Equal(%q, %q) = %v", name, c.github, c.planning, got)
		}
	}
}

func TestCutTitle(t *testing.T) {
	t.Parallel()
	exact := strings.Repeat("é", mapping.MaxTitle)
	for name, c := range map[string]struct{ in, want string }{
		"short":                     {"a title", "a title"},
		"just fits":                 {exact, exact},
		"one too many":              {exact + "x", exact[:len(exact)-len("é")] + "…"},
		"whole runes":               {strings.Repeat("👩", 300), strings.Repeat("👩", 255) + "…"},
		"fits without white space":  {" " + exact + "\n", exact},
		"no space before the cut":   {strings.Repeat("x", 250) + strings.Repeat(" ", 20) + "y", strings.Repeat("x", 250) + "…"},
		"just fits, with a blank":   {exact[len("é"):] + " ", exact[len("é"):] + " "},
		"short ones are left alone": {" a ", " a "},
	} {
		if got := mapping.CutTitle(c.in); got != c.want {
			t.Errorf("%s: CutTitle = %q, want %q", name, got, c.want)
		}
	}
}

func TestCutTitleLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		title := mappingtest.Title().Draw(t, "title")
		cut := mapping.CutTitle(title)
		if n := utf8.RuneCountInString(cut); n > mapping.MaxTitle {
			t.Errorf("%d characters", n)
		}
		if again := mapping.CutTitle(cut); again != cut {
			t.Errorf("cut again: %q, want %q", again, cut)
		}
		if !mapping.Equal(mapping.Title, cut, title) {
			t.Errorf("%q is not equal to its cut form %q", title, cut)
		}
		if whole := mapping.UncutTitle(cut, title); mapping.CanonicalTitle(whole) != mapping.CanonicalTitle(title) {
			t.Errorf("uncut: %q, want %q", whole, title)
		}
	})
}

func TestUncutTitle(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("word ", 80) + "end"
	cut := mapping.CutTitle(whole)
	for name, c := range map[string]struct{ github, whole, want string }{
		"a word changed in front": {"Edited " + cut, whole, "Edited " + whole},
		"GitHub trimmed it":       {"Edited " + cut + " ", whole, "Edited " + whole},
		"a whole new title":       {"new", whole, "new"},
		"never was cut":           {"to be continued…", "to be continued", "to be continued…"},
	} {
		if got := mapping.UncutTitle(c.github, c.whole); got != c.want {
			t.Errorf("%s: UncutTitle = %q, want %q", name, got, c.want)
		}
	}
}

// TestTooLong: GitHub counts characters, not bytes.
func TestTooLong(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		want bool
	}{
		"nothing":                      {"", false},
		"as long as GitHub takes":      {strings.Repeat("é", mapping.MaxBody), false},
		"one character more":           {strings.Repeat("é", mapping.MaxBody) + "x", true},
		"as many bytes, but no longer": {strings.Repeat("日", mapping.MaxBody/3+1), false},
	} {
		if got := mapping.TooLong(tt.body); got != tt.want {
			t.Errorf("%s: too long %v", name, got)
		}
	}
}
