package mapping

import (
	"regexp"
	"strings"
)

var (
	// safeURL is a URL that GitHub makes a link outside brackets, up to where it
	// may end.
	safeURL = regexp.MustCompile("(?i)^https?://[a-z0-9-]+(?:\\.[a-z0-9-]+)+(?:[/?#:][^\\s<>()\\[\\]\"'*|`]*)?")
	// refAtEnd is a character reference, which a URL that becomes a link cannot
	// end with.
	refAtEnd = regexp.MustCompile(`&[#\w]+;`)
	// issuePath is the part of a URL that makes it a reference.
	issuePath = regexp.MustCompile(`(?i)/(?:issues|pulls?|discussions|commits?)/`)
	// address is a link's address or a label, with nothing that makes it uncertain.
	address    = regexp.MustCompile(`^(?:\((?:[\w~:/?#@!$&+,;=.%-]|\([\w~:/?#@!$&+,;=.%-]*\))*\)|\[[\w .-]*\])`)
	webAddress = regexp.MustCompile(`(?i)^\(https?://`)
	// autolink is a URL in angle brackets.
	autolink = regexp.MustCompile("(?i)^<https?://[^\\s<>`\\\\]*>")
	// tag is a complete tag, and comment a complete comment.
	tag     = regexp.MustCompile(`^</?([a-zA-Z][a-zA-Z0-9]*)(?:\s+[a-zA-Z-]+(?:=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'=<>` + "`" + `]+))?)*\s*/?>`)
	comment = regexp.MustCompile(`^<!-- (?:[^<>-]|-[^<>-])*-->`)
	// inlineTag is a tag that changes only how text looks.
	inlineTag = regexp.MustCompile(`(?i)^</?(?:b|br|del|em|i|ins|kbd|q|s|samp|small|strong|sub|sup|u|var)\s*/?>`)
	// blockTag is the name of a tag inside of which code is still code.
	blockTag = regexp.MustCompile(`(?i)^(?:a|b|blockquote|br|center|dd|del|details|div|dl|dt|em|h[1-6]|hr|i|img|ins|kbd|li|ol|p|q|s|samp|small|span|strong|sub|summary|sup|u|ul|var)$`)
)

// inline finds the code spans and links of a line.
func (f *inertFinder) inline(from, to int) {
	f.lettered = false
	brackets := f.open
	for at := from; at < to && !f.over; {
		switch c := f.text[at]; c {
		case '`':
			at = f.codeSpan(at, to)
		case '\\':
			at = f.escape(at, to)
		case '[':
			f.open++
			if strings.HasPrefix(f.text[at:to], "[^") { // a footnote
				f.unsure = true
			}
			at++
		case ']':
			at = f.closeBracket(at, to)
		case '<':
			at = f.angle(at, to)
		case ':', '.':
			at = f.url(from, at, to)
		default:
			f.lettered = f.lettered || isLetter(c) && f.open == brackets
			at++
		}
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// codeSpan takes in a code span that ends on its line. A "|" may end it early,
// and one that does not end here may end on any later line.
func (f *inertFinder) codeSpan(at, to int) int {
	rest := strings.TrimLeft(f.text[at:to], "`")
	content := to - len(rest)
	if f.unsure {
		return content
	}
	end := closingRun(rest, content-at)
	if end < 0 || strings.Contains(rest[:end], "|") {
		f.unsure = true
		return content
	}
	f.found = append(f.found, span{content, content + end})
	return content + end + content - at
}

// closingRun returns where a run of exactly length backticks begins, -1: nowhere.
func closingRun(text string, length int) int {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if run == length {
			return at
		}
		at += run
	}
}

// escape steps over an escaped character.
func (f *inertFinder) escape(at, to int) int {
	if at+1 == to {
		return to
	}
	switch next := f.text[at+1]; {
	case next == '`':
		f.unsure = true
	case next == '<': // raw HTML knows no escapes
		return at + 1
	case !isPunctuation(next):
		return at + 1
	}
	return at + 2
}

// closeBracket steps over the end of a link's text with the address or the
// label behind it. These may hold backticks that begin no code.
func (f *inertFinder) closeBracket(at, to int) int {
	if f.open > 0 && !f.unsure {
		f.open--
	}
	at++
	if at == to || !strings.ContainsRune("([:", rune(f.text[at])) {
		return at
	}
	end := address.FindString(f.text[at:to])
	if end == "" {
		f.unsure = true
		return at
	}
	if m := webAddress.FindString(end); m != "" {
		f.link(at+len(m), at+len(end)-1)
	}
	return at + len(end)
}

// link takes in the rest of a URL that is a link, behind its scheme.
func (f *inertFinder) link(from, to int) {
	if !f.unsure && f.open == 0 && !issuePath.MatchString(f.text[from:to]) {
		f.found = append(f.found, span{from, to})
	}
}

// angle steps over a tag, a comment or a URL in angle brackets.
func (f *inertFinder) angle(at, to int) int {
	rest := f.text[at:to]
	if end := len(autolink.FindString(rest)); end > 0 && !f.raw {
		f.link(at+strings.Index(rest, "://")+len("://"), at+end-1)
		return at + end
	}
	if end := len(inlineTag.FindString(rest)); end > 0 && f.lettered {
		return at + end // not at a line's begin, where it could begin a block
	}
	if end := len(comment.FindString(rest)); end > 0 && !strings.ContainsAny(rest[:end], "`") {
		f.unsure, f.raw = true, true
		return at + end
	}
	if m := tag.FindStringSubmatchIndex(rest); m != nil && blockTag.MatchString(rest[m[2]:m[3]]) {
		f.unsure, f.raw = true, true
		return at + m[1]
	}
	if len(rest) > 1 && (rest[1] == '/' || rest[1] == '!' || rest[1] == '?' || isASCIIWord(rune(rest[1]))) {
		f.over = true
	}
	return at + 1
}

// url steps over a bare URL. To GitHub it reaches to the next white space, backticks included.
func (f *inertFinder) url(from, at, to int) int {
	rest := f.text[at:to]
	isURL := strings.HasPrefix(rest, "://")
	if !isURL && !(rest[0] == '.' && at-from >= len("www") && strings.EqualFold(f.text[at-len("www"):at], "www")) {
		return at + 1
	}
	if at >= f.word {
		word := rest
		if i := strings.IndexAny(word, " \t<"); i >= 0 {
			word = word[:i]
		}
		f.word = at + len(word)
		f.unsure = f.unsure || strings.Contains(word, "`")
	}
	start := at
	for start > from && isASCIIWord(rune(f.text[start-1])) {
		start--
	}
	if !isURL || start > from && !strings.ContainsRune(" \t(*\"'", rune(f.text[start-1])) {
		return at + 1
	}
	end := len(safeURL.FindString(f.text[start:to]))
	if end == 0 {
		return at + 1
	}
	if ref := refAtEnd.FindStringIndex(f.text[start : start+end]); ref != nil {
		end = ref[0]
	}
	f.link(at+len("://"), start+end)
	return start + end
}
