package planningmodel

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

func rendered(t *testing.T, markdown string) string {
	t.Helper()
	var out bytes.Buffer
	// A CR LF is one line end; goldmark takes its CR for text in places.
	markdown = strings.ReplaceAll(markdown, "\r\n", "\n")
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestNormaliseRendersTheSame lets a real Markdown renderer judge random
// texts, for the trait promises a harmless change.
func TestNormaliseRendersTheSame(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	parts := []string{
		"* ", "- ", "+ ", "*", "-", "=", "x", "y z", " ", "  ", "\n", "\n", "\n\n", "\r\n", "`", "```\n", "~~~",
		"\t", "    ", "1. ", "# ", "> ", "[ ] ", "<b>", "\\", "|", "_", "---", "* * *",
	}
	changed := 0
	for range 5_000 {
		var text strings.Builder
		for range 1 + rng.IntN(12) {
			text.WriteString(parts[rng.IntN(len(parts))])
		}
		in := text.String()
		out := normalise(in)
		if out != in {
			changed++
		}
		if a, b := rendered(t, in), rendered(t, out); a != b {
			t.Fatalf("%q becomes %q, which renders as\n%s\nnot\n%s", in, out, b, a)
		}
		if again := normalise(out); again != out {
			t.Fatalf("%q becomes %q, then %q", in, out, again)
		}
	}
	if changed < 250 {
		t.Errorf("only %d texts were changed", changed)
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\r\n":         "a\nb",
		"* one\n* two \n":    "- one\n- two",
		"* one\n- two":       "* one\n- two",
		"hard  \nbreak":      "hard  \nbreak",
		"```\n* x \n```\n":   "```\n* x \n```\n",
		"* a\n  * b":         "* a\n  * b",
		"- a table\n-- ":     "- a table\n-- ",
		"* * a table\n--\n":  "* * a table\n--\n", // it is none without the last line end
		"text\n\n[l](u#m)\n": "text\n\n[l](u#m)",
	} {
		if got := normalise(in); got != want {
			t.Errorf("normalise(%q) = %q, want %q", in, got, want)
		}
	}
}
