package planning

import (
	"bytes"
	"encoding/binary"
	"iter"
	"unicode/utf8"

	"github.com/goccy/go-json"
)

// The functions of this file split JSON that a decoder found valid, without copying it. A poll
// reads a hundred thousand cards of a dozen attributes each. With a decoder's call for every
// small part a card took 76 allocations; now it takes 11 (BenchmarkBacklog). For invalid text
// their result is meaningless, but they neither panic nor loop.

// members iterates over the keys and values of an object; any other value has none. Both are
// parts of raw, except a key with escapes.
func members(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		if len(raw) == 0 || raw[0] != '{' {
			return
		}
		for i := space(raw, 1); i < len(raw) && raw[i] == '"'; i = space(raw, i+1) {
			end := skipString(raw, i)
			if end < 0 {
				return
			}
			key, start := unquoted(raw[i:end]), space(raw, space(raw, end)+1) // after the colon
			if i = skipValue(raw, start, 1); i < 0 || !yield(key, raw[start:i]) {
				return
			}
			if i = space(raw, i); i >= len(raw) || raw[i] != ',' {
				return
			}
		}
	}
}

// space skips white space.
func space(raw []byte, i int) int {
	for i < len(raw) && raw[i] <= ' ' && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\r' || raw[i] == '\t') {
		i++
	}
	return i
}

// unquoted returns the value of a JSON string, as a part of raw where it has no escapes.
func unquoted(raw []byte) []byte {
	if len(raw) < 2 {
		return nil
	}
	inner := raw[1 : len(raw)-1]
	if literal(inner) {
		return inner
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return bytes.ToValidUTF8([]byte(s), []byte("\uFFFD"))
}

// literal reports whether a string has neither escapes nor non-ASCII bytes.
func literal(inner []byte) bool {
	i := 0
	for ; i+8 <= len(inner); i += 8 {
		x := binary.LittleEndian.Uint64(inner[i:])
		if slash := x ^ ones*'\\'; (x|(slash-ones)&^slash)&tops != 0 {
			return false
		}
	}
	for _, c := range inner[i:] {
		if c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// scalar returns the text of a JSON string, number or boolean, and nothing for null, objects and
// arrays. It may be a part of raw.
func scalar(raw []byte) []byte {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		return unquoted(raw)
	case '{', '[', 'n':
		return nil
	}
	return raw
}
