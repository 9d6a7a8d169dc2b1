//go:build race

package reconcile_test

// spared says which of many similar runs are left out under the race detector, which makes each ten
// times as slow. It keeps one of 23.
func spared(n int) bool { return n%23 != 0 }
