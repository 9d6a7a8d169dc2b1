package guard

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := NewTurn()
		if !turn.Try() || turn.Try() {
			t.Fatal("it is had by none or by two")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := turn.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one that is had: %v", err)
		}
		took := make(chan error, 1)
		go func() { took <- turn.Take(context.Background()) }()
		synctest.Wait()
		turn.End()
		if err := <-took; err != nil || turn.Try() {
			t.Errorf("who waited has it not: %v", err)
		}
		turn.End()
		for range 50 { // a select of two ready cases takes either
			if err := turn.Take(ctx); err == nil || !turn.Try() {
				t.Fatal("taken under a context that has ended")
			}
			turn.End()
		}
	})
}
