package mappingtest

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// ShareWorlds makes rapid play the part [Worlds] of its usual worlds, unless -rapid.checks gives
// another number. A package's TestMain calls it where each world costs much.
func ShareWorlds() {
	if err := flag.Set("rapid.checks", strconv.Itoa(100/Worlds)); err != nil {
		panic(err)
	}
}

// DrawWorlds returns a function that says, world by world, which worlds of a list are played. It
// draws the part [Worlds] anew each time, and at least one of a shorter list. It draws all of them
// where one is looked for that misses what [LeftOut] names.
func DrawWorlds(list int) func() bool {
	nth, n := rand.IntN(min(Worlds, list)), -1
	return func() bool {
		n++
		return n%Worlds == nth || isHunted()
	}
}

// Drawn are the worlds of a list that are played, see [DrawWorlds].
func Drawn[T any](list []T) []T {
	isDrawn := DrawWorlds(len(list))
	return slices.DeleteFunc(slices.Clone(list), func(T) bool { return !isDrawn() })
}

// SkipUnderRace skips a test under the race detector. As a rule one goroutine at a time runs in a
// world in virtual time. What the detector finds in a long one, it finds in a short one, too. make
// test runs the tests of the package again without the detector.
func SkipUnderRace(t testing.TB) {
	t.Helper()
	if Worlds > 1 && !isHunted() {
		t.Skip("make test plays it without the race detector")
	}
}

func isHunted() bool {
	_, hunted := os.LookupEnv(LeftOut)
	return hunted
}
