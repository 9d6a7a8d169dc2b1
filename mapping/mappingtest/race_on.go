//go:build race

package mappingtest

// Share is the part of many random texts that tests draw. The race detector takes ten times as
// long, and few texts show as much as all. make test runs them all without it.
const Share = 20

// Worlds is the part of many worlds that tests play, as only one goroutine at a time runs in each.
// rapid plays twelve of each property then. make test plays all of them without the detector.
const Worlds = 8
