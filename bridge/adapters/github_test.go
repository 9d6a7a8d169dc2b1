package adapters

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"planbridge/mapping"
)

// TestActed: the bridge's own events decide, from a moment on, and the last of them. Those of others
// and of other labels do not.
func TestActed(t *testing.T) {
	const (
		ours  = `{"event": "labeled", "actor": {"login": "bridge"}, "label": {"name": "Doing"}, "created_at": "2026-03-01T12:00:05Z"}`
		back  = `{"event": "unlabeled", "actor": {"login": "bridge"}, "label": {"name": "doing"}, "created_at": "2026-03-01T12:00:06Z"}`
		other = `{"event": "labeled", "actor": {"login": "octocat"}, "label": {"name": "doing"}, "created_at": "2026-03-01T12:00:07Z"}`
		label = `{"event": "labeled", "actor": {"login": "bridge"}, "label": {"name": "bug"}, "created_at": "2026-03-01T12:00:08Z"}`
	)
	for name, tt := range map[string]struct {
		events string
		since  int // seconds
		want   bool
	}{
		"it did":                           {ours, 5, true},
		"it did before":                    {ours, 6, false},
		"it did, and took it back":         {ours + "," + back, 5, false},
		"it did, took it back and did":     {back + "," + ours, 5, true},
		"somebody else did":                {other, 5, false},
		"it did, and so did somebody else": {ours + "," + other, 5, true},
		"it set another label":             {label, 5, false},
		"nobody did":                       {"", 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/user" {
					w.Write([]byte(`{"login": "bridge"}`)) //nolint:errcheck // the client may be gone
					return
				}
				w.Write([]byte("[" + tt.events + "]")) //nolint:errcheck // the client may be gone
			}))
			t.Cleanup(server.Close)
			g := adapterOf(t, server.URL)
			if _, err := g.Viewer(t.Context()); err != nil {
				t.Fatal(err)
			}
			since := time.Date(2026, 3, 1, 12, 0, tt.since, 0, time.UTC)
			if got, err := g.Acted(t.Context(), "acme/web", 1, since, mapping.Act{Event: mapping.ActLabeled, Label: "doing"}); err != nil || got.IsZero() == tt.want {
				t.Errorf("%v, %v; want %v", got, err, tt.want)
			}
		})
	}
}
