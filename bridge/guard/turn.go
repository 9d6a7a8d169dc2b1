package guard

import "context"

// Turn is a lock for a question to a service or the store. Unlike a mutex, a wait for it ends
// with a context. It is safe for concurrent use.
type Turn chan struct{}

// NewTurn returns a free Turn.
func NewTurn() Turn { return make(Turn, 1) }

// Take waits for the turn. It returns the context's error without the turn.
func (t Turn) Take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		if ctx.Err() == nil { // select takes any of two ready cases
			return nil
		}
		t.End()
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Try takes the turn if it is free.
func (t Turn) Try() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// End frees the turn.
func (t Turn) End() { <-t }
