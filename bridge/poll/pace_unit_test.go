package poll

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// TestPause: the bounds of the pause from below and from above.
func TestPause(t *testing.T) {
	now := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	active, future := Sprint{ID: "active", Active: true}, Sprint{ID: "future", Future: true}
	for _, tt := range []struct {
		name              string
		shortest, longest time.Duration
		calls             int
		sprints           []Sprint
		edit              time.Duration // ago
		in                mapping.ObjectID
		took              time.Duration
		want              time.Duration
	}{
		{"nobody works", 2 * time.Second, 30 * time.Second, 2, nil, activeTime, backlogListing, 0, 30 * time.Second},
		{"fixed", 30 * time.Second, 30 * time.Second, 2, nil, time.Second, backlogListing, 0, 30 * time.Second},
		{"not configured", 0, 30 * time.Second, 2, nil, time.Second, backlogListing, 0, 30 * time.Second},
		{"longer than the longest", 2 * time.Second, 150 * time.Millisecond, 2, nil, time.Second, backlogListing, 0, 150 * time.Millisecond},
		{"one listing of two", 2 * time.Second, 30 * time.Second, 2, nil, time.Second, backlogListing, 0, 30 * time.Second / 9},
		{"the active sprint, too", 2 * time.Second, 30 * time.Second, 3, []Sprint{active}, time.Second, backlogListing, 0, 30 * time.Second * 2 / 14},
		{"nobody is at the future sprint", 2 * time.Second, 30 * time.Second, 4, []Sprint{active, future}, time.Second, backlogListing, 0, 30 * time.Second / 9},
		{"somebody is", 2 * time.Second, 30 * time.Second, 4, []Sprint{active, future}, time.Second, "future", 0, 30 * time.Second * 3 / 19},
		{"the shortest", 5 * time.Second, 30 * time.Second, 2, nil, time.Second, backlogListing, 0, 5 * time.Second},
		{"a slow service", 2 * time.Second, 30 * time.Second, 2, nil, time.Second, backlogListing, 2 * time.Second, 10 * time.Second},
		{"a very slow one", 2 * time.Second, 30 * time.Second, 2, nil, time.Second, backlogListing, time.Minute, 30 * time.Second},
	} {
		p := newPace(tt.shortest, tt.longest)
		p.full, p.calls, p.sprints = now.Add(-time.Second), tt.calls, tt.sprints
		p.edited(tt.in, now.Add(-tt.edit))
		p.done(now.Add(-tt.took), now)
		if got := p.pause(); got != tt.want {
			t.Errorf("%s: the pause is %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestLightDue: a full round comes at the longest pause, and first of all.
func TestLightDue(t *testing.T) {
	now := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	p := newPace(2*time.Second, 30*time.Second)
	p.edited(backlogListing, now)
	if p.lightDue(now) {
		t.Error("the first round is a light one")
	}
	p.full = now
	if !p.lightDue(now.Add(29*time.Second)) || p.lightDue(now.Add(30*time.Second)) {
		t.Error("the full round is not due at the longest pause")
	}
	p.rest()
	if p.lightDue(now) || p.pause() != 30*time.Second {
		t.Error("a round after a failed one is a light one, or early")
	}
}
