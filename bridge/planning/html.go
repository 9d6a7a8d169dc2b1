package planning

import (
	"bytes"
	"html"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	source "github.com/yuin/goldmark/text"

	"planbridge/mapping"
)

// The renderer passes raw HTML through. [RenderHTML] cleans its output, and [SameRendering]
// compares it uncleaned. Both are safe for concurrent use once made.
var (
	markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithUnsafe()))
	cleaner  = newCleaner()
)

// newCleaner allows the elements that people use in Markdown. It allows no id, name or class that
// could clash with the page's own, except the language of a code block.
func newCleaner() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowStandardURLs()
	p.AllowElements(elementNames()...)
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("title").OnElements("a", "abbr", "img")
	p.AllowAttrs("src", "alt").OnElements("img")
	p.AllowAttrs("height", "width").Matching(regexp.MustCompile(`^[0-9]{1,4}%?$`)).OnElements("img")
	p.AllowAttrs("dir").Matching(bluemonday.Direction).Globally()
	p.AllowAttrs("open").OnElements("details")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").OnElements("input")
	p.AllowAttrs("start").Matching(regexp.MustCompile(`^[0-9]{1,9}$`)).OnElements("ol")
	p.AllowAttrs("align").Matching(bluemonday.CellAlign).OnElements("td", "th")
	p.AllowAttrs("colspan", "rowspan").Matching(regexp.MustCompile(`^[0-9]{1,3}$`)).OnElements("td", "th")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[\w+#.-]+$`)).OnElements("code")
	return p
}

// RenderHTML renders GitHub-flavoured Markdown as the html of an updated summary
// (docs/planning-api.md 4.2). Nothing in it acts in a reader's browser, and every element is
// closed where needed.
//
// A text that would take much memory or time becomes plain paragraphs; plain then says why.
func RenderHTML(markdown string, images mapping.Images) (rendered, plain string) {
	raw, why := render(markdown)
	if why != "" {
		return plainParagraphs(markdown), why
	}
	return strings.TrimSpace(tidy(cleaner.Sanitize(raw), images)), ""
}

// SameRendering reports whether two Markdown texts render to the same HTML, so that one is only
// the other's normalisation. It compares before cleaning: texts that differ in raw HTML, comments
// included, differ. Texts that are too large to render differ unless their canonical forms are
// equal.
func SameRendering(a, b string) bool {
	if a == b || mapping.Canonical(a) == mapping.Canonical(b) && tooIntricate(a) != "" {
		return true
	}
	x, why := render(a)
	if why != "" {
		return false
	}
	y, why := render(b)
	return why == "" && x == y
}

// render returns a text as uncleaned HTML, or why it is not rendered.
func render(markdownText string) (rendered, why string) {
	lf := strings.ReplaceAll(markdownText, "\r\n", "\n")
	if why := tooIntricate(lf); why != "" {
		return "", why
	}
	root := markdown.Parser().Parse(source.NewReader([]byte(lf)))
	if rendersTooLong(root) {
		return "", "it renders to too much HTML"
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, []byte(lf), root); err != nil {
		return "", err.Error() // writing to a Buffer does not fail
	}
	return strings.TrimSpace(b.String()), ""
}

// plainParagraphs shows the source of a Markdown text.
func plainParagraphs(markdownText string) string {
	var b strings.Builder
	open := false
	for line := range strings.SplitSeq(mapping.Canonical(markdownText), "\n") {
		switch {
		case line == "":
			if open {
				b.WriteString("</p>\n")
			}
			open = false
			continue
		case open:
			b.WriteString("<br>\n")
		default:
			b.WriteString("<p>")
		}
		open = true
		b.WriteString(html.EscapeString(line))
	}
	if open {
		b.WriteString("</p>")
	}
	return strings.TrimSpace(b.String())
}
