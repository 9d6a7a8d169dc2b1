package mapping

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Merge is the three-way merge of two texts that were made from base: line by
// line, and word by word within lines that both changed. It reports false, and
// no text, where both changed the same or touching words differently. Words
// touch where no unchanged word and no end of a sentence stands between them. A merged text has LF
// line ends and no blank lines at its end. A text that only one side changed comes back unchanged.
//
// For every b, x and y, where the merges are clean:
//
//	Merge(b, x, b) = x, Merge(b, b, x) = x, Merge(b, x, x) = x
//	Merge(b, x, y) = Merge(b, y, x)
//	Merge(b, x, Merge(b, x, y)) = Merge(b, x, y)
//
// The last law covers a reconciliation that is cut off between its two writes: it ends as it would
// have without the cut. Where words or lines are repeated there is more than one way to describe an
// edit. So a text that already has the other one's edits is the merge. A merge that would break the
// law is given up as a conflict.
func Merge(base, a, b string) (merged string, clean bool) {
	o, x, y := mergeable(base), mergeable(a), mergeable(b)
	switch {
	case x == y || o == y:
		return a, true
	case o == x:
		return b, true
	}
	m, ok := mergeOnce(o, x, y)
	switch {
	case !ok:
		return "", false
	case m == x:
		return a, true
	case m == y:
		return b, true
	case !absorbs(o, m, x) || !absorbs(o, m, y):
		return "", false
	}
	return strings.TrimRight(m, "\n"), true
}

// absorbs reports whether merging x into m once more leaves m as it is.
func absorbs(base, m, x string) bool {
	again, ok := mergeOnce(base, x, m)
	return ok && again == m
}

