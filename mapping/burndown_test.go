package mapping_test

import (
	"testing"
	"time"

	"planbridge/mapping"
)

func TestBurndownNow(t *testing.T) {
	start := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	day := func(n float64) time.Time { return start.Add(time.Duration(n * 24 * float64(time.Hour))) }
	b := mapping.Burndown{Start: start, Original: 40, Remaining: []float64{38, 30, 12}}
	for _, tt := range []struct {
		at   time.Time
		want float64
	}{{day(-3), 38}, {day(0), 38}, {day(0.5), 38}, {day(1).Add(-1), 38}, {day(1), 30}, {day(2).Add(-1), 30}, {day(2), 12}, {day(2.9), 12}, {day(9), 12}} {
		if got := b.Now(tt.at); got != tt.want {
			t.Errorf("at %v %v hours are left, want %v", tt.at, got, tt.want)
		}
	}
	b.Start = time.Time{}
	if got := b.Now(day(0)); got != 12 {
		t.Errorf("of a sprint without a start %v hours are left, want the last that is told", got)
	}
	b.Remaining = nil
	if got := b.Now(day(0)); got != 40 {
		t.Errorf("where nothing is told %v hours are left, want what was planned", got)
	}
}
