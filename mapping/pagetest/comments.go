package pagetest

import (
	"go/doc/comment"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// Comments returns the prose of a Go file's comments, each paragraph and list item by itself. Code
// and directives are left out.
func Comments(t *testing.T, path string, source []byte) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var prose []string
	for _, group := range file.Comments {
		var docs comment.Parser
		prose = append(prose, paragraphs(docs.Parse(group.Text()).Content)...)
	}
	return prose
}

// paragraphs returns the texts of blocks, without code.
func paragraphs(blocks []comment.Block) []string {
	var all []string
	for _, b := range blocks {
		switch b := b.(type) {
		case *comment.Heading:
			all = append(all, plain(b.Text))
		case *comment.Paragraph:
			all = append(all, plain(b.Text))
		case *comment.List:
			for _, item := range b.Items {
				all = append(all, paragraphs(item.Content)...)
			}
		}
	}
	return all
}

// plain returns the words of a text, links by their names.
func plain(text []comment.Text) string {
	var b strings.Builder
	for _, part := range text {
		switch part := part.(type) {
		case comment.Plain:
			b.WriteString(string(part))
		case comment.Italic:
			b.WriteString(string(part))
		case *comment.Link:
			b.WriteString(plain(part.Text))
		case *comment.DocLink:
			b.WriteString(plain(part.Text))
		}
	}
	return b.String()
}
