package status

import (
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "now", time.Second: "1 s ago", 59 * time.Second: "59 s ago", 90 * time.Second: "1 min ago",
		47 * time.Hour: "47 h ago", 49 * time.Hour: "2 days ago", -time.Hour: "now",
	} {
		if got := ago(now, now.Add(-d)); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := ago(now, time.Time{}); got != "–" {
		t.Errorf("never: %q", got)
	}
}
