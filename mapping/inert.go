package mapping

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

var (
	// safeURL is a URL that GitHub certainly makes a link, up to where it may
	// end.
	safeURL = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])https?(://[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:[/?#:][^\s<>()\[\]"'*|` + "`" + `]*)?)`)
	// htmlTag begins raw HTML, inside which URLs may not be links.
	htmlTag = regexp.MustCompile(`(?i)<(?:[a-z][a-z0-9-]*(?:[\s/>]|$)|[!/?])`)
	// strange is what keeps a text's code from being looked for: a lone CR,
	// which ends a line for GitHub and not for the parser used here, and quotes
	// or lists nested so deep that parsing takes seconds.
	strange = regexp.MustCompile(`\r(?:[^\n]|$)|(?m:^(?:[ \t]*(?:>|[*+-][ \t]|[0-9]+[.)][ \t])){16})`)
)

// span is a half-open range of bytes.
type span struct{ from, to int }

// spans are in order and do not overlap.
type spans []span

// hold reports whether a byte is in one of the spans.
func (s spans) hold(at int) bool {
	i, found := slices.BinarySearchFunc(s, at, func(s span, at int) int { return cmp.Compare(s.from, at) })
	return found || i > 0 && at < s[i-1].to
}

// inertSpans returns the parts of a GitHub Markdown text in which no "@" or
// "#" means anything: code spans, fenced code blocks, and what follows the
// scheme of a URL. What is not certainly so is left out.
func inertSpans(markdown string) spans {
	found := codeSpans(markdown)
	code := found
	certain := len(markdown)
	if tag := htmlTag.FindStringIndex(markdown); tag != nil {
		certain = tag[0]
	}
	for _, loc := range safeURL.FindAllStringSubmatchIndex(markdown[:certain], -1) {
		after := loc[2] + len("://")
		if !code.hold(loc[2]) && !issueURL.MatchString(markdown[after:]) {
			found = append(found, span{after, loc[3]})
		}
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return found
}

var markdownParser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Footnote)).Parser()

// codeSpans returns the code spans and the lines of fenced code blocks. Indented
// code is left out: whether it is code hangs on contexts in which parsers
// differ.
func codeSpans(markdown string) spans {
	if !strings.ContainsAny(markdown, "`~") || strange.MatchString(markdown) {
		return nil
	}
	var found spans
	add := func(s text.Segment) { found = append(found, span{s.Start, s.Stop}) }
	root := markdownParser.Parse(text.NewReader([]byte(markdown)))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				add(n.Lines().At(i))
			}
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					add(t.Segment)
				}
			}
		}
		return ast.WalkContinue, nil
	})
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return found
}
