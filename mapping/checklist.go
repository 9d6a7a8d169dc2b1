package mapping

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Item is one item of the checklist in an issue's body. It is the first line of a list item
// with a box and words, at any depth of lists. Further lines of the list item (wrapped words,
// code, plain sub-lists) belong to the body's text. A line in code, a quote or an HTML block
// is no item. Nor is a box without words, or without a blank behind it.
type Item struct {
	// Text is the text behind the box, without white space around it and with unchanged markup. It
	// is GitHub's form: references that came from planning are defused in it, see [GitHubForm].
	Text    string
	Checked bool
	// At is the item's position among those of its body, from 1. [SetItems] adds an item whose
	// position the body does not have.
	At int
	// Remove makes SetItems take the item's line out.
	Remove bool
}

// Items returns the checklist items of a body in their order.
func Items(body string) []Item {
	var items []Item
	for i, b := range boxes(body) {
		items = append(items, Item{Text: body[b.words.from:b.words.to], Checked: body[b.tick] != ' ', At: i + 1})
	}
	return items
}

// WithoutItems returns a body without the lines of its items, as a card's summary shows it. A list
// that is a paragraph of its own goes with the blank lines that follow it. Every other line stays
// byte for byte.
func WithoutItems(body string) string {
	rest, _ := carve(body, nil)
	return rest
}

// box is an item in the bytes of its body.
type box struct {
	line  span // with the line's end
	open  int  // the opening bracket
	tick  int  // the byte between the brackets
	words span
	node  *ast.ListItem
}

// blocksOnly finds the blocks of GitHub Markdown in which items can stand. The extension for task
// lists is not used, as it accepts boxes that GitHub does not. These are boxes without a blank
// behind them, in headings, on a line below their list marker, or behind several markers. Link
// references are no items and are not parsed, as the parser needs long for thousands of them.
var blocksOnly = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
)

var (
	listMarker = regexp.MustCompile(`^[ \t]*(?:[-+*]|[0-9]{1,9}[.)])[ \t]+$`)
	boxAndText = regexp.MustCompile(`^\[([ xX])\][ \t]+([^\r\n]*)`)
	tooDeep    = regexp.MustCompile(`(?m)^(?:[ \t]*(?:>|[*+-][ \t]|[0-9]+[.)][ \t])){16}.*`)
)

