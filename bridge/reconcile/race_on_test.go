//go:build race

package reconcile_test

// spared says which of many like runs are left out under the race detector,
// which makes each of them ten times as slow: of every eleven all but one.
func spared(n int) bool { return n%11 != 0 }
