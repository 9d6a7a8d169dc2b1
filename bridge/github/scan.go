package github

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads one JSON text from front to back and decodes only what it is
// asked for: of a webhook's payload that is a tenth, and reading payloads is
// most of what an intake does. What is passed over is held to the grammar all
// the same. Names count as they are written; null leaves what it is read into
// as it was. The text is valid UTF-8.
type scanner struct {
	data  []byte
	at    int
	depth int
	bad   bool // the text is no JSON; nothing more is read of it
	wrong bool // some value was not of the kind that it is read as
}

// maxDepth is what encoding/json allows.
const maxDepth = 10000

func (s *scanner) fail() { s.bad, s.at = true, len(s.data) }

// peek passes over white space and returns what begins there, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// end reports whether the text was JSON and ends here.
func (s *scanner) end() bool { return s.peek() == 0 && s.at == len(s.data) && !s.bad }

// is reports whether a value of the kind follows that begins with c. Any other
// is passed over.
func (s *scanner) is(c byte) bool {
	switch s.peek() {
	case c:
		return true
	case 'n':
	default:
		s.wrong = true
	}
	s.skip()
	return false
}

// object calls each with every name; each takes or skips its value.
func (s *scanner) object(each func(name []byte)) {
	if !s.is('{') || !s.open('}') {
		return
	}
	for more := true; more; more = s.more('}') {
		if s.peek() != '"' {
			s.fail()
			return
		}
		name := s.quoted()
		if s.peek() != ':' {
			s.fail()
			return
		}
		s.at++
		each(name)
	}
}

// array calls each at every item, which each takes or skips.
func (s *scanner) array(each func()) {
	if !s.is('[') || !s.open(']') {
		return
	}
	for more := true; more; more = s.more(']') {
		each()
	}
}

// open enters an object or array and reports whether it holds anything.
func (s *scanner) open(end byte) bool {
	s.at++
	if s.depth++; s.depth > maxDepth {
		s.fail()
		return false
	}
	if s.peek() == end {
		s.at++
		s.depth--
		return false
	}
	return true
}

// more reports whether another item follows, and leaves at the end.
func (s *scanner) more(end byte) bool {
	switch s.peek() {
	case ',':
		s.at++
		return true
	case end:
		s.at++
		s.depth--
	default:
		s.fail()
	}
	return false
}

// skip passes over a value of any kind.
func (s *scanner) skip() {
	switch c := s.peek(); c {
	case '{':
		s.object(func([]byte) { s.skip() })
	case '[':
		s.array(s.skip)
	case '"':
		s.raw()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

func (s *scanner) literal(word string) {
	if !bytes.HasPrefix(s.data[s.at:], []byte(word)) {
		s.fail()
		return
	}
	s.at += len(word)
}

// number takes a number as it is written; nil where there is none.
func (s *scanner) number() []byte {
	begin := s.at
	s.one("-", "-")
	first := s.at
	n := s.run()
	ok := n == 1 || n > 1 && s.data[first] != '0'
	if s.one(".", ".") {
		ok = s.run() > 0 && ok
	}
	if s.one("e", "E") {
		s.one("+", "-")
		ok = s.run() > 0 && ok
	}
	if !ok {
		s.fail()
		return nil
	}
	return s.data[begin:s.at]
}

// one passes over a or b.
func (s *scanner) one(a, b string) bool {
	if s.at == len(s.data) || s.data[s.at] != a[0] && s.data[s.at] != b[0] {
		return false
	}
	s.at++
	return true
}

// run passes over digits and returns how many there were.
func (s *scanner) run() int {
	begin := s.at
	for s.at < len(s.data) && s.data[s.at]-'0' < 10 {
		s.at++
	}
	return s.at - begin
}

// raw passes over a string and returns what stands between its quotes, and
// whether that has escapes in it.
func (s *scanner) raw() (text []byte, escaped bool) {
	s.at++
	for begin := s.at; ; {
		s.plain()
		if s.at == len(s.data) {
			s.fail()
			return nil, false
		}
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return s.data[begin : s.at-1], escaped
		case c == '\\' && s.escape():
			escaped = true
		default:
			s.fail()
			return nil, false
		}
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain passes over what stands for itself in a string, eight bytes at a time:
// everything but quotes, backslashes and control characters.
func (s *scanner) plain() {
	for ; len(s.data)-s.at >= 8; s.at += 8 {
		w := binary.LittleEndian.Uint64(s.data[s.at:])
		quote, slash := w^ones*'"', w^ones*'\\'
		// The lowest mark is right; those above it may be carried over.
		if marks := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs; marks != 0 {
			s.at += bits.TrailingZeros64(marks) / 8
			return
		}
	}
	for ; s.at < len(s.data); s.at++ {
		if c := s.data[s.at]; c == '"' || c == '\\' || c < 0x20 {
			return
		}
	}
}

// escape passes over an escape and reports whether it is one.
func (s *scanner) escape() bool {
	rest := s.data[s.at:]
	switch {
	case len(rest) >= 2 && bytes.IndexByte([]byte(`"\/bfnrt`), rest[1]) >= 0:
		s.at += 2
		return true
	case len(rest) >= 6 && rest[1] == 'u' && hex4(rest[2:]) >= 0:
		s.at += 6
		return true
	}
	return false
}

// hex4 reads four hexadecimal digits; -1 where there are none.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20-'a' < 6:
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// quoted takes a string. The result may be part of the scanned text.
func (s *scanner) quoted() []byte {
	text, escaped := s.raw()
	if escaped {
		return unescape(text)
	}
	return text
}

// unescape resolves escapes, which raw has found to be right. Half of a
// surrogate pair becomes U+FFFD.
func unescape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(out, text...)
		}
		out = append(out, text[:i]...)
		c := text[i+1]
		text = text[i+2:]
		switch j := bytes.IndexByte([]byte("bfnrt"), c); {
		case c == 'u':
			r := hex4(text)
			text = text[4:]
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(text) >= 6 && text[0] == '\\' && text[1] == 'u' {
					low = hex4(text[2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					text = text[6:]
				}
			}
			out = utf8.AppendRune(out, r)
		case j >= 0:
			out = append(out, "\b\f\n\r\t"[j])
		default:
			out = append(out, c)
		}
	}
}

// The following read a value of one kind.

func (s *scanner) text(v *string) {
	if s.is('"') {
		*v = string(s.quoted())
	}
}

// boolean reads true or false.
func (s *scanner) boolean(v *bool) {
	switch s.peek() {
	case 't':
		*v = true
	case 'f':
		*v = false
	case 'n':
	default:
		s.wrong = true
	}
	s.skip()
}

func (s *scanner) int64(v *int64) {
	if c := s.peek(); c != '-' && c-'0' >= 10 {
		s.is('0')
		return
	}
	n, err := strconv.ParseInt(string(s.number()), 10, 64)
	if err != nil {
		s.wrong = true
		return
	}
	*v = n
}

func (s *scanner) int(v *int) {
	n := int64(*v)
	s.int64(&n)
	*v = int(n)
}
