package status

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
)

// slow is an Operator whose links take their time.
type slow struct {
	Operator
	takes time.Duration
	links int
	reads int
}

func (s *slow) Links(_ context.Context, _ string, visit func(*mapping.Link) error) error {
	s.reads++
	<-time.After(s.takes) // of the bubble's clock
	for range s.links {
		if err := visit(&mapping.Link{Route: "web", State: mapping.Linked}); err != nil {
			return err
		}
	}
	return nil
}

func TestTally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := &slow{takes: 2 * time.Second, links: 3}
		c := newTally()
		want := func(links, reads int) {
			t.Helper()
			counts, err := c.get(t.Context(), op)
			if err != nil {
				t.Fatal(err)
			}
			if got := counts["web"][mapping.Linked]; got != links || op.reads != reads {
				t.Errorf("%d links after %d counts, want %d after %d", got, op.reads, links, reads)
			}
		}
		for range 5 { // at the same time: one count for all
			go func() { _, _ = c.get(t.Context(), op) }()
		}
		synctest.Wait()
		want(3, 1)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.get(gone, op); err == nil && op.reads != 1 {
			t.Error("counted for somebody who left")
		}
		op.links = 4
		want(3, 1)
		// Good for ten times what it took.
		<-time.After(20*time.Second - time.Nanosecond)
		want(3, 1)
		<-time.After(time.Nanosecond)
		want(4, 2)
	})
}

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
