package mapping_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	const base = "one\n\ntwo\n\nthree\n"
	for name, c := range map[string]struct {
		base, a, b, want string
		clean            bool
	}{
		"different paragraphs":                 {base, "ONE\n\ntwo\n\nthree\n", "one\n\ntwo\n\nTHREE\n", "ONE\n\ntwo\n\nTHREE", true},
		"adjacent paragraphs":                  {base, "ONE\n\ntwo\n\nthree\n", "one\n\nTWO\n\nthree\n", "ONE\n\nTWO\n\nthree", true},
		"adjacent lines":                       {"a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n", "", false},
		"the same line":                        {base, "ONE\n\ntwo\n\nthree\n", "Uno\n\ntwo\n\nthree\n", "", false},
		"the same change and another":          {base, "ONE\n\ntwo\n\nthree\n", "ONE\n\ntwo\n\nTHREE\n", "ONE\n\ntwo\n\nTHREE", true},
		"both append":                          {base, base + "\nfour\n", base + "\nfive\n", "", false},
		"both append the same":                 {base, base + "\nfour\n", base + "\nfour\n", base + "\nfour\n", true},
		"a paragraph behind an edited one":     {base, "ONE\n\ntwo\n\nthree\n", "one\n\nnew\n\ntwo\n\nthree\n", "ONE\n\nnew\n\ntwo\n\nthree", true},
		"deleted here, edited there":           {base, "one\n\nthree\n", "one\n\ntwo!\n\nthree\n", "", false},
		"no line end at the end":               {"one\n\ntwo", "one\n\ntwo\nmore", "ONE\n\ntwo", "ONE\n\ntwo\nmore", true},
		"a web editor's line ends":             {base, "ONE\r\n\r\ntwo\r\n\r\nthree", "one\n\ntwo\n\nTHREE", "ONE\n\ntwo\n\nTHREE", true},
		"only line ends changed on one side":   {base, strings.ReplaceAll(base, "\n", "\r\n"), "one\n", "one\n", true},
		"from nothing":                         {"", "one\n", "two\n", "", false},
		"to nothing and an edit":               {base, "", "one\n\ntwo!\n\nthree\n", "", false},
		"a line break in Markdown is kept":     {base, "one  \nmore\n\ntwo\n\nthree\n", "one\n\ntwo\n\nTHREE\n", "one  \nmore\n\ntwo\n\nTHREE", true},
		"repeated lines that read either way":  {"p\n", "p\nj\nq\np\n", "k\nt\ne\np\n", "", false},
		"a deletion of one of many blank ones": {"a\n\n\n\nb\n", "a\n\n\nb\n", "a!\n\n\n\nb\n", "a!\n\n\nb", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, clean := mapping.Merge(c.base, c.a, c.b)
			if got != c.want || clean != c.clean {
				t.Errorf("Merge = %q, %v; want %q, %v", got, clean, c.want, c.clean)
			}
		})
	}
}

// What one side left alone is the other side's, whatever the texts are.
func TestMergeOneSide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, x := mappingtest.Text().Draw(t, "base"), mappingtest.Text().Draw(t, "x")
		for name, args := range map[string][3]string{"b,x,b": {base, x, base}, "b,b,x": {base, base, x}, "b,x,x": {base, x, x}} {
			if got, clean := mapping.Merge(args[0], args[1], args[2]); !clean || mapping.Canonical(got) != mapping.Canonical(x) {
				t.Errorf("Merge(%s) = %q, %v; want %q", name, got, clean, x)
			}
		}
	})
}

func TestMergeLaws(t *testing.T) {
	t.Parallel()
	// Few and repeated lines are the hard case.
	repeated := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n"}), 0, 9).Draw(t, "lines"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.OneOf(repeated, mappingtest.Document(), mappingtest.Markdown()).Draw(t, "base")
		x := rapid.OneOf(mappingtest.Edited(base, "x"), repeated).Draw(t, "x")
		y := rapid.OneOf(mappingtest.Edited(base, "y"), repeated).Draw(t, "y")
		m, clean := mapping.Merge(base, x, y)
		if n, other := mapping.Merge(base, y, x); clean != other || mapping.Canonical(m) != mapping.Canonical(n) {
			t.Fatalf("not symmetric: %q, %v and %q, %v", m, clean, n, other)
		}
		if !clean {
			return
		}
		for name, side := range map[string]string{"x": x, "y": y} {
			if again, ok := mapping.Merge(base, side, m); !ok || mapping.Canonical(again) != mapping.Canonical(m) {
				t.Fatalf("merging %s again: %q, %v; want %q", name, again, ok, m)
			}
		}
		checkNoLineLost(t, base, x, y, m)
	})
}

