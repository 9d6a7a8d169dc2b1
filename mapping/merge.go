package mapping

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Merge is the three-way merge of two texts that were made from base, line by
// line. It reports false, and no text, where both changed the same or
// adjacent lines to different ones. Line ends of a merged text are LF and
// blank lines at its end are dropped; a text that only one side changed comes
// back as it is.
//
// For every b, x and y, where the merges are clean:
//
//	Merge(b, x, b) = x, Merge(b, b, x) = x, Merge(b, x, x) = x
//	Merge(b, x, y) = Merge(b, y, x)
//	Merge(b, x, Merge(b, x, y)) = Merge(b, x, y)
//
// What is clean is what `git merge-file` merges. Where lines are repeated there
// is more than one way to say what an edit did, and the two may read it
// differently. There Merge is the stricter one: a merge that would not keep the
// last law, which makes a reconciliation that was cut off between its two
// writes end where it would have ended, is given up as a conflict.
func Merge(base, a, b string) (merged string, clean bool) {
	o, x, y := mergeable(base), mergeable(a), mergeable(b)
	switch {
	case x == y || o == y:
		return a, true
	case o == x:
		return b, true
	}
	m, ok := mergeLines(o, x, y)
	if !ok || !absorbs(o, m, x) || !absorbs(o, m, y) {
		return "", false
	}
	return strings.TrimRight(m, "\n"), true
}

// absorbs reports whether merging x into m once more leaves m as it is.
func absorbs(base, m, x string) bool {
	again, ok := mergeLines(base, x, m)
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

func mergeLines(base, a, b string) (string, bool) {
	x, y := lineEdits(base, a), lineEdits(base, b)
	if adjacent(x, y) {
		return "", false
	}
	edits, ok := udiff.Merge(x, y)
	if !ok {
		return "", false
	}
	merged, err := udiff.Apply(base, edits)
	return merged, err == nil
}

// adjacent reports whether an edit of x and another one of y have no unchanged
// line between them. udiff.Merge would take those for independent, git does
// not.
func adjacent(x, y []udiff.Edit) bool {
	for len(x) > 0 && len(y) > 0 {
		switch e, f := x[0], y[0]; {
		case e == f:
			x, y = x[1:], y[1:]
		case e.End < f.Start:
			x = x[1:]
		case f.End < e.Start:
			y = y[1:]
		default:
			return true
		}
	}
	return false
}

// lineEdits is the difference of two texts in whole lines, said in the one way
// that makes equal changes equal edits: edits that touch are one, and what
// could stand in several places (between equal lines, say a paragraph with its
// blank line) stands in the last of them, as git has it.
func lineEdits(base, text string) []udiff.Edit {
	var edits []udiff.Edit // the last one first
	for _, e := range slices.Backward(udiff.Lines(base, text)) {
		e, edits = join(e, edits)
		if head, tail, ok := split(base, e); ok {
			e, edits = head, slide(base, tail, edits)
		}
		edits = slide(base, e, edits)
	}
	slices.Reverse(edits)
	return edits
}

// join makes e and the edit that touches its end, if there is one, one edit.
func join(e udiff.Edit, behind []udiff.Edit) (udiff.Edit, []udiff.Edit) {
	if n := len(behind); n > 0 && behind[n-1].Start == e.End {
		e.End, e.New = behind[n-1].End, e.New+behind[n-1].New
		behind = behind[:n-1]
	}
	return e, behind
}

// slide moves an insertion or a deletion as far down as it goes without a
// change of what it does, and puts it before the edits behind it.
func slide(base string, e udiff.Edit, behind []udiff.Edit) []udiff.Edit {
	for {
		e, behind = join(e, behind)
		next, deleted := lineAt(base, e.End), base[e.Start:e.End]
		switch {
		case next != "" && deleted == "" && strings.HasPrefix(e.New, next):
			e.New = e.New[len(next):] + next
		case next != "" && e.New == "" && strings.HasPrefix(deleted, next):
		default:
			return append(behind, e)
		}
		e.Start, e.End = e.Start+len(next), e.End+len(next)
	}
}

// split parts an edit that changes lines and also inserts or deletes some
// behind them, where the line that follows it can stand between the two: a
// changed line, a blank one, and then the new paragraph.
func split(base string, e udiff.Edit) (head, tail udiff.Edit, ok bool) {
	next, deleted := lineAt(base, e.End), base[e.Start:e.End]
	if next == "" || deleted == "" || e.New == "" {
		return head, tail, false
	}
	if i := strings.Index(e.New, "\n"+next) + 1; i > 0 {
		at := e.End + len(next)
		return udiff.Edit{Start: e.Start, End: e.End, New: e.New[:i]},
			udiff.Edit{Start: at, End: at, New: e.New[i+len(next):] + next}, true
	}
	if i := strings.Index(deleted, "\n"+next) + 1; i > 0 {
		at := e.Start + i
		return udiff.Edit{Start: e.Start, End: at, New: e.New},
			udiff.Edit{Start: at + len(next), End: e.End + len(next)}, true
	}
	return head, tail, false
}

// lineAt returns the line that begins at a byte of a text, "" at its end.
func lineAt(text string, at int) string {
	return text[at : at+strings.IndexByte(text[at:], '\n')+1]
}
