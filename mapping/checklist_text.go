package mapping

import (
	"regexp"
	"slices"
	"strings"
)

// WithText returns a body with another text and the same items. The text is the result of
// [WithoutItems] as a person edited it in planning. Each run of items keeps its position relative
// to the unedited lines around it. A run that was a paragraph of its own stays one. Items within
// the text itself become items of the body. Code or HTML without an end may leave no position in
// which the lines would be items. Then they move to the top of the body as one flat list.
//
// For every body, text without items and list of items:
//
//	WithText(body, WithoutItems(body)) = body
//	WithoutItems(WithText(body, text)) = text, but for the number of blank lines in a row
//	Items(WithText(body, text)) = Items(body)
//	SetItems(WithText(body, text), want) = WithText(SetItems(body, want), text), as items and text
//
// An edited body has the line ends of its first line throughout.
func WithText(body, text string) string {
	edited, _ := withText(body, nil, text)
	return edited
}

// withText is WithText where the lines at these places are the items. It also
// returns the places that they have in the new body.
func withText(body string, lines LineSet, text string) (string, LineSet) {
	if rest, _ := carve(body, lines); Canonical(rest) == Canonical(text) {
		return body, lines
	}
	rest, runs := carve(unixLines(body), lines)
	text = unixLines(text)
	if len(runs) == 0 {
		return withLineEnds(text, body), LineSet{}
	}
	items := slices.DeleteFunc(Items(body), func(item Item) bool { return !lines.has(item.At) })
	edited, woven := weave(text, runs, lineEdits(mergeable(rest), mergeable(text)))
	now := placesIn(edited, woven)
	if len(now) != len(items) || !keeps(edited, items, len(items)+len(boxes(text))) {
		edited, now = onTop(items, text), LineSet{}
		for i := range items {
			now[i+1] = true
		}
	}
	if !strings.HasSuffix(body, "\n") {
		edited = strings.TrimRight(edited, "\n")
	}
	return withLineEnds(edited, body), now
}

// placesIn returns the positions of the items within these spans of a body.
func placesIn(body string, spans []span) LineSet {
	set := LineSet{}
	for i, b := range boxes(body) {
		if slices.ContainsFunc(spans, func(s span) bool { return s.from <= b.line.from && b.line.from < s.to }) {
			set[i+1] = true
		}
	}
	return set
}

// ownBlock matches a line that cannot be read as the rest of an item above it.
var ownBlock = regexp.MustCompile(`^ {0,3}(?:\n|[-+*] |#{1,6} |>|1[.)] )`)

// weave puts runs of items back into a text that edits made of the one they
// were taken from, and returns where they stand.
func weave(text string, runs []run, edits []textEdit) (woven string, spans []span) {
	var out strings.Builder
	done := 0
	for _, r := range runs {
		at := min(max(moved(r, edits), done), len(text))
		if r.alone {
			at = betweenParagraphs(text, at)
		}
		out.WriteString(text[done:at])
		done = at
		lines := strings.TrimRight(r.lines, "\n") + "\n"
		if so := out.String(); !isBlank(so) {
			if !strings.HasSuffix(so, "\n") {
				lines = "\n" + lines
			}
			if r.alone && !strings.HasSuffix(so, "\n\n") {
				lines = "\n" + lines
			}
		}
		if !r.tied && at < len(text) && !ownBlock.MatchString(text[at:]) {
			lines += "\n"
		}
		from := out.Len()
		out.WriteString(lines)
		spans = append(spans, span{from, out.Len()})
	}
	out.WriteString(text[done:])
	return out.String(), spans
}

// moved returns the offset of a run after edits of its text. Text that was inserted at the offset
// is above the run then, unless the run is indented and so hangs on the line above. Text that
// replaces the text around the run is above it, too.
func moved(r run, edits []textEdit) int {
	hangs := strings.HasPrefix(r.lines, " ") || strings.HasPrefix(r.lines, "\t")
	shift := 0
	for _, e := range edits {
		if e.start > r.at || e.start == r.at && (e.end > r.at || hangs) {
			break
		}
		if e.end > r.at {
			return e.start + shift + len(e.text)
		}
		shift += len(e.text) - (e.end - e.start)
	}
	return r.at + shift
}

// betweenParagraphs returns the first place from at on that is the beginning of
// the text or of a paragraph, or the text's end.
func betweenParagraphs(text string, at int) int {
	if at > 0 && !strings.HasSuffix(text[:at], "\n\n") {
		i := strings.Index(text[at-1:], "\n\n")
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	for at < len(text) && text[at] == '\n' {
		at++
	}
	return at
}
