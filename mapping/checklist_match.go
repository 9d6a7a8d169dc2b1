package mapping

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// renamed is the least similarity at which one text is the other renamed: twice the length that
	// they share, by the sum of their lengths.
	renamed = 0.6
	// maxAligned bounds the pairs of changed items that are compared. Lists with more are compared
	// position by position.
	maxAligned = 1 << 14
)

// MatchItems finds the items of a checklist again after an edit. For each item of now it returns
// the position in old (from 0) of the same item, or -1 for a new one. Items are given by their
// texts, in their order.
//
// Items with the same text are the same, wherever they have moved. Of several with one text, those
// at the list's ends match first, then those in order, and then the first ones. The others match in
// order where the texts are similar or one continues the other: these are renamed items. No old
// item is matched twice.
func MatchItems(old, now []string) []int {
	old, now = canonicalTitles(old), canonicalTitles(now)
	match := slices.Repeat([]int{-1}, len(now))
	free := map[string][]int{} // the old items not matched yet, by text
	head, tail := 0, 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		match[head] = head
		head++
	}
	for tail < min(len(old), len(now))-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
		match[len(now)-tail] = len(old) - tail
	}
	alignSame(old, now, span{head, len(old) - tail}, span{head, len(now) - tail}, match)
	taken := map[int]bool{}
	for _, o := range match {
		taken[o] = true
	}
	for i := head; i < len(old)-tail; i++ {
		if !taken[i] {
			free[old[i]] = append(free[old[i]], i)
		}
	}
	var left []int // of now
	for i := head; i < len(now)-tail; i++ {
		if match[i] >= 0 {
			continue
		}
		if same := free[now[i]]; len(same) > 0 {
			match[i], free[now[i]] = same[0], same[1:]
		} else {
			left = append(left, i)
		}
	}
	var gone []int // of old
	for _, places := range free {
		gone = append(gone, places...)
	}
	slices.Sort(gone)
	alignRenamed(old, now, gone, left, match)
	return match
}

// alignSame matches as many items with the same text in order as possible. Of several ways it takes
// the one that leaves the most similar items between them.
func alignSame(old, now []string, inOld, inNow span, match []int) {
	if (inOld.to-inOld.from)*(inNow.to-inNow.from) > maxAligned {
		return
	}
	more := map[string]int{} // how much more often a text is among the old ones than the new
	places := func(s span, texts []string, by int) (out []int) {
		for i := s.from; i < s.to; i++ {
			out = append(out, i)
			more[texts[i]] += by
		}
		return out
	}
	gone, left := places(inOld, old, 1), places(inNow, now, -1)
	found := slices.Clone(match)
	align(gone, left, found, func(o, n int) float64 {
		switch {
		case old[o] == now[n]:
			return float64(len(gone) + len(left))
		case more[old[o]] <= 0 || more[now[n]] >= 0:
			return 0
		}
		return similarity(old[o], now[n])
	})
	for n, o := range found {
		if o >= 0 && old[o] == now[n] {
			match[n] = o
		}
	}
}

// alignRenamed matches old items that are gone with new ones in order, so that
// the sum of their similarities is the greatest.
func alignRenamed(old, now []string, gone, left, match []int) {
	alike := func(o, n int) float64 { return similarity(old[o], now[n]) }
	if len(gone)*len(left) <= maxAligned {
		align(gone, left, match, alike)
		return
	}
	for k := range min(len(gone), len(left)) {
		if alike(gone[k], left[k]) >= renamed {
			match[left[k]] = gone[k]
		}
	}
}

// align matches old positions with new ones in order, so that the sum of their worths is the
// greatest. A worth below renamed is no match.
func align(gone, left, match []int, worth func(o, n int) float64) {
	// best[i][j] is the greatest sum for gone[i:] and left[j:].
	best := make([][]float64, len(gone)+1)
	alike := make([][]float64, len(gone)+1)
	for i := len(gone); i >= 0; i-- {
		best[i], alike[i] = make([]float64, len(left)+1), make([]float64, len(left)+1)
		for j := len(left) - 1; i < len(gone) && j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if s := worth(gone[i], left[j]); s >= renamed {
				alike[i][j] = s + best[i+1][j+1]
				best[i][j] = max(best[i][j], alike[i][j])
			}
		}
	}
	for i, j := 0, 0; i < len(gone) && j < len(left); {
		switch best[i][j] {
		case alike[i][j]:
			if alike[i][j] > 0 {
				match[left[j]] = gone[i]
			}
			i, j = i+1, j+1
		case best[i+1][j]:
			i++
		default:
			j++
		}
	}
}

// similarity is 1 for the same text and 0 for texts that share nothing. A text that only had words
// appended is renamed, however many they are.
func similarity(a, b string) float64 {
	s := 1 - float64(distance(a, b))/float64(max(1, len(a)+len(b)))
	if extends(a, b) || extends(b, a) {
		s = max(s, renamed)
	}
	return s
}

// extends reports whether long is short with something behind its last word.
func extends(long, short string) bool {
	rest, ok := strings.CutPrefix(long, short)
	next, _ := utf8.DecodeRuneInString(rest)
	return ok && short != "" && !unicode.IsLetter(next) && !unicode.IsDigit(next)
}

func canonicalTitles(titles []string) []string {
	out := make([]string, len(titles))
	for i, t := range titles {
		out[i] = CanonicalTitle(t)
	}
	return out
}
