package effects

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPausesGrowAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pauses
		left := func(name string) time.Duration {
			wait, _ := p.left(time.Now(), name)
			return wait
		}
		if left("labels") != 0 {
			t.Error("what never failed is paused")
		}
		for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
			wait, news := p.fail(time.Now(), "labels", "no", time.Second, 5*time.Second)
			if wait != want || news != (i == 0) || left("labels") != want {
				t.Errorf("failure %d: waits %s, news %v, left %s; want %s", i+1, wait, news, left("labels"), want)
			}
			if _, why := p.left(time.Now(), "labels"); why != "no" {
				t.Errorf("it is paused because of %q", why)
			}
			time.Sleep(wait)
			if left("labels") != 0 {
				t.Error("a pause does not end")
			}
		}
		p.ok("labels")
		if wait, news := p.fail(time.Now(), "labels", "no", time.Second, time.Minute); wait != time.Second || !news {
			t.Errorf("after a success: waits %s, news %v", wait, news)
		}
	})
}
