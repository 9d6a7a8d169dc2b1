package mapping

import (
	"slices"
	"strings"
)

// edit says that the tokens from:to of a text became those newFrom:newTo of another one. Any
// beginning from reach on makes the same edit: of "a a", either word may be the one that was added.
type edit struct{ from, to, newFrom, newTo, reach int }

// The differences come from Myers' algorithm, whose time grows with their number. To keep the time
// proportional to the texts, a search with more than maxSteps/tokens differences continues from the
// farthest point that it reached. The edits are then correct, though not the fewest.
const (
	maxSteps = 1 << 21
	minDepth = 16
	maxDepth = 256
)

// diff returns the edits that make a list of tokens another one, in their order
// and with unchanged tokens between them.
func diff(from, to []string) []edit {
	ids := map[string]int{}
	a, b := numbered(from, ids), numbered(to, ids)
	d := differ{a: a, b: b, depth: min(maxDepth, max(minDepth, maxSteps/(len(from)+len(to)+1)))}
	d.forward, d.backward = make([]int, 2*d.depth+3), make([]int, 2*d.depth+3)
	d.compare(0, len(from), 0, len(to))
	return d.edits()
}

// tokenList holds the tokens of a text, and which of them the other text lacks.
type tokenList struct {
	ids     []int
	changed []bool
}

func (l *tokenList) mark(from, to int) {
	for i := from; i < to; i++ {
		l.changed[i] = true
	}
}

func numbered(texts []string, ids map[string]int) tokenList {
	l := tokenList{ids: make([]int, len(texts)), changed: make([]bool, len(texts))}
	for i, text := range texts {
		id, ok := ids[text]
		if !ok {
			id = len(ids)
			ids[text] = id
		}
		l.ids[i] = id
	}
	return l
}

// differ compares two lists and marks in each the tokens that the other lacks.
type differ struct {
	a, b              tokenList
	depth             int
	forward, backward []int // by diagonal: the farthest place in a that a search reached
}

// compare marks the differences of a[a0:a1] and b[b0:b1].
func (d *differ) compare(a0, a1, b0, b1 int) {
	for {
		for a0 < a1 && b0 < b1 && d.a.ids[a0] == d.b.ids[b0] {
			a0, b0 = a0+1, b0+1
		}
		for a0 < a1 && b0 < b1 && d.a.ids[a1-1] == d.b.ids[b1-1] {
			a1, b1 = a1-1, b1-1
		}
		if a0 == a1 || b0 == b1 {
			d.a.mark(a0, a1)
			d.b.mark(b0, b1)
			return
		}
		x, y := d.middle(a0, a1, b0, b1)
		d.compare(a0, x, b0, y)
		a0, b0 = x, y
	}
}

// middle returns a point on a shortest way from the beginnings of two lists to their ends, or the
// farthest point it found.
func (d *differ) middle(a0, a1, b0, b1 int) (x, y int) {
	n, m := a1-a0, b1-b0
	odd := (n-m)%2 != 0
	zero := d.depth + 1 // the index of diagonal 0; backward counts from n-m
	d.forward[zero+1], d.backward[zero+1] = 0, 0
	for depth := 0; depth <= d.depth; depth++ {
		for k := depth; k >= -depth; k -= 2 {
			x, y := step(d.forward, zero, k, depth)
			for x < n && y < m && d.a.ids[a0+x] == d.b.ids[b0+y] {
				x, y = x+1, y+1
			}
			d.forward[zero+k] = x
			if other := n - m - k; odd && -depth < other && other < depth && x <= n && y <= m && x+d.backward[zero+other] >= n {
				return a0 + x, b0 + y
			}
		}
		for k := depth; k >= -depth; k -= 2 {
			x, y := step(d.backward, zero, k, depth)
			for x < n && y < m && d.a.ids[a1-1-x] == d.b.ids[b1-1-y] {
				x, y = x+1, y+1
			}
			d.backward[zero+k] = x
			if other := n - m - k; !odd && -depth <= other && other <= depth && x <= n && y <= m && x+d.forward[zero+other] >= n {
				return a1 - x, b1 - y
			}
		}
	}
	return d.farthest(a0, a1, b0, b1)
}

// step returns where a way on diagonal k begins after one more difference.
func step(reached []int, zero, k, depth int) (x, y int) {
	if k == -depth || k != depth && reached[zero+k-1] < reached[zero+k+1] {
		x = reached[zero+k+1]
	} else {
		x = reached[zero+k-1] + 1
	}
	return x, x - k
}

// farthest returns the farthest point that the search from either end reached.
func (d *differ) farthest(a0, a1, b0, b1 int) (x, y int) {
	n, m, zero := a1-a0, b1-b0, d.depth+1
	best := -1
	x, y = a1, b0
	for k := -d.depth; k <= d.depth; k += 2 {
		if i := d.forward[zero+k]; i <= n && i-k <= m && i-k >= 0 && 2*i-k > best {
			best, x, y = 2*i-k, a0+i, b0+i-k
		}
		if i := d.backward[zero+k]; i <= n && i-k <= m && i-k >= 0 && 2*i-k > best {
			best, x, y = 2*i-k, a1-i, b1-i+k
		}
	}
	return x, y
}

