package mapping

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
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

// inertSpans returns the parts of a GitHub Markdown text in which nothing is live. These are code
// spans, fenced code, and the rest of a URL that becomes a link, behind its scheme. They are found
// line by line, by rules that hold whatever blocks the lines belong to. Uncertain parts are left
// out. One odd place ends the search up to the next blank line, or for the whole rest of the text.
// Indented code is left out as well, for it may be a list's paragraph.
func inertSpans(markdown string) spans {
	if !strings.ContainsAny(markdown, "`~") && !strings.Contains(markdown, "://") {
		return nil
	}
	f := inertFinder{text: markdown, afterBlank: true}
	for at := 0; at < len(markdown) && !f.over; {
		end, next := cutLine(markdown, at)
		f.line(at, end, next)
		at = next
	}
	return f.found
}

// cutLine returns where the line at an offset ends, without and with its line
// end. For GitHub a CR alone ends a line too.
func cutLine(text string, at int) (end, next int) {
	i := strings.IndexAny(text[at:], "\r\n")
	if i < 0 {
		return len(text), len(text)
	}
	end = at + i
	if strings.HasPrefix(text[end:], "\r\n") {
		return end, end + 2
	}
	return end, end + 1
}

// inertFinder reads a text line by line.
type inertFinder struct {
	text  string
	found spans

	over       bool // nothing is certain in the rest of the text
	afterBlank bool // the line before is blank
	fence      fence

	// These hold since the last blank line, which ends every paragraph:
	unsure bool // nothing is certain any more
	raw    bool // the following text may be raw HTML
	open   int  // brackets that may be open: in them URLs are no links

	lettered bool // the line has begun with a letter, so that it begins no block
	word     int  // end of the word that was searched for a URL's backticks
}

// fence is the opening of fenced code.
type fence struct {
	char   byte // 0: none is open
	length int
	indent int
	quotes int
}

func (f *inertFinder) line(from, to, next int) {
	if f.fence.char != 0 {
		switch content, in := f.fence.content(f.text[from:to]); {
		case f.fence.quotes > 0 && strings.Contains(f.text[from:to], ">\t"): // part of the tab is an indent
			f.over = true
			return
		case !in:
			f.fence = fence{} // the quote has ended, and the fence with it
		case f.fence.closes(content):
			f.fence = fence{}
			f.afterBlank = false
			return
		default:
			f.found = append(f.found, span{to - len(content), to})
			return
		}
	}
	line := f.text[from:to]
	if blankLine(line) {
		f.afterBlank, f.unsure, f.raw, f.open = true, false, false, 0
		return
	}
	if mayOpenFence(line) {
		f.openFence(line, next)
	} else {
		f.inline(from, to)
	}
	f.afterBlank = false
}

// fenceAfter finds a fence behind markers of quotes, lists, boxes and footnotes alone.
var fenceAfter = regexp.MustCompile("^(?:[ \t>*+.)-]|[0-9]|\\[[^\\[\\]]*\\]:?)*(?:```|~~~)")

// blankLine reports whether a line ends a paragraph.
func blankLine(line string) bool { return strings.Trim(line, " \t") == "" }

func mayOpenFence(line string) bool {
	at := fenceAfter.FindStringIndex(line)
	// With a backtick behind its fence, it is a code span.
	return at != nil && (line[at[1]-1] == '~' || !strings.Contains(strings.TrimLeft(line[at[1]:], "`"), "`"))
}

// fenceLine is a fence that opens regardless of the lines before it. With an indent it may be a
// list's, or indented code.
var fenceLine = regexp.MustCompile("^((?:> ?)*)( *)(```+|~~~+)")

// openFence opens a fence where it is certain that one opens; next is where
// the following line begins.
func (f *inertFinder) openFence(line string, next int) {
	m := fenceLine.FindStringSubmatch(line)
	if m == nil || f.raw {
		f.over = true
		return
	}
	opened := fence{char: m[3][0], length: len(m[3]), indent: len(m[2]), quotes: strings.Count(m[1], ">")}
	if opened.indent > 0 && (opened.quotes > 0 || opened.indent > 3 && !f.afterBlank || !opened.closedIn(f.text[next:])) {
		f.over = true
		return
	}
	f.fence = opened
}

// closedIn reports whether the lines that follow an indented fence are code in any block that the
// fence may be in. All are indented as far, up to a closing fence with exactly that indent.
func (o fence) closedIn(text string) bool {
	for at := 0; at < len(text); {
		end, next := cutLine(text, at)
		line := text[at:end]
		at = next
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case blankLine(line):
		case indent < o.indent:
			return false
		case o.closes(line[o.indent:]):
			return indent == o.indent
		}
	}
	return false
}

// content returns the part of a line behind the markers of the quotes that the fence is in. It
// returns false where the line is not in them.
func (o fence) content(line string) (string, bool) {
	for range o.quotes {
		rest := strings.TrimLeft(line, " ")
		if len(line)-len(rest) > 3 || !strings.HasPrefix(rest, ">") {
			return "", false
		}
		line = strings.TrimPrefix(rest[1:], " ")
	}
	return line, true
}

func (o fence) closes(content string) bool {
	line := strings.TrimLeft(content, " ")
	rest := strings.TrimLeft(line, string(o.char))
	return len(content)-len(line) <= 3+o.indent && len(line)-len(rest) >= o.length && blankLine(rest)
}
