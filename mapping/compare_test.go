package mapping

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// shown writes stretches with brackets round what a text has alone.
func shown(list []Stretch) string {
	var out strings.Builder
	for _, s := range list {
		if s.Alone {
			out.WriteString("[" + s.Text + "]")
			continue
		}
		out.WriteString(s.Text)
	}
	return out.String()
}

func TestCompareWords(t *testing.T) {
	for _, tt := range []struct{ a, b, ofA, ofB string }{
		{"", "", "", ""},
		{"same", "same", "same", "same"},
		{"", "all new", "", "[all new]"},
		{"Fix the login page", "Fix the sign-in page", "Fix the[ login] page", "Fix the[ sign-in] page"},
		{"one two three", "one three", "one[ two] three", "one three"},
		{"a\nb\nc\n", "a\nx\nc\n", "a\n[b]\nc\n", "a\n[x]\nc\n"},
		{"<b>1</b>", "<b>2</b>", "<b>[1]</b>", "<b>[2]</b>"},
		{"5", "8", "[5]", "[8]"},
	} {
		a, b := CompareWords(tt.a, tt.b)
		if shown(a) != tt.ofA || shown(b) != tt.ofB {
			t.Errorf("%q and %q: %q and %q, want %q and %q", tt.a, tt.b, shown(a), shown(b), tt.ofA, tt.ofB)
		}
	}
}

// The stretches of a text are the text, and what both have is the same text on both sides.
func TestCompareWordsLosesNothing(t *testing.T) {
	text := rapid.StringMatching(`([abc][ .\n]?){0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		ofA, ofB := CompareWords(a, b)
		whole := func(list []Stretch, shared bool) string {
			var out strings.Builder
			for _, s := range list {
				if !shared || !s.Alone {
					out.WriteString(s.Text)
				}
			}
			return out.String()
		}
		if whole(ofA, false) != a || whole(ofB, false) != b {
			t.Fatalf("%q and %q became %q and %q", a, b, shown(ofA), shown(ofB))
		}
		for _, list := range [][]Stretch{ofA, ofB} {
			for i, s := range list {
				if s.Text == "" || i > 0 && s.Alone == list[i-1].Alone {
					t.Fatalf("%q and %q have empty stretches, or two of a kind: %v and %v", a, b, ofA, ofB)
				}
			}
		}
		if whole(ofA, true) != whole(ofB, true) {
			t.Fatalf("%q and %q share %q and %q", a, b, whole(ofA, true), whole(ofB, true))
		}
	})
}

// Two texts as long as GitHub takes, of which each word differs, are compared at once.
func TestMeasuredCompareWords(t *testing.T) {
	begin := time.Now()
	CompareWords(strings.Repeat("a b c d e ", 6500), strings.Repeat("v w x y z ", 6500))
	CompareWords(strings.Repeat("a b ", 16000), strings.Repeat("b c a ", 10000))
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
