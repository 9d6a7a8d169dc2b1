package guard

import "context"

// Turn is held while something is asked of a service or the store. Who waits for it
// waits no longer than its context lasts, as a lock cannot be bounded. It is safe for
// concurrent use.
type Turn chan struct{}

// NewTurn returns a Turn that nobody has.
func NewTurn() Turn { return make(Turn, 1) }

// Take waits for the turn. An error is the context's, and nothing is held then.
func (t Turn) Take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Try takes the turn unless somebody has it.
func (t Turn) Try() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// End hands the turn on.
func (t Turn) End() { <-t }