// checkNoLineLost asserts that every line that an author added is in the
// merge, as often as in his text or in both.
func checkNoLineLost(t *rapid.T, base, x, y, merged string) {
	count := func(text string) map[string]int {
		n := map[string]int{}
		for line := range strings.Lines(text) {
			n[strings.TrimRight(line, "\r\n")]++
		}
		return n
	}
	b, cx, cy, m := count(base), count(x), count(y), count(merged)
	for line, n := range cx {
		if line != "" && n > b[line] && cy[line] >= b[line] && m[line] < n {
			t.Fatalf("line %q of x: %d times, merged %d times in %q", line, n, m[line], merged)
		}
	}
}

// git is the oracle. Where no line is repeated there is one way to read an
// edit, and the two agree in everything.
func TestMergeAgainstGit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, a, b := drawEdits(t)
		base, a, b = dense(base), dense(a), dense(b)
		want, wantClean := gitMerge(t, base, a, b)
		got, clean := mapping.Merge(base, a, b)
		if clean != wantClean || clean && mapping.Canonical(got) != mapping.Canonical(want) {
			t.Fatalf("Merge = %q, %v; git: %q, %v", got, clean, want, wantClean)
		}
	})
}

// The blank lines between paragraphs are repeated lines. There the two may read
// an edit differently, seldom, and Merge may give up what git merges.
func TestMergeParagraphsAgainstGit(t *testing.T) {
	t.Parallel()
	var same, stricter, different int
	rapid.Check(t, func(t *rapid.T) {
		base, a, b := drawEdits(t)
		want, wantClean := gitMerge(t, base, a, b)
		got, clean := mapping.Merge(base, a, b)
		switch {
		case !clean && wantClean:
			stricter++
		case clean != wantClean || clean && mapping.Canonical(got) != mapping.Canonical(want):
			t.Logf("Merge = %q, %v; git: %q, %v", got, clean, want, wantClean)
			different++
		default:
			same++
		}
	})
	t.Logf("as git: %d, stricter: %d, different: %d", same, stricter, different)
	if different*20 > same || stricter*5 > same {
		t.Errorf("as git: %d, stricter: %d, different: %d", same, stricter, different)
	}
}

func drawEdits(t *rapid.T) (base, a, b string) {
	base = mappingtest.Document().Draw(t, "base")
	return base, mappingtest.Edited(base, "a").Draw(t, "a"), mappingtest.Edited(base, "b").Draw(t, "b")
}

// dense is a text without its blank lines.
func dense(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// gitMerge is git's merge of three texts whose blank lines at the end, which are
// none to Merge, are dropped.
func gitMerge(t *rapid.T, base, a, b string) (string, bool) {
	dir, err := os.MkdirTemp("", "merge")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	names := []string{"a", "base", "b"}
	for i, text := range []string{a, base, b} {
		names[i] = filepath.Join(dir, names[i])
		if text = strings.TrimRight(text, "\n"); text != "" {
			text += "\n"
		}
		if err := os.WriteFile(names[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("git", append([]string{"merge-file", "-p"}, names...)...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err == nil
}

func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n", "a\nb\nc\nd\n")
	f.Add("", "a", "\n\n")
	f.Fuzz(func(t *testing.T, base, a, b string) {
		m, clean := mapping.Merge(base, a, b)
		if !clean {
			return
		}
		if again, ok := mapping.Merge(base, a, m); !ok || mapping.Canonical(again) != mapping.Canonical(m) {
			t.Errorf("merging again: %q, %v; want %q", again, ok, m)
		}
	})
}
