package bridge

import "runtime"

// leastAtOnce is how many goroutines run at once at the least.
const leastAtOnce = 4

// Processors has the process run four goroutines at once where it has fewer
// processors, unless its environment says how many (GOMAXPROCS). The runtime looks
// at the network when nothing else is ready to run: with one goroutine for each of
// two processors an answer waits until what computes beside it is done. With more
// the kernel shares the processors out, and lets those who waited go first. The
// function it returns takes that back. It is for the whole process, and so for who
// starts one.
func Processors(env func(name string) (string, bool)) (restore func()) {
	before := runtime.GOMAXPROCS(0)
	if _, set := env("GOMAXPROCS"); set || before >= leastAtOnce {
		return func() {}
	}
	runtime.GOMAXPROCS(leastAtOnce)
	return func() { runtime.GOMAXPROCS(before) }
}
