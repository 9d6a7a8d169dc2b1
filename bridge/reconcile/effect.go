package reconcile

import (
	"errors"
	"time"

	"planbridge/store"
)

// The core carries nothing out itself. It asks for one effect after the other. An effect is a value
// that describes a request, and the caller of the core carries it out.

// Effect is one request of the core. R is the type of its answer.
type Effect[R any] interface{ answeredWith(R) }

// None is the answer of an effect without a value.
type None struct{}

// Step is an effect that the work on a key waits for.
type Step struct {
	// Effect is one of the effects of this package.
	Effect any
	// Ask says on whose behalf GitHub is written.
	Ask store.Ask

	// Now is the time of the answer. Over: the time of the claim has ended.
	Now  time.Time
	Over bool

	answer any
	err    error
}

// Answer sets the result of the effect. The value has the effect's type; beside an error it
// may be nil.
func (s *Step) Answer(value any, err error) { s.answer, s.err = value, err }

// ErrOver is the error of an effect that was cut short by the end of the claim's time.
var ErrOver = errors.New("the time of the claim is over")

// Answered returns what [Step.Answer] set.
func (s *Step) Answered() (value any, err error) { return s.answer, s.err }
