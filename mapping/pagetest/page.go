package pagetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Page is a parsed page of the documents.
type Page struct {
	Path    string // from the root, with slashes
	Source  string
	Blocks  []Block         // fenced code
	Spans   []string        // code within text
	Links   []string        // targets of links and images
	Prose   []string        // text, each paragraph or cell by itself; Code replaces code
	Rows    [][]string      // of all tables, each cell's text as it is written
	Anchors map[string]bool // of the headings, as GitHub names them
}

// Block is fenced code.
type Block struct {
	Language string
	Line     int
	Text     string
}

// Code stands in a page's prose for code.
const Code = "`code`"

// Pages reads all pages below the root of the module, which is given relative to the test.
func Pages(t *testing.T, root string) []*Page {
	t.Helper()
	var pages []*Page
	for _, folder := range []string{".", "docs", "docs/decisions", ".github"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			pages = append(pages, Read(t, root, filepath.ToSlash(filepath.Join(folder, filepath.Base(file)))))
		}
	}
	if len(pages) < 2 {
		t.Fatalf("%d pages below %s", len(pages), root)
	}
	return pages
}

// Read reads one page.
func Read(t *testing.T, root, path string) *Page {
	t.Helper()
	data, err := fs.ReadFile(os.DirFS(root), path)
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{Path: path, Source: string(data), Anchors: map[string]bool{}}
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(data))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it only fails where the function does
		if entering {
			p.record(n, data)
		}
		return ast.WalkContinue, nil
	})
	return p
}

// record records the content of a node.
func (p *Page) record(n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.FencedCodeBlock:
		var b strings.Builder
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			b.Write(line.Value(source))
		}
		begin := 1
		if n.Lines().Len() > 0 {
			begin += strings.Count(string(source[:n.Lines().At(0).Start]), "\n")
		}
		p.Blocks = append(p.Blocks, Block{string(n.Language(source)), begin, b.String()})
	case *ast.CodeSpan:
		p.Spans = append(p.Spans, words(n, source, false))
	case *ast.Link:
		p.Links = append(p.Links, string(n.Destination))
	case *ast.Image:
		p.Links = append(p.Links, string(n.Destination))
	case *ast.Heading:
		p.anchor(words(n, source, false))
	case *ast.Paragraph, *ast.TextBlock, *table.TableCell:
		p.Prose = append(p.Prose, words(n, source, true))
	case *table.TableRow:
		var row []string
		for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
			row = append(row, words(cell, source, false))
		}
		p.Rows = append(p.Rows, row)
	}
}

// words is the text below a node; with masked, code is [Code].
func words(n ast.Node, source []byte, masked bool) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it only fails where the function does
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan:
			if masked {
				b.WriteString(Code)
				return ast.WalkSkipChildren, nil
			}
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// anchor notes a heading under the name that GitHub gives it.
func (p *Page) anchor(heading string) {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	for first := name; p.Anchors[name]; {
		name = first + "-1" // GitHub counts on; no page needs that
		first = name
	}
	p.Anchors[name] = true
}

// Commands are the lines of the page's shell blocks, and its code spans, without comments.
func (p *Page) Commands() []string {
	var all []string
	for _, b := range p.Blocks {
		if b.Language != "sh" {
			continue
		}
		for line := range strings.Lines(b.Text) {
			line, _, _ = strings.Cut(line, "  #")
			if line, _, _ = strings.Cut(line, " # "); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
				all = append(all, strings.TrimSpace(line))
			}
		}
	}
	return append(all, p.Spans...)
}
