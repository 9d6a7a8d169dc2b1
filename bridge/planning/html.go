package planning

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// The renderer passes raw HTML through: whoever sends its output anywhere
// cleans it first ([RenderHTML]), and whoever compares must see it
// ([SameRendering]). Both are safe for concurrent use once made.
var (
	markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	cleaner  = newCleaner()
)

// newCleaner allows what users may write, the boxes of task lists, and the
// language of a code block.
func newCleaner() *bluemonday.Policy {
	p := bluemonday.UGCPolicy()
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").OnElements("input")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[\w+#.-]+$`)).OnElements("code")
	return p
}

// RenderHTML renders GitHub-flavoured Markdown and cleans the result of
// everything that could act in a reader's browser: the html that goes with an
// updated summary (planning-api.md 4.2).
func RenderHTML(text string) string { return cleaner.Sanitize(render(text)) }

// SameRendering reports whether two Markdown texts render to the same HTML,
// so that one is merely the other's normalisation. It compares before
// cleaning: texts that differ in raw HTML, comments included, differ.
func SameRendering(a, b string) bool {
	return a == b || render(a) == render(b)
}

func render(text string) string {
	var b bytes.Buffer
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if err := markdown.Convert([]byte(text), &b); err != nil {
		return text // writing to a Buffer does not fail; the text itself still compares
	}
	return strings.TrimSpace(b.String())
}
