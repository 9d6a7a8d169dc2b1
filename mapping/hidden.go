package mapping

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden counts the parts of a text that its readers do not see.
type Hidden struct {
	Comments      int // HTML comments
	ZeroWidth     int // characters without a width
	Bidirectional int // characters that change the direction of the text behind them
}

// HiddenOn counts the hidden parts of a side's text. The bridge's own marks do not count. Hidden
// text crosses as it is.
func HiddenOn(side Side, text string) Hidden {
	text, _ = unmark(text, form(side == GitHub))
	var h Hidden
	before, flag, ended := rune(' '), false, false
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		flag = r == blackFlag || flag && isTag(r)
		switch {
		case !ended && strings.HasPrefix(text[at:], "<!--"):
			h.Comments++
			if end := strings.Index(text[at:], "-->"); end > 0 {
				size = end + len("-->")
			} else {
				ended = true // the comment goes on to the end
			}
		case bidirectional(r):
			h.Bidirectional++
		case zeroWidth(r) && !flag && !isJoiner(r, before, text[at+size:]):
			h.ZeroWidth++
		}
		before, at = r, at+size
	}
	return h
}

// The flags of parts of countries are a black flag and tags.
const blackFlag = '\U0001f3f4'

func isTag(r rune) bool { return r >= 0xe0020 && r <= 0xe007f }

// bidirectional characters are Unicode's embeddings, overrides, isolates and
// marks.
func bidirectional(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// zeroWidth characters format nothing that a reader sees.
func zeroWidth(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// isJoiner reports whether a joiner or a non-joiner serves its purpose: it stands in an emoji, or
// between letters of a script that joins.
func isJoiner(r, before rune, after string) bool {
	next, size := utf8.DecodeRuneInString(after)
	return size > 0 && (r == '\u200c' || r == '\u200d') && before >= utf8.RuneSelf && next >= utf8.RuneSelf && !zeroWidth(before) && !zeroWidth(next)
}

// String describes the hidden parts, "" where there are none.
func (h Hidden) String() string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{h.Comments, "HTML comment", "HTML comments"},
		{h.ZeroWidth, "zero-width character", "zero-width characters"},
		{h.Bidirectional, "bidirectional control", "bidirectional controls"},
	} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.one)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.many))
		}
	}
	return strings.Join(parts, ", ")
}
