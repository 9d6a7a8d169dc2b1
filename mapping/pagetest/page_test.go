package pagetest_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"planbridge/mapping/pagetest"
)

const root = "../.."

// TestLinks: each link within the repository leads to a file, and to a heading of it.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := map[string]*pagetest.Page{}
	for _, p := range pagetest.Pages(t, root) {
		pages[p.Path] = p
	}
	for _, p := range pages {
		for _, link := range p.Links {
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(link, "#")
			target := p.Path
			if file != "" {
				target = path.Join(path.Dir(p.Path), file)
			}
			if _, err := fs.Stat(os.DirFS(root), target); err != nil {
				t.Errorf("%s: %s leads nowhere", p.Path, link)
			} else if anchor != "" && (pages[target] == nil || !pages[target].Anchors[anchor]) {
				t.Errorf("%s: %s has no heading of that name", p.Path, link)
			}
		}
	}
}

// TestEveryPageIsReached: a reader who begins at the README comes to each page.
func TestEveryPageIsReached(t *testing.T) {
	t.Parallel()
	pages, reached := map[string]*pagetest.Page{}, map[string]bool{}
	for _, p := range pagetest.Pages(t, root) {
		pages[p.Path] = p
	}
	next := []string{"README.md"}
	for len(next) > 0 {
		p := pages[next[0]]
		next = next[1:]
		if p == nil || reached[p.Path] {
			continue
		}
		reached[p.Path] = true
		for _, link := range p.Links {
			file, _, _ := strings.Cut(link, "#")
			next = append(next, path.Join(path.Dir(p.Path), file))
		}
	}
	for name := range pages {
		if !reached[name] && !strings.HasPrefix(name, ".github/") {
			t.Errorf("no link leads to %s", name)
		}
	}
}

// TestReadmeIsShort holds the README to its bounds.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	const maxLines, maxWords = 150, 1200
	p := pagetest.Read(t, root, "README.md")
	if n := strings.Count(p.Source, "\n"); n > maxLines {
		t.Errorf("README.md has %d lines, at most %d are wanted", n, maxLines)
	}
	if n := len(strings.Fields(p.Source)); n > maxWords {
		t.Errorf("README.md has %d words, at most %d are wanted", n, maxWords)
	}
}

// sentenceEnd is where a clause ends that is counted by itself.
var sentenceEnd = regexp.MustCompile(`[.:;?!]\**\s+`)

// TestSentencesAreShort holds the documents, and the comments of all Go files, to 25 words a clause.
func TestSentencesAreShort(t *testing.T) {
	t.Parallel()
	for _, p := range pagetest.Pages(t, root) {
		checkSentences(t, p.Path, p.Prose)
	}
	found := 0
	eachGoFile(t, func(file string, source []byte) {
		prose := pagetest.Comments(t, file, source)
		found += len(prose)
		checkSentences(t, file, prose)
	})
	if found < 10_000 {
		t.Errorf("%d paragraphs of comments were found, more are there", found)
	}
}

var word = regexp.MustCompile(`\pL|\pN`)

// checkSentences reports the long clauses of a file's paragraphs.
func checkSentences(t *testing.T, file string, prose []string) {
	t.Helper()
	const maxWords = 25
	for _, paragraph := range prose {
		for _, sentence := range sentenceEnd.Split(paragraph, -1) {
			n := 0
			for w := range strings.FieldsSeq(sentence) {
				if word.MatchString(w) {
					n++
				}
			}
			if n > maxWords {
				t.Errorf("%s: %d words, at most %d are wanted: %s", file, n, maxWords, strings.Join(strings.Fields(sentence), " "))
			}
		}
	}
}

// eachGoFile visits the Go files of the module, by their paths from the root.
func eachGoFile(t *testing.T, visit func(file string, source []byte)) {
	t.Helper()
	code := os.DirFS(root)
	err := fs.WalkDir(code, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".go" {
			return err
		}
		source, err := fs.ReadFile(code, file)
		if err == nil {
			visit(file, source)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCommentsOfAFile: each paragraph and list item of a comment is prose; code and directives are not.
func TestCommentsOfAFile(t *testing.T) {
	t.Parallel()
	source := "// Package p has\n// two lines, and [io.Writer] a link.\n//\n//\tcode()\n//\n// Another one:\n//\n//   - an item that\n//     goes on\n//   - the last one\n" +
		"package p\n\n//go:generate echo\n\ntype p struct {\n\ta int // behind a field\n\tb int //nolint:unused // not prose\n}\n"
	want := []string{"Package p has\ntwo lines, and io.Writer a link.", "Another one:", "an item that\ngoes on", "the last one", "behind a field"}
	if got := pagetest.Comments(t, "p.go", []byte(source)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// reference is a mention of a page in a comment, perhaps with a section's number or a heading.
var reference = regexp.MustCompile(`(?:\bdocs/|\b(planning-api))([a-z-]*\.md)(?:,? (\d(?:\.\d)?)\b|, "([^"]+)")?`)

// elsewhere are documents that are not in the repository.
var elsewhere = regexp.MustCompile(`\bDESIGN\b|\bCORE\.md\b|\bfacts/`)

// older is where comments still name such a document.
const older = "bridge/reconcile/"

// TestReferencesInCode: a comment that names a page, its section or its heading leads there, and
// none leads out of the repository.
func TestReferencesInCode(t *testing.T) {
	t.Parallel()
	found := 0
	eachGoFile(t, func(file string, data []byte) {
		if strings.HasPrefix(file, "mapping/pagetest/") {
			return
		}
		if !bytes.Contains(data, []byte(".md")) && !bytes.Contains(data, []byte("DESIGN")) && !bytes.Contains(data, []byte("facts/")) {
			return // it is quicker than to search all of it
		}
		source := regexp.MustCompile(`\n\t*// `).ReplaceAllString(string(data), " ")
		for _, m := range reference.FindAllStringSubmatch(source, -1) {
			found++
			if !headed(t, m[1]+m[2], m[3], m[4]) {
				t.Errorf("%s: %q leads nowhere", file, m[0])
			}
		}
		if m := elsewhere.FindString(source); m != "" && !strings.HasPrefix(file, older) {
			t.Errorf("%s names %s, which is not in the repository", file, m)
		}
	})
	if found < 30 {
		t.Errorf("%d references were found, more are there", found)
	}
}

// headed reports whether docs/ has the page, with a section of the number or the heading.
func headed(t *testing.T, page, number, heading string) bool {
	t.Helper()
	data, err := fs.ReadFile(os.DirFS(root), "docs/"+page)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		title, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimSpace(line), "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		if number != "" && (strings.HasPrefix(title, number+" ") || strings.HasPrefix(title, number+". ")) || heading != "" && title == heading {
			return true
		}
	}
	return number == "" && heading == ""
}
