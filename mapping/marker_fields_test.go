package mapping

import (
	"encoding/hex"
	"testing"
)

// TestParseOfSignedFields: a signature alone makes no marker, where the fields are not those of
// one. A later form of markers is not taken for today's.
func TestParseOfSignedFields(t *testing.T) {
	key := []byte("key")
	keys := NewKeys(key)
	for text, want := range map[string]Marker{
		"planbridge-1.c.link.nonce.a-2fb": {MarkCard, "link", "nonce", "a/b"},
		"planbridge-2.c.link.nonce.a":     {},
		"planbridge-1.c.link.nonce":       {},
		"planbridge-1.c.link.nonce.a.b":   {},
		"planbridge-1.c.link.nonce.a-":    {},
		"planbridge-1.c.link.nonce.a-2":   {},
		"planbridge-1.c.link.no-zznce.a":  {},
	} {
		got, ok := keys.Parse(text + "." + hex.EncodeToString(signature(key, text)))
		if got != want || ok != (want != Marker{}) {
			t.Errorf("Parse of %s = %+v, %v", text, got, ok)
		}
	}
}

// TestFieldsOfAnyBytes: an id of any bytes comes back, and stands in a marker as ASCII letters,
// digits and hyphens alone.
func TestFieldsOfAnyBytes(t *testing.T) {
	var all []byte
	for c := range 256 {
		all = append(all, byte(c))
	}
	for _, field := range []string{"", "az", "AZ", "09", "/:@[`{", "a-b", "-", "é日", string(all)} {
		escaped := escapeField(field)
		for _, c := range []byte(escaped) {
			if c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
				t.Errorf("%q is written as %q", field, escaped)
			}
		}
		if got, err := unescapeField(escaped); err != nil || got != field {
			t.Errorf("%q comes back as %q, %v", field, got, err)
		}
	}
	if got := escapeField("azAZ09"); got != "azAZ09" {
		t.Errorf("letters and digits are written as %q", got)
	}
	for _, broken := range []string{"-", "a-2", "a-zz", "a-2-"} {
		if got, err := unescapeField(broken); err == nil || got != "" {
			t.Errorf("%q is read as %q", broken, got)
		}
	}
}

// TestMarkerOfNobody: a text that is no marker of ours gives none of its parts away.
func TestMarkerOfNobody(t *testing.T) {
	key := []byte("key")
	keys := NewKeys(key)
	signed := keys.Sign(Marker{MarkCard, "link", "nonce", "partner"})
	for _, text := range []string{"", ".", signed[1:], signed + "0", "." + hex.EncodeToString(signature(key, "")), "planbridge-1.c.link.nonce.a-." + hex.EncodeToString(signature(key, "planbridge-1.c.link.nonce.a-"))} {
		if m, ok := keys.Parse(text); ok || m != (Marker{}) {
			t.Errorf("%q is read as %+v, %v", text, m, ok)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a marker is signed without a key")
		}
	}()
	NewKeys().Sign(Marker{})
}
