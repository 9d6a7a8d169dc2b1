package planning

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestAnswersMayBeCompressed: the service is told that gzip is understood, and a listing
// that it compresses is read as it streams.
func TestAnswersMayBeCompressed(t *testing.T) {
	compressed := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var out io.Writer = w
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			compressed++
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			out = z
		}
		_, _ = io.WriteString(out, `[{"bucket":"Incoming","id":{"$oid":"b"},"items":[{"_id":{"$oid":"c"},"cid":1,"version":1,"title":{"value":"A card","version":1}}]}]`)
	}))
	defer server.Close()
	var titles []string
	err := client(t, server.URL).BacklogEach(t.Context(), func(_ mapping.ObjectID, _ string, card mapping.Card) error {
		titles = append(titles, card.Title.Value)
		return nil
	})
	if err != nil || compressed != 1 || len(titles) != 1 || titles[0] != "A card" {
		t.Errorf("read %q from %d compressed answers: %v", titles, compressed, err)
	}
}
