package webhook

import (
	"time"

	"golang.org/x/time/rate"
)

// SetMaxClients bounds the connections for a test.
func (in *Intake) SetMaxClients(n int) { in.clients.max = n }

// Unpace lets large bodies be read as fast as they come.
func (in *Intake) Unpace() { in.pace.SetLimit(rate.Inf) }

// SetLogWindow shortens the window of what strangers may log.
func (in *Intake) SetLogWindow(d time.Duration) { in.unauthenticated.window = d }

// Unverified is how many bytes of unverified bodies are held.
func (in *Intake) Unverified() int {
	in.unverified.mu.Lock()
	defer in.unverified.mu.Unlock()
	return in.unverified.used
}

// MaxUnverified is their bound.
const MaxUnverified = maxUnverified
