package store_test

import (
	"strings"
	"testing"
	"time"

	"planbridge/store"
	"planbridge/store/memstore"
	"planbridge/store/storetest"
)

// TestDocuments: a missing document is no error, and an empty one reads as empty. The error of an
// undecodable one names it.
func TestDocuments(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: storetest.Clock(time.Now)}).Open(nil)
	for name, text := range map[string]string{"empty": "", "broken": "{", "plain": `{"a":1}`} {
		if err := store.WriteDoc(t.Context(), s, "p", name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.WriteJSON(t.Context(), s, "p", "written", map[string]int{"a": 2}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		known bool // according to ReadDoc
		found bool // according to ReadJSON
		a     int
		says  string
	}{
		{"none", false, false, 7, ""},
		{"empty", true, true, 7, "read document empty: "},
		{"broken", true, true, 7, "read document broken: "},
		{"plain", true, true, 1, ""},
		{"written", true, true, 2, ""},
	} {
		text, err := store.ReadDoc(t.Context(), s, "p", tt.name)
		if err != nil || (text != nil) != tt.known {
			t.Errorf("ReadDoc of %s: %q, %v", tt.name, text, err)
		}
		v := map[string]int{"a": 7}
		found, err := store.ReadJSON(t.Context(), s, "p", tt.name, &v)
		if found != tt.found || v["a"] != tt.a || (err == nil) != (tt.says == "") || err != nil && !strings.HasPrefix(err.Error(), tt.says) {
			t.Errorf("ReadJSON of %s: %v, %v, %v; expected %+v", tt.name, found, v, err, tt)
		}
	}
}
