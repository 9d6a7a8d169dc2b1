package mappingtest

import (
	"flag"
	"math/rand/v2"
	"strconv"
)

// ShareWorlds makes rapid play the part [Worlds] of its usual worlds, unless -rapid.checks gives
// another number. A package's TestMain calls it where each world costs much.
func ShareWorlds() {
	if err := flag.Set("rapid.checks", strconv.Itoa(100/Worlds)); err != nil {
		panic(err)
	}
}

// DrawWorlds returns a function that says, world by world, which worlds of a list are played. It
// draws the part [Worlds] anew each time, and at least one of a shorter list.
func DrawWorlds(list int) func() bool {
	nth, n := rand.IntN(min(Worlds, list)), -1
	return func() bool {
		n++
		return n%Worlds == nth
	}
}
