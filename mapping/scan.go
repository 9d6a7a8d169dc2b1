package mapping

import (
	"cmp"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// liveKind is the kind of a live place, and the beginning of its token.
type liveKind string

const (
	liveMention liveKind = "@"
	liveNumber  liveKind = "#"
	liveGH      liveKind = "gh-"
	liveURL     liveKind = "://" // of an issue, a pull request, a discussion or a commit
	liveProgram liveKind = ":"   // a link that runs a program or holds a document
)

// live is a place in a text that GitHub or a browser may act on. A mark at end
// keeps them from it.
type live struct {
	kind liveKind
	end  int
	to   int // where the word of a URL ends
}

// These bound the text that tells one live place from another.
const (
	maxName = 140 // length of an account's or a team's name, or of a number
	maxURL  = 256
)

var (
	mentionName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*(?:/[a-z0-9._-]+)?`)
	digits      = regexp.MustCompile(`^[0-9]+`)
)

// token identifies a live place, so that the same mention is found in another text.
func (f live) token(text string) string {
	switch f.kind {
	case liveURL:
		word := text[f.end:min(f.to, f.end+maxURL)]
		if at := strings.IndexAny(word, "<>()[]\"'*|` \t\r\n"); at >= 0 {
			word = word[:at]
		}
		return string(f.kind) + strings.ToLower(strings.TrimRight(word, ".,:;!?"))
	case liveProgram:
		word := text[f.end:min(len(text), f.end+maxURL)]
		return string(f.kind) + word[:len(word)-len(strings.TrimLeftFunc(word, func(r rune) bool { return !unicode.IsSpace(r) }))]
	}
	var name strings.Builder
	for at := f.end; at < len(text) && name.Len() < maxName; {
		r, size := unitAt(text, at)
		if r != gap && !isASCIIWord(r) && !strings.ContainsRune("_-./", r) {
			break
		}
		if at += size; r != gap {
			name.WriteRune(unicode.ToLower(r))
		}
	}
	pattern := digits
	if f.kind == liveMention {
		pattern = mentionName
	}
	if found := pattern.FindString(name.String()); found != "" {
		return string(f.kind) + found
	}
	return string(f.kind) + text[f.end:min(len(text), f.end+maxName)] // hidden by the text behind it
}

// gap stands for a backslash that may only quote the character behind it.
const gap rune = -1

var charRef = regexp.MustCompile(`^&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[a-zA-Z][a-zA-Z0-9]{1,31};)`)

// unitAt decodes the character at an offset as Markdown or raw HTML may. It may be an escape, a
// character reference (in HTML also without its semicolon), or the character itself.
func unitAt(text string, at int) (r rune, size int) {
	switch c := text[at]; {
	case c == '\\' && at+1 < len(text) && isPunctuation(text[at+1]):
		return gap, 1
	case c == '&':
		if ref := charRef.FindString(text[at:]); ref != "" {
			if decoded := html.UnescapeString(ref); decoded != ref && (ref[1] == '#' || !strings.HasSuffix(decoded, ";")) {
				r, _ = utf8.DecodeRuneInString(decoded)
				return r, len(ref)
			}
		}
	case c < utf8.RuneSelf:
	default:
		return utf8.DecodeRuneInString(text[at:])
	}
	return rune(text[at]), 1
}

func isPunctuation(c byte) bool {
	return c > ' ' && c < 0x7f && !isASCIIWord(rune(c))
}

func isASCIIWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// scanner finds the live places of a text in one pass over its decoded characters. Its state does
// not grow with the text, except for the "//" of one word.
type scanner struct {
	text  string
	inert spans
	found []live

	before [3]decoded // the last characters, the very last first
	gap    bool       // a gap followed it
	ref    bool       // HTML may read a character reference here

	// These are of the word, which ends at white space outside tags and comments.
	tag     bool
	slashes []int  // ends of "//" and "www." that no issue's path followed yet
	segment []byte // since the last slash
	armed   bool   // an issue's path without its number was read
	urls    int    // index of the first one found in this word

	// These are of a possible address of a link.
	opened bool
	scheme []byte
	end    int // of the scheme
}

// decoded is a character of the decoded text.
type decoded struct {
	r    rune // in lower case
	word bool // an ASCII letter or digit that stands for itself
	gap  bool // a gap stands before it
}

// scan returns the live places of a text in order.
func scan(text string) []live {
	if !strings.ContainsAny(text, "@#-/:&") {
		return nil
	}
	s := scanner{text: text, inert: inertSpans(text)}
	for at := 0; at < len(text); {
		r, size := unitAt(text, at)
		if r == gap {
			s.gap = true
		} else {
			s.advance(r, at, at+size)
		}
		at += size
	}
	s.endWord(len(text))
	slices.SortFunc(s.found, func(a, b live) int { return cmp.Compare(a.end, b.end) })
	return s.found
}

