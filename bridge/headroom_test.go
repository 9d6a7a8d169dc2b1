package bridge_test

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"planbridge/bridge"
)

// Not parallel: what it looks at is the whole process.
func TestHeadroomPutsCollectionOff(t *testing.T) {
	unset := func(string) (string, bool) { return "", false }
	goal := func() uint64 {
		runtime.GC()
		s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	before := goal()
	const more = 24 << 20 // of the 32 MiB: other things may have gone meanwhile
	end := bridge.Headroom(unset)
	if with := goal(); with < before+more {
		t.Errorf("the heap is collected at %d bytes, without headroom at %d", with, before)
	}
	end()
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		end := bridge.Headroom(func(asked string) (string, bool) { return "100", asked == name })
		if with := goal(); with >= before+more {
			t.Errorf("with %s set the heap is collected at %d bytes, without headroom at %d", name, with, before)
		}
		end()
	}
}
