//go:build !linux

package planningtest

import "time"

// sleepUntil is as exact as a timer.
func sleepUntil(at time.Time) { <-time.After(time.Until(at)) }