// boxes returns the items of a body in their order. The parser reads the body
// with LF line ends, as it finds other blocks where they are CRLF.
func boxes(body string) []box {
	if !strings.ContainsRune(body, '[') {
		return nil
	}
	var found []box
	lf := findCRLFs(body)
	_ = ast.Walk(blocksOnly.Parse(text.NewReader(parseable(body))), func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
		if item, ok := n.(*ast.ListItem); ok && entering {
			first := item.FirstChild()
			if first != nil && first.Kind() != ast.KindCodeBlock && first.Lines().Len() > 0 {
				if b, ok := boxAt(body, lf.of(first.Lines().At(0).Start)); ok {
					b.node = item
					found = append(found, b)
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return found
}

// boxAt reads the box with which a list item's first words begin in a body.
func boxAt(body string, open int) (box, bool) {
	b := box{open: open, tick: open + 1}
	b.line = span{lineStart(body, open), lineEnd(body, open)}
	m := boxAndText.FindStringSubmatchIndex(body[open:])
	if m == nil || !listMarker.MatchString(body[b.line.from:open]) {
		return box{}, false
	}
	words := body[open+m[4] : open+m[5]]
	b.words.from = open + m[4] + len(words) - len(strings.TrimLeftFunc(words, unicode.IsSpace))
	b.words.to = b.words.from + len(strings.TrimSpace(words))
	return b, CanonicalTitle(words) != ""
}

// parseable returns a body for the parser, with LF line ends. Lines of absurdly nested lists or
// quotes become plain words, as they take the parser seconds.
func parseable(body string) []byte {
	return tooDeep.ReplaceAllFunc([]byte(unixLines(body)), func(line []byte) []byte {
		return bytes.Repeat([]byte{'x'}, len(line))
	})
}

// crlfs are the offsets, in a body's LF form, of line ends that are CRLF in the body.
type crlfs []int

func findCRLFs(body string) crlfs {
	var at crlfs
	for i := range len(body) - 1 {
		if body[i:i+2] == "\r\n" {
			at = append(at, i-len(at))
		}
	}
	return at
}

// of returns the offset in the body for one in its LF form.
func (c crlfs) of(at int) int {
	before, _ := slices.BinarySearch(c, at)
	return at + before
}

// lineStart returns where the line of a byte begins.
func lineStart(s string, at int) int { return strings.LastIndexAny(s[:at], "\r\n") + 1 }

// lineEnd returns where the line of a byte ends, behind its LF, CRLF or CR.
func lineEnd(s string, at int) int {
	i := strings.IndexAny(s[at:], "\r\n")
	switch at += i; {
	case i < 0:
		return len(s)
	case strings.HasPrefix(s[at:], "\r\n"):
		return at + 2
	}
	return at + 1
}

// run is a group of items taken out of a body: their lines and the blank ones
// between them.
type run struct {
	at    int    // where it stood in the text that is left
	lines string // with the blank lines that go with it
	alone bool   // above it is a blank line or nothing: it is a paragraph of its own
	tied  bool   // a line of text stands directly below it
}

// carve separates a body into its text and the runs of its items, which are the lines at these
// places.
func carve(body string, lines LineSet) (rest string, runs []run) {
	items := map[int]bool{}
	for i, b := range boxes(body) {
		if lines.has(i + 1) {
			items[b.line.from] = true
		}
	}
	if len(items) == 0 {
		return body, nil
	}
	var out strings.Builder
	alone := true
	for at := 0; at < len(body); {
		end := lineEnd(body, at)
		if !items[at] {
			out.WriteString(body[at:end])
			alone = isBlank(body[at:end])
			at = end
			continue
		}
		below := end // of the blank lines below the last item so far
		for below < len(body) {
			next := lineEnd(body, below)
			if items[below] {
				end = next
			} else if !isBlank(body[below:next]) {
				break
			}
			below = next
		}
		tied := below == end && below < len(body)
		if alone {
			end = below
		}
		runs = append(runs, run{at: out.Len(), lines: body[at:end], alone: alone, tied: tied})
		alone, at = false, end
	}
	return out.String(), runs
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// sameItem reports whether two items say the same.
func sameItem(a, b Item) bool {
	return a.Checked == b.Checked && CanonicalTitle(a.Text) == CanonicalTitle(b.Text)
}

// keeps reports whether a body has n items and, in their order, all of the given
// ones.
func keeps(body string, items []Item, n int) bool {
	now := Items(body)
	return len(now) == n && holds(now, items)
}

// holds reports whether items are among others, in their order.
func holds(others, items []Item) bool {
	for _, item := range items {
		i := slices.IndexFunc(others, func(other Item) bool { return sameItem(item, other) })
		if i < 0 {
			return false
		}
		others = others[i+1:]
	}
	return true
}

// onTop returns a body that begins with the items as a plain list. There nothing in the text can
// change what they are.
func onTop(items []Item, rest string) string {
	list := ""
	for _, item := range items {
		list += "- " + itemText(item) + "\n"
	}
	list = withLineEnds(list, rest)
	if rest == "" {
		return list
	}
	body := list + withLineEnds("\n", rest) + rest
	if !keeps(body, items, len(items)+len(boxes(rest))) {
		// The comment ends the list, which would else take in indented code.
		body = list + withLineEnds("\n<!-- -->\n\n", rest) + rest
	}
	return body
}

// itemText is an item from its box on.
func itemText(item Item) string {
	tick := " "
	if item.Checked {
		tick = "x"
	}
	return "[" + tick + "] " + CanonicalTitle(item.Text)
}

// withLineEnds returns an LF text with the line ends of the model's first line.
func withLineEnds(s, model string) string {
	if i := strings.IndexByte(model, '\n'); i > 0 && model[i-1] == '\r' {
		return strings.ReplaceAll(s, "\n", "\r\n")
	}
	return s
}
