package planning

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Bounds on rendering. The parser takes quadratic time for some texts, and a table or a link
// reference can turn a few bytes into megabytes. So a text is measured before parsing, and its
// tree before rendering.
const (
	maxRendered = 256 << 10 // bytes of a text, as in GitHub's longest body
	maxOpening  = 16        // lists and quotes that one line opens
	maxCells    = 1 << 16   // of all tables, padding included
	maxInline   = 1 << 28   // bytes that the parser may search for delimiters
	maxOutput   = 2 << 20   // bytes of HTML, before escaping
)

// tooIntricate returns why a text must not be parsed, "" if it may be. It takes linear time.
func tooIntricate(text string) string {
	if len(text) > maxRendered {
		return "it is too long"
	}
	var all, block blockSize
	for line := range strings.SplitSeq(text, "\n") {
		opened, words, item := openings(strings.TrimRight(line, "\r"))
		switch {
		case opened > maxOpening:
			return "its lists and quotes are nested too deep"
		case words == "" || item:
			all.add(block)
			block = blockSize{}
		}
		block.line(line, words)
	}
	all.add(block)
	switch {
	case all.cells > maxCells:
		return "its tables have too many cells"
	case all.inline > maxInline:
		return "one of its paragraphs has too much markup"
	}
	return ""
}

// openings counts the lists and quotes that a line opens, and returns the words after their
// markers. The result item reports that the line surely begins a block, whatever the lines above it
// are.
func openings(line string) (n int, words string, item bool) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	words = strings.TrimLeft(line, " \t")
	if isRule(words) {
		return 0, "", false
	}
	for {
		rest := behindMarker(words)
		if rest == words {
			return n, words, n > 0 && item && words != ""
		}
		if n == 0 {
			item = indent <= 3 && strings.IndexByte("-+*", words[0]) >= 0
		}
		n++
		words = strings.TrimLeft(rest, " \t")
	}
}

// isRule reports whether a line is a thematic break.
func isRule(line string) bool {
	if line == "" || strings.IndexByte("*-_", line[0]) < 0 {
		return false
	}
	return strings.Count(line, line[:1]) >= 3 && strings.Trim(line, line[:1]+" \t") == ""
}

// behindMarker returns the text after the marker of a quote or a list item, or the line itself
// where it has none.
func behindMarker(line string) string {
	if line == "" {
		return line
	}
	rest := line[1:]
	switch c := line[0]; {
	case c == '>':
		return rest
	case c == '-' || c == '+' || c == '*':
	case '0' <= c && c <= '9':
		rest = strings.TrimLeft(line, "0123456789")
		if rest == "" || rest[0] != '.' && rest[0] != ')' {
			return line
		}
		rest = rest[1:]
	default:
		return line
	}
	if rest == "" || rest[0] == ' ' || rest[0] == '\t' {
		return rest
	}
	return line
}

// blockSize is the cost of lines that may be one paragraph or one table.
type blockSize struct {
	length, delimiters int
	columns            int
	inline, cells      int
}

// line adds one line and its words without list and quote markers.
func (b *blockSize) line(line, words string) {
	b.cells += b.columns
	if columns := delimiterRow(words); columns > b.columns {
		b.columns = columns
		b.cells += columns // the header's
	}
	b.length += len(line) + 1
	for i := range len(words) {
		switch c := words[i]; c {
		case '[', ']', '(', '<', '!':
			b.delimiters += 8 // as a link is tried at each
		case '*', '_', '~', '`':
			if i == 0 || words[i-1] != c {
				b.delimiters++
			}
		}
	}
}

func (b *blockSize) add(block blockSize) {
	b.cells += block.cells
	b.inline += block.length * block.delimiters
}

// delimiterRow returns the number of columns of the table that a line makes if it is the row
// below the header.
func delimiterRow(words string) int {
	row := words[len(strings.TrimRight(words, "|-: \t\r")):]
	if !strings.Contains(row, "-") {
		return 0
	}
	return strings.Count(row, "|") + 1
}

// rendersTooLong reports whether the HTML of a tree exceeds the bound. Each use of a link
// reference repeats its URL.
func rendersTooLong(root ast.Node) bool {
	size := 0
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		size += 16 // its tags
		switch n := n.(type) {
		case *ast.Link:
			size += len(n.Destination) + len(n.Title)
		case *ast.Image:
			size += len(n.Destination) + len(n.Title)
		case *ast.Text:
			size += n.Segment.Len()
		}
		if size > maxOutput {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return size > maxOutput
}