// mergeable gives a text LF line ends and ends its last line, so that a line
// added behind it is no change of it.
func mergeable(text string) string {
	text = strings.TrimRight(unixLines(text), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// mergeOnce merges, or returns the text that has the edits of the other already.
func mergeOnce(base, x, y string) (string, bool) {
	m, ok := mergeLines(base, x, y)
	if ok && (m == x || m == y) {
		return m, true
	}
	switch inY, inX := includes(base, x, y), includes(base, y, x); {
	case inY && !inX:
		return y, true
	case inX && !inY:
		return x, true
	}
	return m, ok
}

// includes reports whether m is the merge of x with some other text: the one that m is without the
// edits of x.
func includes(base, x, m string) bool {
	rest, ok := mergeLines(x, base, m)
	if !ok || rest == m || !addUp(base, x, rest, m) {
		return false
	}
	again, ok := mergeLines(base, x, rest)
	return ok && again == m
}

// addUp reports whether base and m differ by as much as base does from x and from rest together.
// Where they differ by less, one of these undid the other's changes. Blank lines cannot be told
// apart, so they count only where x or rest changed nothing else.
func addUp(base, x, rest, m string) bool {
	for _, tokens := range []func(string) []string{lineTokens, wordTokens} {
		from := tokens(base)
		if changed(from, tokens(m)) == changed(from, tokens(x))+changed(from, tokens(rest)) {
			return true
		}
	}
	from, blank := inked(base)
	a, blankA := inked(x)
	b, blankB := inked(rest)
	all, _ := inked(m)
	inA, inB := changed(from, a), changed(from, b)
	return changed(from, all) == inA+inB && (inA*inB > 0 || (blankA-blank)*(blankB-blank) >= 0)
}

// inked returns the lines of a text that are not blank, and the number of those
// that are.
func inked(text string) (lines []string, blank int) {
	all := lineTokens(text)
	lines = slices.DeleteFunc(slices.Clone(all), isBlank)
	return lines, len(all) - len(lines)
}

// changed counts the tokens that are in one text alone.
func changed(from, to []string) (n int) {
	for _, e := range diff(from, to) {
		n += e.to - e.from + e.newTo - e.newFrom
	}
	return n
}

// mergeLines merges by lines, and by words only where lines do not merge. An edit's lines may be
// read in several ways, and a merge by one of them is enough.
func mergeLines(base, x, y string) (string, bool) {
	o, a, b := lineTokens(base), lineTokens(x), lineTokens(y)
	inA, inB := diff(o, a), diff(o, b)
	before := func(_ []string, e, f edit) bool { return e.to < f.from }
	for _, resolve := range []resolver{conflict, mergeWords} {
		for _, read := range []reading{parted, whole, above} {
			ours, theirs := version{a, read(o, a, inA)}, version{b, read(o, b, inB)}
			if m, ok := mergeTokens(o, ours, theirs, before, resolve); ok {
				return m, true
			}
		}
	}
	return "", false
}

// resolver merges two conflicting edits of base.
type resolver func(base, x, y string) (string, bool)

func conflict(string, string, string) (string, bool) { return "", false }

// mergeWords merges by words. Each line is read with a space before it, so that its first word is
// the same when another word is put before it.
func mergeWords(base, x, y string) (string, bool) {
	o, a, b := wordTokens(spaced(base)), wordTokens(spaced(x)), wordTokens(spaced(y))
	before := func(words []string, e, f edit) bool {
		return e.to < f.reach && slices.ContainsFunc(words[e.to:f.reach], parts)
	}
	ours, theirs := version{a, parted(o, a, diff(o, a))}, version{b, parted(o, b, diff(o, b))}
	merged, ok := mergeTokens(o, ours, theirs, before, conflict)
	return strings.TrimPrefix(strings.ReplaceAll(merged, "\n ", "\n"), " "), ok
}

func spaced(text string) string {
	return " " + strings.ReplaceAll(text, "\n", "\n ")
}

// mergeTokens merges two versions of a list of tokens. Where an edit of one is not before or behind
// those of the other, resolve gets the text there of all three.
func mergeTokens(base []string, ours, theirs version, apart func(base []string, e, f edit) bool, resolve resolver) (string, bool) {
	before := func(e, f edit) bool { return apart(base, e, f) }
	var out strings.Builder
	at := 0
	put := func(until int, text []string) {
		for _, token := range slices.Concat(base[at:until], text) {
			out.WriteString(token)
		}
	}
	for len(ours.edits) > 0 || len(theirs.edits) > 0 {
		v := &ours
		switch {
		case len(theirs.edits) == 0:
		case len(ours.edits) == 0 || before(theirs.edits[0], ours.edits[0]):
			v = &theirs
		case before(ours.edits[0], theirs.edits[0]):
		case ours.same(theirs):
			theirs.edits = theirs.edits[1:]
		default:
			from, to := overlap(ours.edits, theirs.edits, before)
			a, b := ours.consume(from, to), theirs.consume(from, to)
			if a != b {
				var ok bool
				if a, ok = resolve(strings.Join(base[from:to], ""), a, b); !ok {
					return "", false
				}
			}
			put(from, []string{a})
			at = to
			continue
		}
		e := v.edits[0]
		put(e.from, v.tokens[e.newFrom:e.newTo])
		at, v.edits = e.to, v.edits[1:]
	}
	put(len(base), nil)
	return out.String(), true
}

// version is a list of tokens and the edits that made it of its base, without those that are
// already merged.
type version struct {
	tokens []string
	edits  []edit
}

// same reports whether the next edits of two versions are the same one.
func (v version) same(other version) bool {
	e, f := v.edits[0], other.edits[0]
	return e.from == f.from && e.to == f.to && slices.Equal(v.tokens[e.newFrom:e.newTo], other.tokens[f.newFrom:f.newTo])
}

// overlap returns the part of the base in which the next edits of two versions, and further ones that
// touch them, are not apart.
func overlap(xs, ys []edit, before func(e, f edit) bool) (from, to int) {
	all := edit{from: min(xs[0].from, ys[0].from), to: max(xs[0].to, ys[0].to)}
	for i, j, grown := 1, 1, true; grown; {
		grown = false
		for ; i < len(xs) && !before(all, xs[i]); i++ {
			all.to, grown = max(all.to, xs[i].to), true
		}
		for ; j < len(ys) && !before(all, ys[j]); j++ {
			all.to, grown = max(all.to, ys[j].to), true
		}
	}
	return all.from, all.to
}

// consume returns a version's text for base[from:to], and removes the edits there.
func (v *version) consume(from, to int) string {
	first := v.edits[0]
	start := first.newFrom - (first.from - from)
	end := start
	for len(v.edits) > 0 && v.edits[0].from <= to {
		last := v.edits[0]
		end = last.newTo + to - last.to
		v.edits = v.edits[1:]
	}
	return strings.Join(v.tokens[start:end], "")
}

// wordTokens are the words of a text, its line ends, and its other characters one
// by one, each with the white space before it. Where a script has no spaces, a
// character is a word.
func wordTokens(text string) []string {
	var tokens []string
	start := 0
	for at := 0; at < len(text); start = at {
		for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
			at++
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		for at += size; isWordRune(r) && at < len(text); at += size {
			if r, size = utf8.DecodeRuneInString(text[at:]); !isWordRune(r) {
				break
			}
		}
		tokens = append(tokens, text[start:at])
	}
	return tokens
}

func isWordRune(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_') && !isIdeograph(r)
}

func isIdeograph(r rune) bool {
	const first = '\u0e00' // where Thai begins; the other scripts follow
	return r >= first && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// parts reports whether a token between two edits separates them: a word, or the end of a sentence.
func parts(token string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(token, " \t"))
	return isWordRune(r) || isIdeograph(r) || strings.ContainsRune(".!?…。！？", r)
}
