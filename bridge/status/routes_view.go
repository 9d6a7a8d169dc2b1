package status

import (
	"cmp"
	"slices"

	"planbridge/mapping"
)

// routeView is a route as the page shows it.
type routeView struct {
	Route
	Pairs    int         // that are linked
	Others   []stateView // links in other states
	Failures int
	Waits    int // keys of it that wait for a service or a time
	Stuck    int // those of them that need a look
	Asks     int // open questions
}

// stateView is how many links of a route are in a state.
type stateView struct {
	State string
	Count int
	Bad   bool
}

// Look reports whether the route needs an operator's attention.
func (r *routeView) Look() bool {
	return r.Failures > 0 || r.Asks > 0 || r.Stuck > 0 || !r.Paused.IsZero() || r.gone() ||
		slices.ContainsFunc(r.Others, func(s stateView) bool { return s.Bad })
}

// gone reports whether a route is no longer configured and still has links.
func (r *routeView) gone() bool { return r.Repository == "" && r.Pairs+len(r.Others) > 0 }

// total is how many links a route has.
func (r *routeView) total() int {
	n := r.Pairs
	for _, s := range r.Others {
		n += s.Count
	}
	return n
}

// routeCounts counts what routes have, by their names.
type routeCounts struct{ failures, waits, stuck, asks map[string]int }

// routesView splits the routes into those that need attention and the others.
func routesView(routes []Route, n routeCounts) (look, rest []routeView) {
	for _, r := range routes {
		v := routeView{Route: r, Failures: n.failures[r.Name], Waits: n.waits[r.Name], Stuck: n.stuck[r.Name], Asks: n.asks[r.Name]}
		for _, state := range mapping.LinkStates {
			n := r.Links[string(state)]
			switch {
			case n == 0:
			case state == mapping.Linked:
				v.Pairs = n
			default:
				v.Others = append(v.Others, stateView{string(state), n, state == mapping.Orphaned})
			}
		}
		if v.Look() {
			look = append(look, v)
			continue
		}
		rest = append(rest, v)
	}
	slices.SortStableFunc(look, func(a, b routeView) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(b.Asks, a.Asks), cmp.Compare(b.Stuck, a.Stuck))
	})
	return look, rest
}

// byRoute counts rows by their routes.
func byRoute(rows []row) map[string]int {
	out := map[string]int{}
	for _, r := range rows {
		out[r.Route]++
	}
	return out
}
