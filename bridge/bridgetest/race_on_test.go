//go:build race

package bridgetest_test

// raceFlags let what is built for a test look for races where the test does.
var raceFlags = []string{"-race"}
