//go:build !race

package reconcile_test

// spared leaves out no run where the race detector is off.
func spared(int) bool { return false }
