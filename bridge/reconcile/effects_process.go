package reconcile

import (
	"time"

	"planbridge/mapping"
)

// This file has the effects that the process carries out: its memory beyond a claim, its
// counters and its log.

// PauseLeft reads how long something that failed is still paused; 0: not at all.
type PauseLeft struct{ Name string }

// Pause is how long something is paused, and why. News: it had worked before.
type Pause struct {
	Wait time.Duration
	Why  string
	News bool
}

// PauseAfter records a failure. The first pause is First. Each further failure doubles it, up
// to Most.
type PauseAfter struct {
	Name, Why   string
	First, Most time.Duration
}

// PauseOver records a success, which ends the pause.
type PauseOver struct{ Name string }

// Remembered reads the number that the process keeps under a name; 0: none.
type Remembered struct{ Name string }

// Remember keeps a number under a name, and returns the number before.
type Remember struct {
	Name   string
	Number int
}

// Missed records that an item answered "gone". The record lasts for Keep after the item's last
// read.
type Missed struct {
	Scope string // the project or repository of the item
	Item  mapping.Ref
	Keep  time.Duration
}

// Found records that an item answered.
type Found Missed

// Absence says what is known about an item that answers "gone".
type Absence struct {
	First time.Time // when this process met it first
	Gone  int       // absent items of the scope, this one included
	Many  bool      // so many that the service itself is in doubt
}

// Announce asks for the right to report that many items of a scope are gone. One caller gets
// true, until fewer are gone. OnIssue: the report is a comment, else a log line. Back: the
// report failed.
type Announce struct {
	Scope         string
	OnIssue, Back bool
}

// Met records a card that planning listed or answered with.
type Met struct{ Project, Card mapping.ObjectID }

// Counter names a counter.
type Counter int

// The counters, with their labels.
const (
	CountWrites      Counter = iota // route, side, attribute
	CountConflicts                  // route, attribute, resolution
	CountEchoes                     // side
	CountPrevented                  // how
	CountRecovered                  // route
	CountUserRefused                // route
	CountBraked                     // route, kind
	CountAbsences                   // route, side, result
	CountViolations                 // route, invariant
)

// Count adds one to a counter.
type Count struct {
	Counter Counter
	Labels  []string
}

// Lagged records the time between the sight of a change and its write.
type Lagged struct {
	Direction string
	Took      time.Duration
}

// Level is the level of a log line, with the values of log/slog.
type Level int

// The levels.
const (
	Debug Level = 4 * (iota - 1)
	Info
	Warn
	Error
)

// Say writes a log line. Attributes are keys and values in turn.
type Say struct {
	Level      Level
	Text       string
	Attributes []any
}

func (PauseLeft) answeredWith(Pause)  {}
func (PauseAfter) answeredWith(Pause) {}
func (PauseOver) answeredWith(None)   {}
func (Remembered) answeredWith(int)   {}
func (Remember) answeredWith(int)     {}
func (Missed) answeredWith(Absence)   {}
func (Found) answeredWith(None)       {}
func (Announce) answeredWith(bool)    {}
func (Met) answeredWith(None)         {}
func (Count) answeredWith(None)       {}
func (Lagged) answeredWith(None)      {}
func (Say) answeredWith(None)         {}
