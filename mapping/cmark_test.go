package mapping_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// This is the reference for live places in an issue. GitHub's own Markdown library renders a text,
// an HTML parser reads the result, and the patterns below find the places on which GitHub would
// act. None of it shares code with the program.

// cmark renders a document as GitHub does, raw HTML and all URLs included.
func cmark(t testing.TB, document string) string {
	t.Helper()
	cmd := exec.Command("cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e", "autolink", "-e", "tagfilter", "-e", "tasklist", "-e", "footnotes")
	cmd.Stdin = strings.NewReader(document)
	var faults bytes.Buffer
	cmd.Stderr = &faults
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run cmark-gfm (make deps installs it): %v: %s", err, faults.String())
	}
	return string(out)
}

var lineStart = regexp.MustCompile(`(?m:\r\n|\r|\n)`)

// cmarkBatch renders many texts in one process. Each stands in two nested
// quotes, whose end closes whatever the text leaves open; two markers are as
// wide as a tab stop. Between them stand paragraphs that no text holds. The
// footnotes of all texts follow as one more part.
func cmarkBatch(t testing.TB, texts []string) []string {
	t.Helper()
	var doc strings.Builder
	for i, text := range texts {
		doc.WriteString("> > " + lineStart.ReplaceAllString(text, "${0}> > "))
		fmt.Fprintf(&doc, "\n\nEND-OF-TEXT-%d\n\n", i)
	}
	rest := cmark(t, doc.String())
	parts := make([]string, 0, len(texts)+1)
	for i := range texts {
		part, after, ok := strings.Cut(rest, fmt.Sprintf("<p>END-OF-TEXT-%d</p>", i))
		if !ok {
			t.Fatalf("cmark-gfm lost the end of text %d, %q", i, texts[i])
		}
		parts, rest = append(parts, part), after
	}
	return append(parts, rest)
}

var (
	liveMention = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])@[a-z0-9]`)
	// A "#" behind "&" is what remains of a character reference.
	liveNumber  = regexp.MustCompile(`(?:^|[^&])#[0-9]`)
	liveGH      = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])gh-[0-9]`)
	liveURL     = regexp.MustCompile(`(?i)(?:https?://|\bwww\.)[a-z0-9]\S*/(?:issues|pulls?|discussions|commits?)/[a-z0-9]`)
	liveClosing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+(?:(?:[\w.-]+/[\w.-]+)?#|gh-|https?://[a-z0-9]\S+/(?:issues|pulls?)/)[0-9]`)
	issueLink   = regexp.MustCompile(`(?i)^\s*(?:https?:)?//(?:www\.)?[a-z0-9.-]+(?::[0-9]+)?/[^/]+/[^/]+/(?:issues|pulls?|discussions|commits?)/[0-9a-z]`)
	blanks      = regexp.MustCompile(`[\x00-\x20]+`)
	program     = regexp.MustCompile(`(?i)^(?:javascript|vbscript|data):`)
)

// allowed are elements that GitHub keeps, so that they part texts. Of the
// others it keeps the content alone, which joins what stands around it.
var allowed = []atom.Atom{
	atom.A, atom.B, atom.Blockquote, atom.Br, atom.Code, atom.Dd, atom.Del, atom.Details, atom.Div, atom.Dl, atom.Dt, atom.Em, atom.H1, atom.H2,
	atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr, atom.I, atom.Img, atom.Input, atom.Ins, atom.Kbd, atom.Li, atom.Ol, atom.P, atom.Pre, atom.Section,
	atom.Span, atom.Strong, atom.Sub, atom.Summary, atom.Sup, atom.Table, atom.Tbody, atom.Td, atom.Th, atom.Thead, atom.Tr, atom.Ul,
}

// found is what is live in rendered HTML.
type found struct {
	texts strings.Builder // a run of text that nothing parts
	live  []string        // mentions, references and closing words
	links []string        // links that run programs or hold data
}

// liveIn looks for what is live in rendered HTML.
func liveIn(t testing.TB, rendered string) (live, links []string) {
	t.Helper()
	nodes, err := html.ParseFragment(strings.NewReader(rendered), &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil {
		t.Fatalf("parse %q: %v", rendered, err)
	}
	var f found
	for _, n := range nodes {
		f.walk(n, false)
	}
	f.end()
	return f.live, f.links
}

func (f *found) walk(n *html.Node, dead bool) {
	switch n.Type {
	case html.TextNode:
		if !dead {
			f.texts.WriteString(n.Data)
		}
		return
	case html.ElementNode:
	default:
		return
	}
	for _, attr := range n.Attr {
		f.attribute(attr)
	}
	parts := slices.Contains(allowed, n.DataAtom)
	if parts {
		f.end()
	}
	dead = dead || n.DataAtom == atom.A || n.DataAtom == atom.Code || n.DataAtom == atom.Pre
	for c := range n.ChildNodes() {
		f.walk(c, dead)
	}
	if parts {
		f.end()
	}
}

func (f *found) attribute(attr html.Attribute) {
	switch attr.Key {
	case "href", "src", "cite", "action", "formaction":
	default:
		return
	}
	if program.MatchString(blanks.ReplaceAllString(attr.Val, "")) {
		f.links = append(f.links, attr.Key+" "+attr.Val)
	}
	plain, err := url.PathUnescape(attr.Val)
	if err != nil {
		plain = attr.Val
	}
	if attr.Key == "href" && (issueLink.MatchString(attr.Val) || issueLink.MatchString(plain)) {
		f.live = append(f.live, "href "+attr.Val)
	}
}

// end looks at the run of text that ends here.
func (f *found) end() {
	text := f.texts.String()
	f.texts.Reset()
	if !strings.ContainsAny(text, "@#-/") {
		return
	}
	for _, pattern := range []*regexp.Regexp{liveMention, liveNumber, liveGH, liveURL, liveClosing} {
		if hit := pattern.FindString(text); hit != "" {
			f.live = append(f.live, strings.TrimSpace(hit))
		}
	}
}
