package mapping_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
		"the same change and another":          {base, "ONE\n\ntwo\n\nthree\n", "ONE\n\ntwo\n\nTHREE\n", "ONE\n\ntwo\n\nTHREE\n", true},
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
		"repeated lines that read either way":  {"p\n", "p\nj\nq\np\n", "k\nt\ne\np\n", "k\nt\ne\np\nj\nq\np", true},
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

// An unchanged part of one side takes the other side's, whatever the texts are.
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
		checkNoWordLost(t, base, x, y, m)
	})
}

// checkNoWordLost asserts that every word that an author added is in the merge, as
// often as in his text or in both.
func checkNoWordLost(t *rapid.T, base, x, y, merged string) {
	count := func(text string) map[string]int {
		n := map[string]int{}
		for word := range strings.FieldsSeq(text) {
			n[word]++
		}
		return n
	}
	b, cx, cy, m := count(base), count(x), count(y), count(merged)
	for word, n := range cx {
		if n > b[word] && cy[word] >= b[word] && m[word] < n {
			t.Fatalf("word %q of x: %d times, merged %d times in %q", word, n, m[word], merged)
		}
	}
}

// git is the oracle: Merge merges all that it merges. Where no line is repeated there is one way to
// read an edit, and the two agree in everything.
func TestMergeAgainstGit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, a, b := drawEdits(t)
		base, a, b = dense(base), dense(a), dense(b)
		if want, clean := gitMerge(t, base, a, b); clean {
			if got, ok := mapping.Merge(base, a, b); !ok || mapping.Canonical(got) != mapping.Canonical(want) {
				t.Fatalf("Merge = %q, %v; git: %q", got, ok, want)
			}
		}
	})
}

// The blank lines between paragraphs are repeated lines, and the words of prose are. A merge of git
// is never another text, except for the number of blank lines in a row.
func TestMergeParagraphsAgainstGit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := paragraphEdits().Draw(t, "edits")
		want, clean := gitMerge(t, e.base, e.a, e.b)
		if got, ok := mapping.Merge(e.base, e.a, e.b); clean && ok && inkOf(got) != inkOf(want) {
			t.Fatalf("%q, git: %q", got, want)
		}
	})
}

// A merge of git is hardly ever a conflict: in 8 of 3,436 random edits. These are the same in each
// run, so that their number is.
func TestMergeIsHardlyStricterThanGit(t *testing.T) {
	t.Parallel()
	var same, stricter int
	for seed := range 150 {
		e := paragraphEdits().Example(seed)
		if _, clean := gitMerge(t, e.base, e.a, e.b); !clean {
			continue
		}
		if _, ok := mapping.Merge(e.base, e.a, e.b); ok {
			same++
		} else {
			t.Logf("stricter: %q, %q and %q", e.base, e.a, e.b)
			stricter++
		}
	}
	if stricter > same/100 {
		t.Errorf("as git: %d, stricter: %d", same, stricter)
	}
}

// edits are what two people made of one text.
type edits struct{ base, a, b string }

func paragraphEdits() *rapid.Generator[edits] {
	return rapid.Custom(func(t *rapid.T) (e edits) {
		if !rapid.Bool().Draw(t, "prose") {
			e.base, e.a, e.b = drawEdits(t)
			return e
		}
		paragraphs := rapid.SliceOfN(paragraph(), 1, 8).Draw(t, "paragraphs")
		return edits{strings.Join(paragraphs, "\n\n"), editedProse(t, paragraphs, "alice"), editedProse(t, paragraphs, "bob")}
	})
}

var prose = strings.Fields("the card moves when a sprint ends and somebody writes that it is done so we look at our plan again before next week")

// paragraph generates prose: one line.
func paragraph() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(prose), 3, 30).Draw(t, "words"), " ") + "."
	})
}

