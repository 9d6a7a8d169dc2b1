package mappingtest

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"planbridge/mapping"
)

// Leaving a transition out shows its purpose, as a test has to fail without it. It is left out of
// the table itself, so that every user of the table lacks it.

// RowName is the name of a row of the table of states.
func RowName(t mapping.Transition) string {
	return cmp.Or(string(t.From), "unborn") + " " + string(t.Event)
}

// LeaveOut disables a row of the table of states: its event changes nothing. A row that leads to
// its own state is removed, so that its event is unknown. Call it before any use of the table.
func LeaveOut(name string) error {
	n := slices.IndexFunc(mapping.Transitions, func(t mapping.Transition) bool { return RowName(t) == name })
	if n < 0 {
		return fmt.Errorf("leave out %q: no row of the table of states", name)
	}
	if one := &mapping.Transitions[n]; one.To != one.From {
		one.To = one.From
		return nil
	}
	mapping.Transitions = slices.Delete(slices.Clone(mapping.Transitions), n, n+1)
	return nil
}

// LeftOut is the environment variable that names the part that a process of tests leaves out.
const LeftOut = "PLANBRIDGE_WITHOUT"

// LeaveOutAsTold leaves out the part that [LeftOut] names: a row of the table, or a part that one
// of the others has under that name.
func LeaveOutAsTold(others ...func(name string) error) {
	name := os.Getenv(LeftOut)
	if name == "" {
		return
	}
	err := LeaveOut(name)
	for _, leaveOut := range others {
		if err != nil {
			err = leaveOut(name)
		}
	}
	if err != nil {
		panic(err)
	}
}