// edits are the marked tokens as edits.
func (d *differ) edits() []edit {
	var out []edit
	for i, j := 0, 0; i < len(d.a.ids) || j < len(d.b.ids); i, j = i+1, j+1 {
		e := edit{from: i, newFrom: j}
		for i < len(d.a.ids) && d.a.changed[i] {
			i++
		}
		for j < len(d.b.ids) && d.b.changed[j] {
			j++
		}
		if e.to, e.newTo = i, j; e.from < i || e.newFrom < j {
			out = append(out, e)
		}
	}
	return out
}

// settler gives edits a unique form, so that equal changes are equal edits. Touching edits become
// one, and an edit that fits several positions takes the last of them.
type settler struct {
	from, to []string
	steps    int // moves of edits that are still allowed
}

// reading is a form in which the edits between two lists of tokens are written down.
type reading func(from, to []string, edits []edit) []edit

// parted separates the insertion or deletion within a change as an edit of its own.
func parted(from, to []string, edits []edit) []edit { return normalised(from, to, edits, true) }

func whole(from, to []string, edits []edit) []edit { return normalised(from, to, edits, false) }

// above moves insertions and deletions as far up as they go.
func above(from, to []string, edits []edit) []edit {
	edits = whole(from, to, edits)
	for i, e := range edits {
		n := e.from - e.reach
		edits[i] = edit{e.from - n, e.to - n, e.newFrom - n, e.newTo - n, e.reach}
	}
	return edits
}

// normalised returns edits in that form.
func normalised(from, to []string, edits []edit, part bool) []edit {
	s := settler{from: from, to: to, steps: 4 * (len(from) + len(to))}
	var settled []edit // the last one first
	for _, e := range slices.Backward(edits) {
		e, settled = coalesce(e, settled)
		if head, tail, ok := s.split(e); ok && part {
			e, settled = head, s.slide(tail, settled)
		}
		settled = s.slide(e, settled)
	}
	slices.Reverse(settled)
	end := 0
	for i := range settled {
		s.setReach(&settled[i], end)
		end = settled[i].to
	}
	return settled
}

// coalesce makes e and the edit that touches its end, if there is one, one edit.
func coalesce(e edit, behind []edit) (edit, []edit) {
	if n := len(behind); n > 0 && behind[n-1].from == e.to {
		e.to, e.newTo = behind[n-1].to, behind[n-1].newTo
		behind = behind[:n-1]
	}
	return e, behind
}

// slide moves an insertion or a deletion as far down as its effect stays the same, and puts it
// before the edits behind it.
func (s *settler) slide(e edit, behind []edit) []edit {
	for ; ; s.steps-- {
		e, behind = coalesce(e, behind)
		switch {
		case s.steps <= 0 || e.to == len(s.from):
			return append(behind, e)
		case e.from == e.to && s.to[e.newFrom] == s.from[e.to]:
		case e.newFrom == e.newTo && s.from[e.from] == s.from[e.to]:
		default:
			return append(behind, e)
		}
		e.from, e.to, e.newFrom, e.newTo = e.from+1, e.to+1, e.newFrom+1, e.newTo+1
	}
}

// split separates an edit that changes tokens and also inserts or deletes some behind them. The
// token that follows the edit has to fit between the two parts. So does a blank line between a
// changed line and a new paragraph.
func (s *settler) split(e edit) (head, tail edit, ok bool) {
	if e.from == e.to || e.newFrom == e.newTo || e.to == len(s.from) {
		return head, tail, false
	}
	next := s.from[e.to]
	if i := slices.Index(s.to[e.newFrom:e.newTo], next); i >= 0 {
		at := e.newFrom + i
		return edit{from: e.from, to: e.to, newFrom: e.newFrom, newTo: at},
			edit{from: e.to + 1, to: e.to + 1, newFrom: at + 1, newTo: e.newTo + 1}, true
	}
	if i := slices.Index(s.from[e.from:e.to], next); i >= 0 {
		at := e.from + i
		return edit{from: e.from, to: at, newFrom: e.newFrom, newTo: e.newTo},
			edit{from: at + 1, to: e.to + 1, newFrom: e.newTo + 1, newTo: e.newTo + 1}, true
	}
	return head, tail, false
}

// setReach finds how far up an edit could be moved, to the end of the one before.
func (s *settler) setReach(e *edit, end int) {
	tokens, last := s.from, e.to
	e.reach = e.from
	switch {
	case e.from == e.to:
		tokens, last = s.to, e.newTo
	case e.newFrom < e.newTo:
		return // it changes tokens, and moves nowhere
	}
	for ; e.reach > end && s.from[e.reach-1] == tokens[last-1]; last-- {
		e.reach--
	}
}

// lineTokens are the lines of a text, with their line ends.
func lineTokens(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// textEdit is an edit by bytes.
type textEdit struct {
	start, end int
	text       string // the replacement
}

// lineEdits is the difference of two texts in whole lines.
func lineEdits(from, to string) []textEdit {
	a, b := lineTokens(from), lineTokens(to)
	var out []textEdit
	at, line := 0, 0
	for _, e := range parted(a, b, diff(a, b)) {
		at += lengthOf(a[line:e.from])
		end := at + lengthOf(a[e.from:e.to])
		out = append(out, textEdit{at, end, strings.Join(b[e.newFrom:e.newTo], "")})
		at, line = end, e.to
	}
	return out
}

func lengthOf(texts []string) int {
	n := 0
	for _, text := range texts {
		n += len(text)
	}
	return n
}
