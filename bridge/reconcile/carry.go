package reconcile

import (
	"errors"
	"fmt"
	"iter"
)

// errStopped ends the work on a key whose steps nobody answers any more.
var errStopped = errors.New("the work on the key was stopped")

// do has an effect carried out, and returns its answer.
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

// done is do for an effect without a value.
func done(w role, e Effect[None]) error {
	_, err := do(w, e)
	return err
}

// get is do for an effect that cannot fail. After a stop it returns the zero value.
func get[R any](w role, e Effect[R]) R {
	answer, _ := do(w, e)
	return answer
}

// send is get without an answer.
func send(w role, e Effect[None]) { _, _ = do(w, e) }

// stepwise turns the work on a key into the sequence of its effects. Each step must be
// answered before the next one is asked for.
func stepwise(w *state, run func() error) iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		w.yield = yield
		if w.err == nil {
			w.err = run()
		}
	}
}
