// Package clock tells the time and draws lots: the runtime's, or those that a test or a simulation
// gives in their place.
package clock

import (
	"context"
	"math/rand/v2"
	"time"
)

// Clock tells the time. It is safe for concurrent use.
type Clock interface{ Now() time.Time }

// Source tells the time and draws lots. It is safe for concurrent use.
type Source interface {
	Clock
	// Int64N draws a number in [0, n).
	Int64N(n int64) int64
}

// Runtime is the runtime's Source.
type Runtime struct{}

// Now implements [Clock].
func (Runtime) Now() time.Time { return time.Now() }

// Int64N implements [Source].
func (Runtime) Int64N(n int64) int64 { return rand.Int64N(n) }

// Func is the Clock of a function.
type Func func() time.Time

// Now implements [Clock].
func (f Func) Now() time.Time { return f() }

// Timeout bounds work by how long it may take.
type Timeout time.Duration

// Bound returns a context that ends after the timeout.
func (t Timeout) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(t))
}
