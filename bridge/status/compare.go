package status

import (
	"strings"
	"unicode/utf8"

	"planbridge/mapping"
)

// stretch is a part of a value that is compared with another one.
type stretch struct {
	Text  string
	Alone bool // the other value does not have it
	Left  int  // characters that are left out here; then there is no Text
}

// These bound the shown part of a value beside another one.
const (
	sideText  = 2000 // characters in all
	sideShare = 160  // of equal text, around a difference
)

// beside compares two values by words, and leaves out long equal parts.
func beside(github, planning string) (onGitHub, inPlanning []stretch) {
	a, b := mapping.CompareWords(github, planning)
	return shortened(a), shortened(b)
}

// shortened bounds the shown part of a value.
func shortened(list []mapping.Stretch) []stretch {
	var out []stretch
	left := sideText
	for i, s := range list {
		if left <= 0 {
			rest := 0
			for _, hidden := range list[i:] {
				rest += utf8.RuneCountInString(hidden.Text)
			}
			return append(out, stretch{Left: rest})
		}
		head, tail := left, 0
		if !s.Alone {
			head, tail = sideShare, sideShare
			if i == 0 {
				head = 0
			}
			if i == len(list)-1 {
				tail = 0
			}
			if len(list) == 1 {
				head = left
			}
		}
		for _, part := range clipped(s, min(head, left), tail) {
			left -= utf8.RuneCountInString(part.Text)
			out = append(out, part)
		}
	}
	return out
}

// clipped leaves out the middle of a stretch.
func clipped(s mapping.Stretch, head, tail int) []stretch {
	runes := []rune(s.Text)
	if len(runes) <= head+tail {
		return spaced(s.Text, s.Alone)
	}
	out := spaced(string(runes[:head]), s.Alone)
	out = append(out, stretch{Left: len(runes) - head - tail})
	return append(out, spaced(string(runes[len(runes)-tail:]), s.Alone)...)
}

// spaced removes leading white space from a difference.
func spaced(text string, alone bool) []stretch {
	if text == "" {
		return nil
	}
	bare := strings.TrimLeft(text, " \t")
	if !alone || bare == "" || bare == text {
		return []stretch{{Text: text, Alone: alone}}
	}
	return []stretch{{Text: text[:len(text)-len(bare)]}, {Text: bare, Alone: true}}
}