func (s *scanner) add(kind liveKind, at, end int) {
	if !s.inert.hold(at) {
		s.found = append(s.found, live{kind: kind, end: end})
	}
}

// advance takes in the next character, which text[from:to] stands for.
func (s *scanner) advance(r rune, from, to int) {
	itself := to-from == 1
	s.ref = itself && (r == '&' || s.ref && (r == '#' || isASCIIWord(r)))
	now := decoded{r: unicode.ToLower(r), word: itself && isASCIIWord(r) && !s.ref, gap: s.gap}
	last := s.before[0]
	switch {
	case r == '@' && !(last.word && itself && !now.gap) && s.next(to, startsName):
		s.add(liveMention, from, to)
	case r == '#' && s.next(to, startsNumber):
		s.add(liveNumber, from, to)
	case r == '-' && s.followsGH() && s.next(to, startsNumber):
		s.add(liveGH, from, to)
	}
	s.tag = r == '<' && itself || s.tag && r != '>'
	if unicode.IsSpace(r) && itself && !s.tag {
		s.endWord(from)
	} else {
		s.inURL(now, from, to)
	}
	s.inLink(now.r, from, to)
	s.before = [3]decoded{now, s.before[0], s.before[1]}
	s.gap = false
}

// next reports whether the character at an offset fits. A tag or a possible character reference
// hides the visible character, and fits.
func (s *scanner) next(at int, fits func(rune) bool) bool {
	for at < len(s.text) {
		r, size := unitAt(s.text, at)
		if r != gap {
			return r == '<' || r == '&' || fits(r)
		}
		at += size
	}
	return false
}

func startsName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}

func startsNumber(r rune) bool { return r >= '0' && r <= '9' }

// followsGH reports whether "gh" stands before, or may: the end of a tag or a
// comment may hide it.
func (s *scanner) followsGH() bool {
	h, g, before := s.before[0], s.before[1], s.before[2]
	return h.r == '>' || h.r == 'h' && (g.r == '>' || g.r == 'g' && !(before.word && g.word && !g.gap))
}

// inURL looks for the URLs of issues.
func (s *scanner) inURL(now decoded, from, to int) {
	if s.armed {
		for _, end := range s.slashes {
			s.found = append(s.found, live{kind: liveURL, end: end, to: len(s.text)})
		}
		s.slashes, s.armed = s.slashes[:0], false
	}
	isWWW := now.r == '.' && s.before[0].r == 'w' && s.before[1].r == 'w' && s.before[2].r == 'w'
	switch {
	case now.r == '/' && (s.before[0].r == '/' || s.before[0].r == '>') || isWWW: // a tag may hide the first slash
		if !s.inert.hold(from) {
			s.slashes = append(s.slashes, to)
		}
	case now.r == '/':
		s.armed = len(s.slashes) > 0 && isIssuePath(s.segment)
	}
	if now.r == '/' {
		s.segment = s.segment[:0]
	} else if len(s.segment) <= maxSegment {
		s.segment = utf8.AppendRune(s.segment, now.r)
	}
}

// maxSegment is the longest spelling of a segment of [issuePaths], each
// character percent-encoded.
const maxSegment = 3 * len("discussions")

func isIssuePath(segment []byte) bool {
	name := string(segment)
	if plain, err := url.PathUnescape(name); err == nil {
		name = strings.ToLower(plain)
	}
	switch name {
	case "issues", "pull", "pulls", "discussions", "commit", "commits":
		return true
	}
	return false
}

func (s *scanner) endWord(at int) {
	for i := s.urls; i < len(s.found); i++ {
		s.found[i].to = at
	}
	s.urls = len(s.found)
	s.slashes, s.segment, s.armed = s.slashes[:0], s.segment[:0], false
}

// inLink finds links that run programs or hold documents. These are schemes where an address may
// begin, as in Markdown, in a tag or in an attribute. Browsers drop control characters in it.
func (s *scanner) inLink(r rune, from, to int) {
	afterLabel := s.before[0].r == ']' && !s.gap
	switch {
	case s.opened && r == ':' && isProgram(s.scheme):
		s.add(liveProgram, from, s.end)
		s.opened = false
	case r == '<', r == '=', afterLabel && (r == '(' || r == ':'):
		s.opened, s.scheme = true, s.scheme[:0]
	case !s.opened:
	case r >= 'a' && r <= 'z' && len(s.scheme) < len("javascript"):
		s.scheme, s.end = append(s.scheme, byte(r)), to
	case r < ' ':
	case len(s.scheme) == 0 && (unicode.IsSpace(r) || strings.ContainsRune("\"'`>", r)):
	default:
		s.opened = false
	}
}

func isProgram(scheme []byte) bool {
	switch string(scheme) {
	case "javascript", "vbscript", "data":
		return true
	}
	return false
}
