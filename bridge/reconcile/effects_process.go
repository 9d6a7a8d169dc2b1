package reconcile

import (
	"time"

	"planbridge/mapping"
)

// What the core asks of the process that it runs in: what is remembered beyond a claim, what
// is counted, and what is logged.

// PauseLeft reads for how long something is left alone that went wrong (0: not at all).
type PauseLeft struct{ Name string }

// Pause is for how long something is left alone, and why. News: it had been all right before.
type Pause struct {
	Wait time.Duration
	Why  string
	News bool
}

// PauseAfter takes in that something went wrong. It is left alone for the time First, then for
// twice as long each time, up to Most.
type PauseAfter struct {
	Name, Why   string
	First, Most time.Duration
}

// PauseOver takes in that something went well.
type PauseOver struct{ Name string }

// Remembered reads the number that the process remembers under a name; 0: none.
type Remembered struct{ Name string }

// Remember has the process remember a number, and is answered with the one before.
type Remember struct {
	Name   string
	Number int
}

// Missed takes in that an item answered gone. That is forgotten Keep after it was looked at
// last.
type Missed struct {
	Scope string // the project or repository that the item belongs to
	Item  mapping.Ref
	Keep  time.Duration
}

// Found takes in that an item answered.
type Found Missed

// Absence is what is known when an item answers gone.
type Absence struct {
	First time.Time // when this process met it first
	Gone  int       // items of the scope, this one included
	Many  bool      // that is a fact about the service
}

// Announce asks for the right to say that many items of a scope are gone: it is answered
// with true once, until fewer are. OnIssue: on an issue; else in the log. Back: it could not
// be said.
type Announce struct {
	Scope         string
	OnIssue, Back bool
}

// Met tells of a card that planning showed or answered with.
type Met struct{ Project, Card mapping.ObjectID }

// Counter names something that is counted.
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

// Count counts one more.
type Count struct {
	Counter Counter
	Labels  []string
}

// Lagged tells how long it took from seeing a change to writing it.
type Lagged struct {
	Direction string
	Took      time.Duration
}

// Level is how much a line of the log matters, as log/slog counts.
type Level int

// The levels.
const (
	Debug Level = 4 * (iota - 1)
	Info
	Warn
	Error
)

// Say writes a line of the log. Attributes are keys and values in turn.
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

// get is do for what cannot fail. Of work that was stopped it is the zero value.
func get[R any](w role, e Effect[R]) R {
	answer, _ := do(w, e)
	return answer
}

// tell is get for what is not answered.
func tell(w role, e Effect[None]) { _, _ = do(w, e) }

func (w *state) count(c Counter, labels ...string) { tell(w, Count{c, labels}) }

// logger writes lines of the log that tell which link they are about.
type logger struct {
	w  role
	of []any // attributes of every line
}

func (l logger) say(level Level, text string, attributes []any) {
	tell(l.w, Say{level, text, append(l.of[:len(l.of):len(l.of)], attributes...)})
}

func (l logger) Debug(text string, attributes ...any) { l.say(Debug, text, attributes) }
func (l logger) Info(text string, attributes ...any)  { l.say(Info, text, attributes) }
func (l logger) Warn(text string, attributes ...any)  { l.say(Warn, text, attributes) }
func (l logger) Error(text string, attributes ...any) { l.say(Error, text, attributes) }
