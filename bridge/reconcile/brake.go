package reconcile

import (
	"fmt"
	"slices"

	"planbridge/store"
)

// A brake bounds how much of one kind a route does in a minute, all replicas
// together, so that a fault on either side does not flood the other before
// somebody looks. What is over waits, and says so.

// brake takes acts of a kind from the route's allowance: n of them or, where there
// are not so many, fewer. Each author of the route's issues has a fair part of it.
func (w *work) brake(kind string, perMinute, n int) (given int, err error) {
	if perMinute <= 0 {
		return n, nil
	}
	b := store.Budget{Name: "brake:" + kind + ":" + w.link.Route, PerMinute: perMinute, Burst: perMinute}
	grant, err := do(w, Take{b, store.Ask{Items: n, Route: w.author()}})
	if err != nil {
		return 0, fmt.Errorf("brake on %s: %w", kind, err)
	}
	if grant.Items == 0 {
		if !slices.Contains(w.braked, kind) { // a later round asks again
			w.braked = append(w.braked, kind)
			w.count(CountBraked, w.link.Route, kind)
			w.log.Warn("braked", "kind", kind, "per_minute", perMinute, "author", w.author(), "wait", grant.Wait)
		}
		return 0, inTurn(grant.Wait, "the route's brake on %s holds", kind)
	}
	return grant.Items, nil
}

// brakeClose is the brake on closing one issue.
func (w *work) brakeClose() error {
	_, err := w.brake("closes", w.set.Brakes.ClosesPerMinute, 1)
	return err
}
