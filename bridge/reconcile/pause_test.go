package reconcile

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPausesGrowAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pauses
		if p.left("labels") != 0 {
			t.Error("what never failed is paused")
		}
		for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
			wait, news := p.fail("labels", time.Second, 5*time.Second)
			if wait != want || news != (i == 0) || p.left("labels") != want {
				t.Errorf("failure %d: waits %s, news %v, left %s; want %s", i+1, wait, news, p.left("labels"), want)
			}
			time.Sleep(wait)
			if p.left("labels") != 0 {
				t.Error("a pause does not end")
			}
		}
		p.ok("labels")
		if wait, news := p.fail("labels", time.Second, time.Minute); wait != time.Second || !news {
			t.Errorf("after a success: waits %s, news %v", wait, news)
		}
		p.hold("label", time.Hour)
		if p.left("label") != time.Hour {
			t.Error("what is held is not")
		}
	})
}
