package seen

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// TestTimesAreKeptWhereTheyAreKnown: a first poll, which bounds no change, keeps no room for
// times. A later change keeps its own, and those of the attributes that stayed.
func TestTimesAreKeptWhereTheyAreKnown(t *testing.T) {
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	polled := mapping.Interval{From: noon, To: noon.Add(time.Minute)}
	later := mapping.Interval{From: noon.Add(time.Hour), To: noon.Add(time.Hour + time.Minute)}
	c := mapping.Card{Title: mapping.Versioned{Value: "One", Version: 1}}

	var k Entry
	if got := k.TakeVersions(&c, true, mapping.Interval{}); len(got) != 0 || k.Times != nil {
		t.Errorf("a first poll: %v, kept %v", got, k.Times)
	}
	c.Title.Version++
	if got := k.TakeVersions(&c, false, polled); len(got) != 1 || got[mapping.Title] != polled {
		t.Errorf("the title changed: %v", got)
	}
	c.Summary.Version++
	before := k.Times
	if got := k.TakeVersions(&c, false, later); len(got) != 2 || got[mapping.Title] != polled || got[mapping.Summary] != later {
		t.Errorf("the summary changed after it: %v", got)
	}
	if *before != [4]mapping.Interval{polled} {
		t.Errorf("the times of the entry before are %v", *before)
	}
	c.Title.Version++
	if got := k.TakeVersions(&c, false, mapping.Interval{}); len(got) != 1 || got[mapping.Summary] != later {
		t.Errorf("nobody knows when the title changed again: %v", got)
	}
	restarted := Entry{}
	if got := restarted.TakeVersions(&c, false, polled); len(got) != 0 || restarted.Times != nil || !restarted.Told {
		t.Errorf("another process, which does not know the versions before: %v, kept %v", got, restarted.Times)
	}
}
