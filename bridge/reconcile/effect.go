package reconcile

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"planbridge/store"
)

// The core does nothing itself. It asks for one thing after the other, and whoever runs it
// does them: an effect is a value that says what is to be done.

// Effect is one thing that the core asks for. R is what it is answered with.
type Effect[R any] interface{ answeredWith(R) }

// None is the answer to an effect that is only done.
type None struct{}

// Step is an effect that the work on a key waits for.
type Step struct {
	// Effect is one of the effects of this package.
	Effect any
	// Ask tells on whose behalf GitHub is written.
	Ask store.Ask

	// Now is the time as of the answer. Over: the time of the claim has ended.
	Now  time.Time
	Over bool

	answer any
	err    error
}

// Answer is what came of the effect. The value is of the effect's type; beside an error it
// may be nil.
func (s *Step) Answer(value any, err error) { s.answer, s.err = value, err }

// ErrOver is the error of an effect that was cut short, as the time of the claim was over.
var ErrOver = errors.New("the time of the claim is over")

// Answered returns what came of the effect: what [Step.Answer] was given.
func (s *Step) Answered() (value any, err error) { return s.answer, s.err }

// errStopped ends the work on a key that nobody answers any more.
var errStopped = errors.New("the work on the key was stopped")

// do has an effect done.
func do[R any](of role, e Effect[R]) (R, error) {
	var none R
	w := of.self()
	if write, is := e.(toRepository); is {
		if err := (visibility{w}).mayWrite(write); err != nil {
			return none, err
		}
	}
	if w.yield == nil {
		return none, errStopped
	}
	s := &Step{Effect: e, Ask: w.asker()}
	if !w.yield(s) {
		w.yield = nil
		return none, errStopped
	}
	w.now, w.ended = s.Now, s.Over
	answer, is := s.answer.(R)
	if !is && s.err == nil {
		panic(fmt.Sprintf("%T was answered with %T", e, s.answer))
	}
	return answer, s.err
}

// done is do for what is only done.
func done(w role, e Effect[None]) error {
	_, err := do(w, e)
	return err
}

// stepwise is the work on a key as the effects that it asks for. Each has to be answered before
// the next one is asked for.
func stepwise(w *state, run func() error) iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		w.yield = yield
		if w.err == nil {
			w.err = run()
		}
	}
}
