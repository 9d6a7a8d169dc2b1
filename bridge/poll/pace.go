package poll

import (
	"sync/atomic"
	"time"

	"planbridge/mapping"
)

const (
	// activeTime is how long after an edit somebody counts as working.
	activeTime = 5 * time.Minute
	// restFactor is the least ratio of a pause to the duration of the last round.
	restFactor = 5
	// Six active hours a day may cost as many extra calls as one more day of rounds at the longest
	// pause. They may cost as many extra bytes as two more days. So the light rounds of one longest
	// pause may have extraCalls times its calls, and extraBytes times its bytes.
	extraCalls, extraBytes = 4, 8
)

// pace says when the next round is due and what it reads. While somebody works, light rounds
// come between the full ones, which come at the longest pause. A light round reads the
// listings that people work in. Only rounds change it; next may be read at any time.
type pace struct {
	shortest, longest time.Duration

	next      atomic.Int64                   // the pause until the next round, a time.Duration
	full      time.Time                      // when the last complete full round began
	calls     int                            // of that round, without its sweep
	sprints   []Sprint                       // that it listed
	edits     map[mapping.ObjectID]time.Time // when an edit was last seen, by listing
	lastEdit  time.Time
	lastRound time.Duration // how long it took
}

// newPace returns the pace between two bounds. A shortest pause of zero, or above the longest,
// fixes it to the longest.
func newPace(shortest, longest time.Duration) *pace {
	if shortest <= 0 || shortest > longest {
		shortest = longest
	}
	p := &pace{shortest: shortest, longest: longest, edits: map[mapping.ObjectID]time.Time{}}
	p.next.Store(int64(longest))
	return p
}

// pause is the time until the next round.
func (p *pace) pause() time.Duration { return time.Duration(p.next.Load()) }

// rest makes the next round a full one, after the longest pause.
func (p *pace) rest() {
	p.full = time.Time{}
	p.next.Store(int64(p.longest))
}

// wait sets the longest pause, unless this round plans the next one.
func (p *pace) wait() { p.next.Store(int64(p.longest)) }

// edited records that a listing showed an edit.
func (p *pace) edited(listing mapping.ObjectID, now time.Time) {
	p.lastEdit, p.edits[listing] = now, now
}

// active reports whether somebody works in the project.
func (p *pace) active(now time.Time) bool {
	return p.shortest < p.longest && !p.lastEdit.IsZero() && now.Sub(p.lastEdit) < activeTime
}

// lightDue reports whether the next round is a light one.
func (p *pace) lightDue(now time.Time) bool {
	return !p.full.IsZero() && now.Sub(p.full) < p.longest && p.active(now)
}

// lightSprints are the sprints whose items a light round reads: the active ones, and those
// that somebody works in.
func (p *pace) lightSprints(now time.Time) (due []Sprint) {
	for _, s := range p.sprints {
		if at, ok := p.edits[s.ID]; s.Active || ok && now.Sub(at) < activeTime {
			due = append(due, s)
		}
	}
	return due
}

// done records the end of a round, and plans the next one. The pause is as short as extraCalls
// and extraBytes allow.
func (p *pace) done(began, now time.Time) {
	p.lastRound = now.Sub(began)
	if !p.active(now) {
		clear(p.edits)
		p.next.Store(int64(p.longest))
		return
	}
	light := 1 + len(p.lightSprints(now))
	byCalls := p.longest * time.Duration(light) / time.Duration(light+extraCalls*max(p.calls, 1))
	pause := max(p.shortest, restFactor*p.lastRound, byCalls, p.longest/(1+extraBytes))
	p.next.Store(int64(min(pause, p.longest)))
}

// takeoverGrace lets the replica that polled before a loss of the store poll first after it.
// Only that replica remembers the earlier cards, so that cards that people made since then
// enter. To any other replica they would be old. Another replica takes over where that one
// does not go on within a lease's time.
type takeoverGrace struct {
	epoch   string    // of the store, as of the last turn
	follows bool      // another replica held the lease then
	until   time.Time // it is given until then
}

// waits reports whether this replica leaves its turn to another one.
func (s *takeoverGrace) waits(now time.Time, epoch string, ttl time.Duration) bool {
	if s.follows && s.epoch != epoch {
		s.until = now.Add(ttl)
	}
	s.epoch = epoch
	return now.Before(s.until)
}
