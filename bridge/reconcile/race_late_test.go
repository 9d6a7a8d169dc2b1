//go:build faults

package reconcile_test

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPeopleRaceTheBridgesLateEdits is the same while the bridge's first edits
// of the issue are lost or late, so that several are under way at once.
func TestPeopleRaceTheBridgesLateEdits(t *testing.T) {
	t.Parallel()
	fates := rapid.SampledFrom([]fate{"", "", lost, answerLost, late, late})
	rapid.Check(t, func(rt *rapid.T) { race(t, rt, rapid.SliceOfN(fates, 0, 4)) })
}
