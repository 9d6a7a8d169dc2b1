//go:build race

package mappingtest

// Share is the part of many random texts that tests draw: the race detector takes ten
// times as long, and finds in few of them what it finds. make test runs them all without it.
const Share = 20

// Worlds is the part of many played worlds, in each of which one goroutine runs at a time.
const Worlds = 4
