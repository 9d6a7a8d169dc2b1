package sim_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/sim"
)

// Two actors take steps in virtual time, in the order that the seed gives. The digest tells one
// order from another: a seed gives the same again.
func ExampleNewScheduler() {
	TestOrder := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := sim.NewScheduler(4711, io.Discard)
			ctx, end := context.WithCancel(t.Context())
			var scheduling, acting sync.WaitGroup
			scheduling.Go(func() { s.Run(ctx) })
			for _, actor := range []string{"GitHub", "planning"} {
				acting.Go(func() {
					s.Step(actor, "answers")
					time.Sleep(time.Hour) // passes at once
				})
			}
			acting.Wait()
			end()
			scheduling.Wait()
			fmt.Println(s.Steps(), s.Digest())
		})
	}
	_ = TestOrder
}
