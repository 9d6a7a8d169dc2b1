//go:build race

package reconcile_test

// spared says which of many similar runs are left out under the race detector, which makes each ten
// times as slow. It keeps one of eleven.
func spared(n int) bool { return n%11 != 0 }
