package webhook

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDeliveriesOfOneMomentShareTheirBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sharedDeadline{timeout: 9 * time.Second}
		first, began := b.context(), time.Now()
		time.Sleep(89 * time.Millisecond)
		if b.context() != first {
			t.Error("89 ms later it is another one")
		}
		time.Sleep(time.Millisecond)
		later := b.context()
		if later == first {
			t.Error("90 ms later it is still the first")
		}
		<-first.Done()
		if took := time.Since(began); took != 9*time.Second || !errors.Is(first.Err(), context.DeadlineExceeded) {
			t.Errorf("the first ended after %v: %v", took, first.Err())
		}
		if later.Err() != nil {
			t.Error("the later one ended with the first")
		}
		<-later.Done()
		if took := time.Since(began); took != 9*time.Second+90*time.Millisecond {
			t.Errorf("the later one ended after %v", took)
		}
	})
}
