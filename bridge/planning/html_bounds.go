package planning

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// What may be rendered. The parser takes time in proportion to the square of
// some texts, and a table or a link reference can make megabytes of a few
// bytes. So a text is measured before it is parsed, and its tree before it is
// rendered.
const (
	maxRendered = 256 << 10 // bytes of a text: GitHub's longest body has no more
	maxOpening  = 16        // lists and quotes that one line opens
	maxCells    = 1 << 16   // of all tables, padded ones included
	maxInline   = 1 << 28   // bytes that the parser may look at for delimiters
	maxOutput   = 2 << 20   // bytes of HTML, before they are escaped
)

// tooIntricate returns why a text is not to be parsed, "" if it may be. It takes
// time in proportion to the text.
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

// openings counts the lists and quotes that a line opens, and returns the words
// behind their markers. item says that the line surely begins a block, however
// the lines above it are read.
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

// behindMarker returns what stands behind the marker of a quote or a list item,
// or the line itself where it begins with none.
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

// blockSize is what lines that may be one paragraph or one table cost.
type blockSize struct {
	length, delimiters int
	columns            int
	inline, cells      int
}

// line takes in one line and its words without list and quote markers.
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

// delimiterRow returns how many columns a line makes a table have if it is the
// row below the table's header.
func delimiterRow(words string) int {
	row := words[len(strings.TrimRight(words, "|-: \t\r")):]
	if !strings.Contains(row, "-") {
		return 0
	}
	return strings.Count(row, "|") + 1
}

// rendersTooLong reports whether the HTML of a tree is longer than may be. A link
// reference is written out wherever it is used.
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
