package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fault is one error in the configuration.
type Fault struct {
	File         string // "" for a Config made in Go
	Line, Column int    // from 1; 0 for a Config made in Go
	Path         string // the key: routes[1].project
	Found        string // the value in the file; never a secret
	Want         string // the expected value
}

func (f Fault) Error() string {
	var b strings.Builder
	if f.File != "" {
		fmt.Fprintf(&b, "%s:%d:%d: ", f.File, f.Line, f.Column)
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Found + ", expected " + f.Want)
	return b.String()
}

// Faults is all errors of a configuration, in the file's order. As an error it has one line for
// each.
type Faults []Fault

func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// asError returns the faults sorted by file and position, or nil for none.
func (fs Faults) asError(files []string) error {
	if len(fs) == 0 {
		return nil
	}
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(slices.Index(files, a.File)-slices.Index(files, b.File), a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Path, b.Path))
	})
	return fs
}

// quote shows a value of the file, cut if long.
func quote(s string) string {
	const longest = 60
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "…"
	}
	return strconv.Quote(s)
}

// suggest returns a hint for an unknown name: the nearest known one, or one that contains it; ""
// where none is near.
func suggest(name string, known []string) string {
	best, least := "", 1+max(1, len(name)/3)
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if len(name) > 3 && strings.Contains(k, name) {
			d = 1
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the number of edits between a and b: bytes inserted, deleted, replaced, or swapped
// with their neighbour. Long names are far from all.
func distance(a, b string) int {
	const long = 64
	if len(a) > long || len(b) > long {
		return long
	}
	// d[i][j] is the distance between the first i bytes of a and j of b.
	var d [long + 1][long + 1]int
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			d[i][j] = min(d[i-1][j], d[i][j-1]) + 1
			if a[i-1] == b[j-1] {
				d[i][j] = d[i-1][j-1]
				continue
			}
			d[i][j] = min(d[i][j], d[i-1][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
