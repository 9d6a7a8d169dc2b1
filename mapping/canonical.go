package mapping

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTitle is the longest title GitHub takes, in characters (Unicode code
// points); a longer one is answered 422.
const MaxTitle = 256

// MaxBody is the longest body GitHub takes, in characters; a longer one is
// answered 422 and never shortened.
const MaxBody = 65536

// TooLong reports whether GitHub refuses a body for its length.
func TooLong(body string) bool { return utf8.RuneCountInString(body) > MaxBody }

const ellipsis = "…"

// Canonical is the form in which Markdown texts are compared. It has LF line ends and no white
// space at the end of a line or of the text. Control characters, which either service may drop, are
// removed. Bytes that are not UTF-8 become U+FFFD, as in JSON. The caller removes the markers
// first, see [Keys.Body].
//
// It is for comparing only and never written. Two spaces at a line's end are a line break in
// Markdown. An edit of those alone does not cross by itself, but crosses with the next one.
func Canonical(text string) string {
	lines := strings.Split(unixLines(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(strings.Map(printable, line), unicode.IsSpace)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// CanonicalTitle is [Canonical] for titles: one line, no white space around
// it, any other white space as spaces.
func CanonicalTitle(title string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return printable(r)
	}, title))
}

// Equal reports whether a value of GitHub and one of planning mean the same. A summary equals
// itself with its references defused, a title equals itself cut for GitHub, and estimates are
// compared as numbers.
func Equal(a Attribute, github, planning string) bool { return a.Spec().Equal(github, planning) }

// CutTitle returns the title as GitHub takes it: at most [MaxTitle]
// characters, with an ellipsis for readers where it had to be cut.
func CutTitle(title string) string {
	head, _, cut := splitTitle(title)
	if cut {
		return head + ellipsis
	}
	return head
}

// UncutTitle carries an edit of a cut title over to the whole one: github is CutTitle(whole) as a
// person edited it. While the ellipsis stands, the part that was cut off is put back behind the
// edited part. Without it the person has written a whole title.
func UncutTitle(github, whole string) string {
	_, tail, cut := splitTitle(whole)
	head, open := strings.CutSuffix(CanonicalTitle(github), ellipsis)
	if !cut || !open {
		return github
	}
	return head + tail
}

// splitTitle returns the part of a title that GitHub takes and, if it is cut, the rest.
func splitTitle(title string) (head, tail string, cut bool) {
	if utf8.RuneCountInString(title) <= MaxTitle {
		return title, "", false
	}
	runes := []rune(CanonicalTitle(title))
	if len(runes) <= MaxTitle {
		return string(runes), "", false
	}
	head = strings.TrimRight(string(runes[:MaxTitle-1]), " ")
	return head, strings.TrimPrefix(string(runes), head), true
}

func unixLines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// printable is a mapping for strings.Map that drops control characters but
// tab.
func printable(r rune) rune {
	if r != '\t' && unicode.IsControl(r) {
		return -1
	}
	return r
}
