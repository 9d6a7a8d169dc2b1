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
