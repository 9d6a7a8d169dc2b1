package bridgetest_test

import (
	"net"
	"os/exec"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
)

// TestFreeAddrWhileProcessesStart: a process that is being started holds copies of this one's
// sockets for a moment, which keep no address from being listened on.
func TestFreeAddrWhileProcessesStart(t *testing.T) {
	stop := make(chan struct{})
	var starting sync.WaitGroup
	for range 4 {
		starting.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := exec.Command("true").Run(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 5000 {
		addr, err := bridgetest.FreeAddr()
		must(t, err)
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Error(err)
			break
		}
		must(t, l.Close())
	}
	close(stop)
	starting.Wait()
}

// TestStartBridgeWaitsForItsAddress: a bridge that is started again waits until
// nothing of the one before listens any more.
func TestStartBridgeWaitsForItsAddress(t *testing.T) {
	w := start(t, bridgetest.Options{})
	addr := w.App.Addr()
	must(t, w.StopBridge())
	left, err := net.Listen("tcp", addr)
	must(t, err)
	time.AfterFunc(100*time.Millisecond, func() { left.Close() }) //nolint:errcheck // nobody connected
	must(t, w.StartBridge())
	w.AwaitSettled()
}
