package mapping

import (
	"cmp"
	"slices"
	"strings"
)

// form is the kind of marks in a side's texts.
type form bool

const (
	onGitHub   form = true  // joiners and seams
	inPlanning form = false // seams alone
)

// insertion is a mark that goes into a text.
type insertion struct {
	at   int
	what string
}

// mark puts a mark behind each live place, and doubles those that the text has
// by itself. [unmark] undoes it.
func mark(text string, found []live, as form) string {
	var ins []insertion
	var joints []int
	if as == onGitHub {
		joints = jointEnds(text)
		for _, end := range joints {
			if strings.HasPrefix(text[end:], joiner) {
				ins = append(ins, insertion{end, joiner})
			}
		}
	}
	for at := strings.Index(text, seam); at >= 0; {
		ins = append(ins, insertion{at, seam})
		next := strings.Index(text[at+len(seam):], seam)
		if next < 0 {
			break
		}
		at += len(seam) + next
	}
	for _, f := range found {
		if _, isJoint := slices.BinarySearch(joints, f.end); !isJoint {
			ins = append(ins, insertion{f.end, seam})
		} else if !strings.HasPrefix(text[f.end:], joiner) { // else it has one already
			ins = append(ins, insertion{f.end, joiner})
		}
	}
	if len(ins) == 0 {
		return text
	}
	slices.SortFunc(ins, func(a, b insertion) int { return cmp.Or(a.at-b.at, len(a.what)-len(b.what)) }) // joiners first
	var b strings.Builder
	b.Grow(len(text) + len(ins)*len(seam))
	rest := 0
	for _, in := range ins {
		b.WriteString(text[rest:in.at])
		b.WriteString(in.what)
		rest = in.at
	}
	b.WriteString(text[rest:])
	return b.String()
}

// unmark takes a side's marks out of a text. It answers in order where in the
// plain text they stood.
func unmark(text string, as form) (plain string, marked []int) {
	plain, marked = unmarkSeams(text)
	if as == inPlanning || !strings.Contains(plain, joiner) {
		return plain, marked
	}
	var b strings.Builder
	rest, shift, seams := 0, 0, marked
	marked = nil
	for _, end := range jointEnds(plain) {
		if !strings.HasPrefix(plain[end:], joiner) {
			continue
		}
		for ; len(seams) > 0 && seams[0] <= end; seams = seams[1:] {
			marked = append(marked, seams[0]-shift)
		}
		marked = append(marked, end-shift)
		b.WriteString(plain[rest:end])
		rest, shift = end+len(joiner), shift+len(joiner)
	}
	for _, at := range seams {
		marked = append(marked, at-shift)
	}
	b.WriteString(plain[rest:])
	return b.String(), marked
}

// unmarkSeams halves each run of seams. An odd one is a mark that was put.
func unmarkSeams(text string) (plain string, marked []int) {
	if !strings.Contains(text, seam) {
		return text, nil
	}
	var b strings.Builder
	for rest := text; ; {
		before, after, found := strings.Cut(rest, seam)
		b.WriteString(before)
		if !found {
			return b.String(), marked
		}
		run := 1
		for strings.HasPrefix(after, seam) {
			run, after = run+1, after[len(seam):]
		}
		if run%2 == 1 {
			marked = append(marked, b.Len())
		}
		for range run / 2 {
			b.WriteString(seam)
		}
		rest = after
	}
}

// jointEnds returns where joiners may stand in a text, in order.
func jointEnds(text string) []int {
	var ends []int
	for _, loc := range joint.FindAllStringIndex(text, -1) {
		ends = append(ends, loc[1])
	}
	return ends
}
