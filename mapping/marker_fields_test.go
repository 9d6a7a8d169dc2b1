package mapping

import (
	"encoding/hex"
	"testing"
)

// TestParseOfSignedFields: a marker that a key of ours signed, and that is none, is none. A later
// form of markers is not taken for one of today.
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
