package mappingtest

import (
	"flag"
	"math/rand/v2"
	"strconv"
)

// ShareWorlds has rapid play the part [Worlds] of its usual worlds, unless -rapid.checks
// says another number. A package's TestMain calls it where each world costs much.
func ShareWorlds() {
	if err := flag.Set("rapid.checks", strconv.Itoa(100/Worlds)); err != nil {
		panic(err)
	}
}

// DrawWorlds returns what says of one world of a list after the other whether it is played:
// the part [Worlds] is, drawn anew each time, and one of a list that has fewer.
func DrawWorlds(list int) func() bool {
	nth, n := rand.IntN(min(Worlds, list)), -1
	return func() bool {
		n++
		return n%Worlds == nth
	}
}
