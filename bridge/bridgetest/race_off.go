//go:build !race

package bridgetest

// RaceFlags let what is built for a test look for races where the test does.
var RaceFlags []string
