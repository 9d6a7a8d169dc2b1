package planningmodel

import (
	"html"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// Mangle is a harmful rewrite for [Traits.RewriteMarkdown]: it escapes
// emphasis, so that the text renders differently.
func Mangle(markdown string) string { return strings.ReplaceAll(markdown, "*", `\*`) }

// stored returns the stored form of a text.
func (t *Traits) stored(markdown string) string {
	if t.NormaliseMarkdown {
		markdown = normalise(markdown)
	}
	if t.StripControl {
		markdown = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r) {
				return -1
			}
			return r
		}, markdown)
	}
	if t.RewriteMarkdown != nil {
		markdown = t.RewriteMarkdown(markdown)
	}
	return markdown
}

var (
	// delicate finds text in which white space or bullets can carry meaning. These are fences,
	// code, HTML, indentation, line breaks, and lines that may be those of a table.
	delicate  = regexp.MustCompile("(?m)```|~~~|[<\\t`]|^ |\\\\ ?$|  |^-+ ?$")
	oneSpace  = regexp.MustCompile(`(?m) $`)
	starItem  = regexp.MustCompile(`(?m)^\* (\w)`)
	otherItem = regexp.MustCompile(`(?m)^[-+*](?:\s|$|[-*])|^[-=]+$`)
)

// normalise changes text in ways that render the same. Where it is not
// certain of that, it changes the line ends only.
func normalise(markdown string) string {
	markdown = strings.ReplaceAll(markdown, "\r\n", "\n")
	if delicate.MatchString(markdown) {
		return markdown
	}
	markdown = strings.TrimRight(oneSpace.ReplaceAllString(markdown, ""), " \n")
	if !otherItem.MatchString(starItem.ReplaceAllString(markdown, "$1")) {
		markdown = starItem.ReplaceAllString(markdown, "- $1")
	}
	return markdown
}

var blankLine = regexp.MustCompile(`\n[ \t]*\n\s*`)

// render makes the html of an answer where none was sent: paragraphs of escaped text.
func render(markdown string) string {
	var out []string
	for _, paragraph := range blankLine.Split(strings.ReplaceAll(markdown, "\r\n", "\n"), -1) {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			out = append(out, "<p>"+html.EscapeString(paragraph)+"</p>")
		}
	}
	return strings.Join(out, "\n")
}

// timestamp is the form of a moment in an answer.
const timestamp = "2006-01-02T15:04:05.000Z"

// Timestamp is a moment as the service spells it.
func Timestamp(t time.Time) string { return t.UTC().Format(timestamp) }
