package mapping

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MarkerKind is the kind of item that carries a marker.
type MarkerKind string

// The kinds of marked items.
const (
	MarkIssue    MarkerKind = "i" // an issue; its partner is a card
	MarkSubIssue MarkerKind = "s" // a sub-issue; its partner is a task
	MarkCard     MarkerKind = "c" // a card; its partner is an issue
	MarkTask     MarkerKind = "t" // a task; its partner is the item that it stands for
	MarkConflict MarkerKind = "x" // a comment that holds a conflict's losing text
	MarkSprint   MarkerKind = "m" // a milestone; its partner is a sprint
)

// Marker is the signed record that an item made by the bridge carries.
type Marker struct {
	Kind  MarkerKind
	Link  LinkID
	Nonce string // of the intent that created the item
	// Partner is the database id of the item's partner: the issue's for a card, the card's for an
	// issue. For a task it is the item that it stands for, for a comment the conflict's id and the
	// part.
	Partner string
}

// A marker is `planbridge-1.<kind>.<link>.<nonce>.<partner>.<signature>`. It has dots, hyphens,
// ASCII letters and digits only. So a URL keeps it whole, and no Markdown processing finds anything
// to emphasise, escape or cut off. The signature is the first 128 bits of an HMAC-SHA256 over what
// stands before it, in hexadecimal.
const (
	markerVersion = "planbridge-1"
	signatureSize = 16
)

// Keys signs markers with its first key and accepts those of all. The zero
// value accepts nothing.
type Keys struct {
	keys [][]byte
	// project is the digest of the only project whose markers count; "": all projects' markers
	// count.
	project string
}

// NewKeys returns Keys with copies of the given keys, the signing one first. The configuration
// bounds the length of a key.
func NewKeys(keys ...[]byte) Keys {
	k := Keys{keys: make([][]byte, len(keys))}
	for i := range keys {
		k.keys[i] = bytes.Clone(keys[i])
	}
	return k
}

// In returns keys for items of one planning project. A marker that was signed for another project
// does not count there. It was copied, within this deployment or from one with the same keys.
// [Keys.Body] removes it all the same.
func (k Keys) In(project ObjectID) Keys {
	k.project = projectDigest(project)
	return k
}

// projectNonce is a nonce that names its project: 16 random hexadecimal digits,
// and 12 of a digest of the project's id.
var projectNonce = regexp.MustCompile(`^[0-9a-f]{16}p([0-9a-f]{12})$`)

// NewNonceIn returns a fresh random nonce that names the project too.
func NewNonceIn(project ObjectID) string { return NonceIn(project, NewNonce()) }

// NonceIn adds to a nonce which project it is for, so that a marker's signature covers the
// deployment. A marker's partner covers the repository: an issue's database id belongs to one
// repository alone.
func NonceIn(project ObjectID, nonce string) string { return nonce + "p" + projectDigest(project) }

func projectDigest(project ObjectID) string {
	sum := sha256.Sum256([]byte(project))
	return hex.EncodeToString(sum[:6])
}

// of reports whether the marker may be of the project with that digest. A nonce
// of an older release names no project.
func (m Marker) of(project string) bool {
	named := projectNonce.FindStringSubmatch(m.Nonce)
	return named == nil || project == "" || named[1] == project
}

// IsFor reports whether the marker may be of an item of the project.
func (m Marker) IsFor(project ObjectID) bool { return m.of(projectDigest(project)) }

// Sign returns the marker's text. It panics where there is no key, as a marker
// that nobody can verify must not get out.
func (k Keys) Sign(m Marker) string {
	if len(k.keys) == 0 {
		panic("mapping: sign a marker: no key")
	}
	text := strings.Join([]string{
		markerVersion, escapeField(string(m.Kind)), escapeField(string(m.Link)), escapeField(m.Nonce), escapeField(m.Partner),
	}, ".")
	return text + "." + hex.EncodeToString(signature(k.keys[0], text))
}

// Parse returns the marker that text is, and false where text is none or one of
// the keys did not sign it.
func (k Keys) Parse(text string) (Marker, bool) {
	dot := strings.LastIndexByte(text, '.')
	if dot < 0 {
		return Marker{}, false
	}
	sum, err := hex.DecodeString(text[dot+1:])
	if err != nil || !k.signed(text[:dot], sum) {
		return Marker{}, false
	}
	fields := strings.Split(text[:dot], ".")
	if len(fields) != 5 || fields[0] != markerVersion {
		return Marker{}, false
	}
	for i, f := range fields[1:] {
		if fields[i+1], err = unescapeField(f); err != nil {
			return Marker{}, false
		}
	}
	return Marker{Kind: MarkerKind(fields[1]), Link: LinkID(fields[2]), Nonce: fields[3], Partner: fields[4]}, true
}

func (k Keys) signed(text string, sum []byte) bool {
	for _, key := range k.keys {
		if hmac.Equal(signature(key, text), sum) {
			return true
		}
	}
	return false
}

func signature(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)[:signatureSize]
}

// escapeField writes every byte that is no ASCII letter or digit as a hyphen
// and two hexadecimal digits. Ids are opaque, so any byte may come.
func escapeField(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; isWord(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "-%02x", c)
		}
	}
	return b.String()
}

func unescapeField(s string) (string, error) {
	var b strings.Builder
	for s != "" {
		plain, escaped, found := strings.Cut(s, "-")
		b.WriteString(plain)
		if !found {
			break
		}
		if len(escaped) < 2 {
			return "", strconv.ErrSyntax
		}
		c, err := hex.DecodeString(escaped[:2])
		if err != nil {
			return "", err
		}
		b.Write(c)
		s = escaped[2:]
	}
	return b.String(), nil
}

// isWord reports whether c is an ASCII letter or digit.
func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// markerForm is a marker in a text, with the backslashes that a Markdown
// writer may have put before its punctuation.
const markerForm = `planbridge\\?-1(?:\\?\.(?:[A-Za-z0-9]|\\?-)*){4}\\?\.[0-9a-f]{32}`

var markerInText = regexp.MustCompile(markerForm)

// parseForm parses a match of markerForm.
func (k Keys) parseForm(text string) (Marker, bool) {
	return k.Parse(strings.ReplaceAll(text, `\`, ""))
}

// Find returns all valid markers in a text, in their order.
func (k Keys) Find(text string) []Marker {
	var found []Marker
	for _, form := range markerInText.FindAllString(text, -1) {
		if m, ok := k.parseForm(form); ok && m.of(k.project) {
			found = append(found, m)
		}
	}
	return found
}
