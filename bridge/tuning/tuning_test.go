package tuning_test

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"planbridge/bridge/tuning"
)

// says is an environment of one variable; "": of none.
func says(name string) func(string) (string, bool) {
	return func(asked string) (string, bool) { return "2", name != "" && asked == name }
}

// Not parallel, as what it looks at is the whole process.
func TestApplyPutsCollectionOff(t *testing.T) {
	goal := func() uint64 {
		runtime.GC()
		s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	before := goal()
	const more = 24 << 20 // of the 32 MiB: other things may have gone meanwhile
	restore := tuning.Apply(says(""))
	if with := goal(); with < before+more {
		t.Errorf("the heap is collected at %d bytes, untuned at %d", with, before)
	}
	restore()
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		restore := tuning.Apply(says(name))
		if with := goal(); with >= before+more {
			t.Errorf("with %s set the heap is collected at %d bytes, untuned at %d", name, with, before)
		}
		restore()
	}
}

// Not parallel, as what it changes is the whole process's.
func TestApplyRunsFourAtOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, c := range []struct {
		decides         string
		processors, run int
	}{
		{"GOMAXPROCS", 2, 2}, {"", 2, 4}, {"", 6, 6},
	} {
		runtime.GOMAXPROCS(c.processors)
		restore := tuning.Apply(says(c.decides))
		if got := runtime.GOMAXPROCS(0); got != c.run {
			t.Errorf("%d goroutines run at once on %d processors with %q set, want %d", got, c.processors, c.decides, c.run)
		}
		restore()
		if got := runtime.GOMAXPROCS(0); got != c.processors {
			t.Errorf("%d goroutines run at once afterwards, want %d", got, c.processors)
		}
	}
}
