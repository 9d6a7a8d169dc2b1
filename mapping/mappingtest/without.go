package mappingtest

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"planbridge/mapping"
)

// A transition that is left out shows what it is for: something has to fail without it. It
// is left out of the table itself, so that every place that asks the table does without it.

// RowName is how a row of the table of states is called.
func RowName(t mapping.Transition) string {
	return cmp.Or(string(t.From), "unborn") + " " + string(t.Event)
}

// LeaveOut has a row of the table of states not happen: its event changes nothing. A row
// that leads to where it begins is taken out, so that its event is unknown. It is called
// before anything asks the table.
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

// LeftOut is the environment variable that names what a process of tests does without.
const LeftOut = "PLANBRIDGE_WITHOUT"

// LeaveOutAsTold leaves out what [LeftOut] names: a row of the table, or what one of the
// others knows by that name.
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
