package randomtest_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// size is how large a random run is. The zero value of a field but lasts and items leaves
// things as they are in a run of some seconds.
type size struct {
	name  string
	lasts time.Duration // how long people work, before the last hour
	items int           // issues and cards that they make, at most
	grows int           // of a hundred acts, so many make one; until there are four each does
	acts  int           // of people, in the whole run; 0: as many as there is time for
	lull  int           // people and fate wait so many times as long between what they do
	// between bounds how long operators wait between two stops of a bridge.
	between [2]time.Duration
	// poll, catchUp and sweep are intervals of the bridges.
	poll, catchUp, sweep time.Duration
}

// lasting is the size of a run in which people work for some time.
func lasting(d time.Duration) size {
	return size{
		lasts: d, items: 8, grows: 4, lull: 1, between: [2]time.Duration{time.Second, 6 * time.Second},
		poll: 250 * time.Millisecond, catchUp: 500 * time.Millisecond, sweep: 2 * time.Second,
	}
}

// small has 8 items and 60 edits.
func small() size {
	s := lasting(10 * time.Second)
	s.name, s.acts = "small", 60
	s.poll, s.catchUp = 500*time.Millisecond, time.Second // most of the run is spent waiting for all to rest
	return s
}

// large has 60 items, 700 edits and about 10 crashes, in two hours.
func large() size {
	return size{
		name: "large", lasts: 2 * time.Hour, items: 60, grows: 20, acts: 700, lull: 50, between: [2]time.Duration{8 * time.Minute, 16 * time.Minute},
		poll: 5 * time.Second, catchUp: 15 * time.Second, sweep: time.Minute,
	}
}

// shares are how many of a hundred acts of a run people do at the kinds of turns. Others,
// such as those of an hour in which nothing goes wrong, are not bounded.
var shares = map[string]int{"people": 60, "flurry": 20, "evening": 12, "unheard": 8}

// allows reports whether people may act once more at a kind of turns of which some were.
func (s size) allows(kind string, were int) bool {
	share, bounded := shares[kind]
	return s.acts == 0 || !bounded || were < s.acts*share/100
}

// restFor is how long nothing may happen before all is at rest. It is longer than any delay of
// fate, and a poll, a listing of GitHub and a sweep of the tasks.
func (s size) restFor() time.Duration { return s.catchUp + s.sweep + chaosSettle }

// restWithin is the patience with a world that is to come to rest.
func (s size) restWithin() time.Duration { return restWithin + 20*(s.sweep-2*time.Second) }

// String tells how the run is asked for.
func (s size) String() string {
	if s.name != "" {
		return "SIZE=" + s.name
	}
	return fmt.Sprintf("SECONDS=%d", int(s.lasts.Seconds()))
}

// sizeOf reads a size by its name, or by how many seconds people work; "": some seconds.
func sizeOf(name, seconds string) (size, error) {
	switch name {
	case "small":
		return small(), nil
	case "large":
		return large(), nil
	case "":
	default:
		return size{}, fmt.Errorf("the size %q is neither small nor large", name)
	}
	if seconds == "" {
		return lasting(8 * time.Second), nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(seconds))
	if err != nil {
		return size{}, fmt.Errorf("the seconds of a run: %w", err)
	}
	return lasting(time.Duration(n) * time.Second), nil
}
