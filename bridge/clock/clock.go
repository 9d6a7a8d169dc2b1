// Package clock tells the time and draws lots: the runtime's, or those that a test or a simulation
// gives in their place. Each package declares the interface that it needs.
package clock

import (
	"math/rand/v2"
	"time"
)

// Clock tells the time and draws lots. The zero Clock is the runtime's.
type Clock struct {
	now  func() time.Time
	draw func(n int64) int64
}

// New returns a Clock of two functions; nil: the runtime's.
func New(now func() time.Time, draw func(n int64) int64) Clock { return Clock{now, draw} }

// Now returns the time.
func (c Clock) Now() time.Time {
	if c.now == nil {
		return time.Now()
	}
	return c.now()
}

// Int64N draws a number in [0, n).
func (c Clock) Int64N(n int64) int64 {
	if c.draw == nil {
		return rand.Int64N(n)
	}
	return c.draw(n)
}
