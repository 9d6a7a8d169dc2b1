package planning

import (
	"encoding/binary"
	"math/bits"
)

// The functions of this file find the end of a JSON value and refuse invalid JSON, as
// encoding/json does. They build nothing. Each returns the index after the value, or one of the
// two below. FuzzValue compares them with encoding/json.
const (
	short    = -1 // the text ends too early
	notJSON  = -2
	maxDepth = 10_000 // nesting of arrays and objects, as in encoding/json
)

// skipValue skips the value that begins at i, nested depth deep.
func skipValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return short
	}
	switch c := b[i]; {
	case c == '"':
		return skipString(b, i)
	case c == '{':
		return skipMembers(b, i, depth, '}', nil)
	case c == '[':
		return skipMembers(b, i, depth, ']', nil)
	case c == '-' || '0' <= c && c <= '9':
		return skipNumber(b, i)
	case c == 't':
		return skipWord(b, i, "true")
	case c == 'f':
		return skipWord(b, i, "false")
	case c == 'n':
		return skipWord(b, i, "null")
	}
	return notJSON
}

// skipMembers skips an object or an array up to end. It calls see, unless nil, with the start of
// each member and of its value, and the end of both.
func skipMembers(b []byte, i, depth int, end byte, see func(b []byte, key, value, end int)) int {
	if depth >= maxDepth {
		return notJSON
	}
	if i = space(b, i+1); i < len(b) && b[i] == end {
		return i + 1
	}
	for {
		key := i
		if end == '}' {
			if i = skipKey(b, i); i < 0 {
				return i
			}
		}
		value := i
		if i = skipValue(b, i, depth+1); i < 0 {
			return i
		}
		if see != nil {
			see(b, key, value, i)
		}
		if i = space(b, i); i >= len(b) {
			return short
		}
		switch b[i] {
		case ',':
			i = space(b, i+1)
		case end:
			return i + 1
		default:
			return notJSON
		}
	}
}

// skipKey skips a key and its colon.
func skipKey(b []byte, i int) int {
	switch {
	case i >= len(b):
		return short
	case b[i] != '"':
		return notJSON
	}
	if i = skipString(b, i); i < 0 {
		return i
	}
	switch i = space(b, i); {
	case i >= len(b):
		return short
	case b[i] != ':':
		return notJSON
	}
	return space(b, i+1)
}

// skipString skips a string. Like encoding/json it accepts invalid UTF-8.
func skipString(b []byte, i int) int {
	for i++; ; {
		for ; i+8 <= len(b); i += 8 {
			if found := stops(binary.LittleEndian.Uint64(b[i:])); found != 0 {
				i += bits.TrailingZeros64(found) / 8
				break
			}
		}
		for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
			i++
		}
		if i >= len(b) {
			return short
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if i = skipEscape(b, i); i < 0 {
				return i
			}
		default:
			return notJSON
		}
	}
}

const ones, tops = 0x0101010101010101, 0x8080808080808080

// stops sets the top bit of the first of eight bytes that is a quote, a backslash or a control
// character. It may set those of later bytes, too. With its second bit flipped a quote is a space,
// control characters stay below a space, and all others are above it.
func stops(x uint64) uint64 {
	low, slash := x^ones*('"'^' '), x^ones*'\\'
	return ((low-ones*(' '+1))&^low | (slash-ones)&^slash) & tops
}

// skipEscape skips a backslash and its escape.
func skipEscape(b []byte, i int) int {
	if i++; i >= len(b) {
		return short
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		for end := i + 4; i < end; {
			if i++; i >= len(b) {
				return short
			}
			if c := b[i] | 0x20; (b[i] < '0' || b[i] > '9') && (c < 'a' || c > 'f') {
				return notJSON
			}
		}
		return i + 1
	}
	return notJSON
}

// skipNumber skips a number. It needs the byte after it: no valid answer ends with a number.
func skipNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	switch {
	case i >= len(b):
		return short
	case b[i] == '0':
		i++
	default:
		if i = skipDigits(b, i); i < 0 {
			return i
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = skipDigits(b, i+1); i < 0 {
			return i
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if i = skipDigits(b, i); i < 0 {
			return i
		}
	}
	if i >= len(b) {
		return short
	}
	return i
}

// skipDigits skips one digit or more.
func skipDigits(b []byte, i int) int {
	start := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	switch {
	case i >= len(b):
		return short
	case i == start:
		return notJSON
	}
	return i
}

func skipWord(b []byte, i int, word string) int {
	n := min(len(word), len(b)-i)
	switch {
	case string(b[i:i+n]) != word[:n]:
		return notJSON
	case n < len(word):
		return short
	}
	return i + n
}
