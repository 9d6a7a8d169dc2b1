package tuning_test

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"planbridge/bridge/tuning"
)

// TestMain begins as where the environment of the tests says nothing of garbage.
func TestMain(m *testing.M) {
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
	os.Exit(m.Run())
}

// says is an environment of one variable; "": of none.
func says(name string) func(string) (string, bool) {
	return func(asked string) (string, bool) { return "2", name != "" && asked == name }
}

// goal is the size of the heap at which the next collection begins.
func goal() uint64 {
	runtime.GC()
	s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Not parallel, as what it looks at is the whole process.
func TestApplyPutsCollectionOff(t *testing.T) {
	before := goal()
	const more = 20 << 20 // of the 32 MiB, less what Go would leave at once
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

// TestGarbageOfALargeHeap: the garbage of a heap that has grown is bounded by half of what
// lives, and no longer so once that is gone. Not parallel, as what it looks at is the whole
// process.
func TestGarbageOfALargeHeap(t *testing.T) {
	const size = 160 << 20
	restore := tuning.Apply(says(""))
	large := make([]byte, size) // no memory stands behind it
	within := func(what string, from, to uint64) {
		t.Helper()
		got, patience := goal(), time.Now().Add(10*time.Second)
		for ; got < from || got > to; got = goal() {
			if time.Now().After(patience) {
				t.Fatalf("%s: the heap is collected at %d bytes, want %d to %d", what, got, from, to)
			}
			runtime.Gosched()
		}
	}
	within("160 MiB live", size*14/10, size*17/10)
	runtime.KeepAlive(large)
	within("they are gone", 32<<20, 64<<20)
	large = make([]byte, size)
	restore()
	within("restored", size*19/10, size*22/10)
	runtime.KeepAlive(large)
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
