//go:build !race

package bridgetest

// RaceFlags build a test's programs with the race detector where the test has it.
var RaceFlags []string
