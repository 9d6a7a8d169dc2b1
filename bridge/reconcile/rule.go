package reconcile

import "errors"

// rule is one thing that may have to happen to a pair.
type rule struct {
	name string
	why  string // in one sentence; docs/design.md shows it
	of   pairKind
	// writes: it has nothing to do in a dry run.
	writes bool
	apply  func(work) (verdict, error)
}

// pairKind says which pairs a rule applies to.
type pairKind int

const (
	everyPair pairKind = iota
	roots              // not a sub-issue and its task: their root was asked
	parts              // a sub-issue and its task
)

func (k pairKind) String() string {
	return [...]string{everyPair: "every pair", roots: "roots", parts: "sub-issues"}[k]
}

// verdict says what happens to the rules after one.
type verdict int

const (
	pass verdict = iota // the next rule is asked
	anew                // the state changed: the agreement starts again with its first rule
	end                 // nothing more happens to the pair under this claim
)

// does makes a rule of a function that does one thing, and passes.
func does[R ~struct{ *state }](one func(R) error) func(work) (verdict, error) {
	return func(w work) (verdict, error) { return pass, one(R(w)) }
}

// anewIf is the verdict of a rule that reports whether the state changed.
func anewIf(yes bool, err error) (verdict, error) {
	if yes && err == nil {
		return anew, nil
	}
	return pass, err
}

// endIf is the verdict of a rule that reports whether the work on the pair ends.
func endIf(yes bool, err error) (verdict, error) {
	if yes && err == nil {
		return end, nil
	}
	return pass, err
}

// apply asks rules in their order, up to the first one that does not pass. An item that is
// gone ends the work on its pair.
func (w work) apply(rules []rule) (verdict, error) {
	for i := range rules {
		r := &rules[i]
		if r.of == roots && w.pair.IsTask() || r.of == parts && !w.pair.IsTask() || r.writes && w.set.DryRun {
			continue
		}
		v, err := r.apply(w)
		if errors.Is(err, errGone) {
			return end, nil
		}
		if v != pass || err != nil {
			return v, err
		}
	}
	return pass, nil
}

// maxRounds bounds how often one claim starts the agreement again because a side changed
// meanwhile.
const maxRounds = 8
