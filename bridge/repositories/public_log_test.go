package repositories

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/bridge/logtest"
)

// TestPublicIsOneFact: a public repository is a line when it first stops a projection, and one a
// minute after that. The end is a line when it is private again.
func TestPublicIsOneFact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logtest.Text
		logger := slog.New(factlog.NewHandler(slog.NewTextHandler(&log, nil), clock.Runtime{}))
		r := New(Options{Logger: logger})
		r.visible.put("acme/web", visibility{}, visibility{public: true, told: true, until: time.Now().Add(time.Hour)})
		for range 150 { // a write a second is withheld
			if public, known := r.Public(t.Context(), "acme/web", true); !public || !known {
				t.Fatal(public, known)
			}
			time.Sleep(time.Second)
		}
		if n := strings.Count(log.String(), "fact="); n != 3 {
			t.Errorf("%d lines in two and a half minutes:\n%s", n, log.String())
		}
		r.logPublic("acme/web", true, false)
		r.logPublic("acme/api", true, false)
		factlog.Flush(t.Context(), logger)
		if n := strings.Count(log.String(), "over="); n != 1 || !strings.Contains(log.String(), "the repository is private again") {
			t.Errorf("the end:\n%s", log.String())
		}
	})
}
