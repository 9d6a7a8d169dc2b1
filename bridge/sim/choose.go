package sim

import (
	"testing/synctest"
	"time"
)

// Ready is a step that waits for its turn.
type Ready struct {
	Actor, What string
	Given       string // as JSON
}

// Choice is the next step: the index of a waiting step, or one of the two below.
type Choice struct {
	Step int
	Lose bool // the answer that the step brings
}

var (
	// Pass lets time go on until the next step comes.
	Pass = Choice{Step: -1}
	// Again asks once more, as the chooser did something itself.
	Again = Choice{Step: -2}
)

// chosen releases the chosen step. It reports whether the next choice is due at once.
func (s *Scheduler) chosen() bool {
	s.mu.Lock()
	s.sort()
	all := make([]Ready, len(s.pending))
	for n, one := range s.pending {
		all[n] = one.ready
	}
	s.mu.Unlock()
	choice := s.Choose(all)
	if choice == Pass {
		return false
	}
	if choice != Again {
		s.mu.Lock()
		one := s.take(choice.Step)
		s.mu.Unlock()
		one.lost = choice.Lose
		close(one.goOn)
		synctest.Wait()
	}
	time.Sleep(apart)
	return true
}
