package bridge_test

import (
	"runtime"
	"testing"

	"planbridge/bridge"
)

func none(string) (string, bool) { return "", false }

// Not parallel: what it changes is the whole process's.
func TestProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	restore := bridge.Processors(func(name string) (string, bool) { return "2", name == "GOMAXPROCS" })
	if got := runtime.GOMAXPROCS(0); got != 2 {
		t.Errorf("%d goroutines run at once, want the 2 that the environment says", got)
	}
	restore()
	restore = bridge.Processors(none)
	if got := runtime.GOMAXPROCS(0); got != 4 {
		t.Errorf("%d goroutines run at once on two processors, want 4", got)
	}
	restore()
	if got := runtime.GOMAXPROCS(0); got != 2 {
		t.Errorf("%d goroutines run at once afterwards, want 2", got)
	}
	runtime.GOMAXPROCS(6)
	defer bridge.Processors(none)()
	if got := runtime.GOMAXPROCS(0); got != 6 {
		t.Errorf("%d goroutines run at once on six processors, want 6", got)
	}
}
