//go:build !race

package bridgetest_test

var raceFlags []string
