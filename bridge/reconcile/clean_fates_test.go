package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"planbridge/mapping"
)

// takingsApart are pairs that an operator has taken apart.
func takingsApart() []scenario {
	return []scenario{
		{name: "an issue and its card in a sprint", before: both(linked, intoSprint())},
		{name: "a card and its issue in a sprint", before: both(mirrored, intoSprint())},
		{name: "a family", tune: withTasks, before: withFamily},
		{name: "a checklist", tune: tasksOfItems, before: listed},
	}
}

// apart takes the pair of a scenario apart and returns the calls that it took.
func apart(t *testing.T, s *scenario, arm, end func(*world)) (points []point, err error) {
	t.Helper()
	err = inWorld(t, func(w *world) {
		if s.tune != nil {
			s.tune(w)
			w.restart()
		}
		s.before(w)
		w.settle()
		w.takeApart()
		w.faults.armed = true
		arm(w)
		w.settle()
		w.faults.armed = false
		points = w.faults.points
		end(w)
		w.verifyApart(nothingLeft)
	})
	return points, err
}

func nothing(*world) {}

// playing plays a scenario: arm says what befalls its calls, end what has to be so in the end. It
// returns the calls.
type playing func(t *testing.T, s *scenario, arm, end func(*world)) ([]point, error)

// meetsEveryFate plays scenarios once for each fate of each call.
func meetsEveryFate(t *testing.T, all []scenario, play playing) {
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			points, err := play(t, &s, nothing, nothing)
			if err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			for at, p := range points {
				for n, fate := range p.fates() {
					if spared(at + n) {
						continue
					}
					_, err := play(t, &s, func(w *world) { w.faults.at, w.faults.fate = at, fate }, func(w *world) {
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

// isRaced plays scenarios once for each call, before which people do something.
func isRaced(t *testing.T, all []scenario, play playing, people, end func(*world)) {
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			points, err := play(t, &s, nothing, nothing)
			if err != nil {
				t.Fatalf("without a race: %v", err)
			}
			for at, p := range points {
				if spared(at) {
					continue
				}
				_, err := play(t, &s, func(w *world) {
					w.faults.at = -1
					w.faults.before = func(i int, _ point) {
						if i == at {
							people(w)
						}
					}
				}, end)
				if err != nil {
					t.Error(fmt.Errorf("before call %d, %s %s: %w", at, p.kind, p.name, err))
				}
			}
		})
	}
}

// TestTakingApartMeetsEveryFate: a call meets any fault while a pair is taken apart. Nothing of the
// bridge's is left in the end, and the pair is parted.
func TestTakingApartMeetsEveryFate(t *testing.T) {
	t.Parallel()
	meetsEveryFate(t, takingsApart(), apart)
}

// TestPeopleRaceATakingApart: a person's text before any of its calls is kept in the end.
func TestPeopleRaceATakingApart(t *testing.T) {
	t.Parallel()
	isRaced(t, takingsApart(), apart, func(w *world) {
		w.editIssue(mapping.Title, to("tok81"))
		w.editIssue(mapping.Summary, line("tok2", "tok82"))
		w.editCard(mapping.Title, to("tok83"))
		w.editCard(mapping.Summary, line("tok2", "tok84"))
	}, func(w *world) {
		i, c := w.issue(), w.card()
		if i.Title != "tok81" || !strings.Contains(i.Body, "tok82") || c.Title.Value != "tok83" || !strings.Contains(c.Summary.Value, "tok84") {
			w.fail("the issue says %q, %q and the card %q, %q", i.Title, i.Body, c.Title.Value, c.Summary.Value)
		}
	})
}
