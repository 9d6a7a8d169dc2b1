package reconcile_test

import (
	"fmt"
	"testing"

	"planbridge/mapping/mappingtest"
)

// scenario is something that people do, and how it has to end whatever
// happens to the bridge meanwhile.
type scenario struct {
	name   string
	tune   func(*world) // route and services, before anything is there
	before func(*world) // agreed on in peace
	do     func(*world) // brought to agreement under faults
	ends   ends
}

func (s *scenario) begin(w *world) {
	if s.tune != nil {
		s.tune(w)
		w.restart()
	}
	if s.before != nil {
		s.before(w)
		w.settle()
	}
	w.faults.armed = true
	s.do(w)
	w.settle()
	w.faults.armed = false
}

// calm runs the scenario without a fault and returns the points it passes.
func (s *scenario) calm(t *testing.T) (points []point) {
	t.Helper()
	err := inWorld(t, func(w *world) {
		s.begin(w)
		points = w.faults.points
		w.verify(s.ends)
	})
	if err != nil {
		t.Fatalf("without a fault: %v", err)
	}
	return points
}

func TestEveryCallMeetsEveryFate(t *testing.T) {
	t.Parallel()
	for _, s := range mappingtest.Drawn(scenarios()) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			points := s.calm(t)
			t.Logf("%d calls: %v", len(points), points)
			for at, p := range points {
				for n, fate := range p.fates() {
					if spared(at + n) {
						continue
					}
					err := inWorld(t, func(w *world) {
						w.faults.at, w.faults.fate = at, fate
						s.begin(w)
						w.verify(s.ends)
						if !w.faults.fired {
							w.fail("the call was never made")
						}
					})
					if err != nil {
						t.Error(fmt.Errorf("call %d, %s %s: %s: %w", at, p.kind, p.name, fate, err))
					}
				}
			}
		})
	}
}