// editedProse is what a person makes of paragraphs.
func editedProse(t *rapid.T, paragraphs []string, author string) string {
	paragraphs = slices.Clone(paragraphs)
	for range rapid.IntRange(1, 3).Draw(t, "edits") {
		at := rapid.IntRange(0, len(paragraphs)).Draw(t, "at")
		switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
		case kind == 0 || at == len(paragraphs):
			paragraphs = slices.Insert(paragraphs, at, author+" "+paragraph().Draw(t, "new"))
		case kind == 1:
			paragraphs = slices.Delete(paragraphs, at, at+1)
		case kind == 2:
			paragraphs[at] = paragraph().Draw(t, "rewritten")
		default:
			words := strings.Fields(paragraphs[at])
			words[rapid.IntRange(0, len(words)-1).Draw(t, "word")] = author
			paragraphs[at] = strings.Join(words, " ")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// TestMergeWords: two people edit one paragraph.
func TestMergeWords(t *testing.T) {
	t.Parallel()
	const base = "The card moves slowly. A sprint ends today! Nobody knows why."
	for name, c := range map[string]struct{ a, b, want string }{
		"different sentences": {
			"The card moves quickly. A sprint ends today! Nobody knows why.", "The card moves slowly. A sprint ends tomorrow! Nobody knows why.",
			"The card moves quickly. A sprint ends tomorrow! Nobody knows why.",
		},
		"sentences rewritten": {
			"Cards are moved by hand. A sprint ends today! Nobody knows why.", "The card moves slowly. A sprint ends today! We found out.",
			"Cards are moved by hand. A sprint ends today! We found out.",
		},
		"neighbouring sentences rewritten": {
			"Cards are moved by hand. A sprint ends today! Nobody knows why.", "The card moves slowly. Two weeks are over! Nobody knows why.",
			"Cards are moved by hand. Two weeks are over! Nobody knows why.",
		},
		"one deleted":                {"The card moves slowly. A sprint ends today!", "The old card moves slowly. A sprint ends today! Nobody knows why.", "The old card moves slowly. A sprint ends today!"},
		"one added at the end":       {base + " We ask.", "The old card moves slowly. A sprint ends today! Nobody knows why.", "The old card moves slowly. A sprint ends today! Nobody knows why. We ask."},
		"the same edit":              {"The card moves fast. A sprint ends today! Nobody knows why.", "The card moves fast. A sprint ended today! Nobody knows why.", "The card moves fast. A sprint ended today! Nobody knows why."},
		"one word":                   {"The card moves fast. A sprint ends today! Nobody knows why.", "The card moves now. A sprint ends today! Nobody knows why.", ""},
		"touching words":             {"The map moves slowly. A sprint ends today! Nobody knows why.", "The card stands slowly. A sprint ends today! Nobody knows why.", ""},
		"both add at one place":      {base + " We ask.", base + " They ask.", ""},
		"deleted here, edited there": {"The card moves slowly. Nobody knows why.", "The card moves slowly. A sprint ended today! Nobody knows why.", ""},
	} {
		if got, clean := mapping.Merge(base, c.a, c.b); clean != (c.want != "") || got != c.want {
			t.Errorf("%s: Merge = %q, %v, want %q", name, got, clean, c.want)
		}
	}
	if got, clean := mapping.Merge("一二三四五六七八", "九二三四五六七八", "一二三四五六七十"); !clean || got != "九二三四五六七十" {
		t.Errorf("without spaces: %q, %v", got, clean)
	}
}

// wordEdit makes the words from:to of a base text into others.
type wordEdit struct {
	from, to int
	words    string
}

// TestMergeWordsAgainstReference: the reference merges edits, and no texts. Edits of two people
// merge where they are the same or have an unchanged word between them.
func TestMergeWordsAgainstReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(t, "words")
		var base []string
		for i := range n {
			base = append(base, "w"+strconv.Itoa(i))
		}
		edits := func(author string) (out []wordEdit) {
			for at := rapid.IntRange(0, 6).Draw(t, "first"); at <= n; at += rapid.IntRange(1, 9).Draw(t, "gap") {
				e := wordEdit{from: at, to: min(n, at+rapid.IntRange(0, 2).Draw(t, "old"))}
				for k := range rapid.IntRange(0, 2).Draw(t, "new") {
					e.words += " " + rapid.SampledFrom([]string{author, "both"}).Draw(t, "by") + strconv.Itoa(at) + "x" + strconv.Itoa(k)
				}
				if e.from < e.to || e.words != "" {
					out, at = append(out, e), e.to
				}
			}
			return out
		}
		apply := func(es []wordEdit) string {
			out, at := "", 0
			for _, e := range es {
				out += " " + strings.Join(base[at:e.from], " ") + e.words
				at = e.to
			}
			return strings.Join(strings.Fields(out+" "+strings.Join(base[at:], " ")), " ")
		}
		xs, ys := edits("x"), edits("y")
		merged := slices.Clone(xs)
		for _, y := range ys {
			if slices.Contains(xs, y) {
				continue
			}
			if slices.ContainsFunc(xs, func(x wordEdit) bool { return x.to >= y.from && y.to >= x.from }) {
				merged = nil
				break
			}
			merged = append(merged, y)
		}
		slices.SortFunc(merged, func(a, b wordEdit) int { return a.from - b.from })
		x, y := apply(xs), apply(ys)
		got, clean := mapping.Merge(apply(nil), x, y)
		if conflict := len(xs) > 0 && len(ys) > 0 && merged == nil && x != y; clean == conflict || clean && !conflict && merged != nil && got != apply(merged) {
			t.Fatalf("%q, %q and %q: %q, %v, want %q", apply(nil), x, y, got, clean, apply(merged))
		}
	})
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
func gitMerge(t rapid.TB, base, a, b string) (string, bool) {
	dir, err := os.MkdirTemp("", "merge")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
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
