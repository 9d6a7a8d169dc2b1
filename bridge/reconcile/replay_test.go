package reconcile_test

import (
	"fmt"
	"iter"
	"maps"
	"reflect"

	"github.com/huandu/go-clone"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// A claim's acts follow from its state and the answers alone. Every claim of the worlds in fake
// time is therefore worked once more, with the answers that it got. It has to ask for the same
// effects in the same order.

// answered is a step of a claim as it was answered. The effect is copied at once: the core goes
// on with what it points to.
type answered struct {
	effect any
	step   *reconcile.Step
	value  any
}

// workTwice works each claim once more after its steps.
func (w *world) workTwice(s reconcile.State, steps iter.Seq[*reconcile.Step]) iter.Seq[*reconcile.Step] {
	s.Claim = copyClaim(s.Claim)
	return func(yield func(*reconcile.Step) bool) {
		var seen []answered
		for step := range steps {
			a := answered{effect: clone.Clone(step.Effect), step: step}
			if w.watched != nil {
				w.watched(step)
			}
			if !yield(step) {
				return // the process died
			}
			a.value, _ = step.Answered()
			if l, is := a.value.(*mapping.Link); is {
				a.value = clone.Clone(l) // the core may change it
			}
			seen = append(seen, a)
		}
		w.check(replay(s, seen))
	}
}

// replay works a claim with the answers that it got before.
func replay(s reconcile.State, seen []answered) error {
	n := 0
	for step := range reconcile.Begin(s).Steps() {
		if n == len(seen) {
			return fmt.Errorf("%s: replayed, it asks for one effect more: %s", s.Claim.Key, written(step.Effect))
		}
		a := seen[n]
		if !reflect.DeepEqual(step.Effect, a.effect) {
			return fmt.Errorf("%s: replayed, effect %d is %s, and was %s", s.Claim.Key, n, written(step.Effect), written(a.effect))
		}
		_, err := a.step.Answered()
		step.Answer(a.value, err)
		step.Now, step.Over = a.step.Now, a.step.Over
		n++
	}
	if n < len(seen) {
		return fmt.Errorf("%s: replayed, it asks for %d effects and no more, and did for %d", s.Claim.Key, n, len(seen))
	}
	return nil
}

func written(effect any) string { return fmt.Sprintf("%T %s", effect, encode(effect)) }

// copyClaim copies what the core changes of a claim.
func copyClaim(c *store.Claim) *store.Claim {
	copied := *c
	copied.Link, copied.Inbox = clone.Clone(c.Link).(*mapping.Link), maps.Clone(c.Inbox)
	return &copied
}
