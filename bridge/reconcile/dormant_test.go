package reconcile_test

import (
	"testing"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// TestTheRouteIsBackWhileAServiceIsAway: a card changes while no route takes its pair, and a poll
// tells of it once. As the route is back one of the services does not answer. Once it does, both
// sides are read, as they would have been before.
func TestTheRouteIsBackWhileAServiceIsAway(t *testing.T) {
	t.Parallel()
	for read, service := range map[string]string{"Issue": reconcile.ServiceGitHub, "Card": reconcile.ServicePlanning(project)} {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				takes := w.route
				w.route.Name, w.route.Repositories = "elsewhere", []string{elsewhere}
				w.restart()
				w.lookAtAll()
				w.settle()
				w.rewriteCard(mapping.Title, "tok9")
				w.settle()
				if l := w.link(); l.State != mapping.Dormant {
					w.fail("the pair is %s", l.State)
				}
				w.route = takes
				w.down = service
				w.restart()
				w.faults.armed = true
				w.faults.draw = func(p point) fate {
					if p.name == read {
						return unavailable
					}
					return ""
				}
				for _, l := range w.all() {
					w.look(l, false)
				}
				w.after(time.Minute, func() { w.down, w.faults.armed = "", false })
				w.settle()
				w.verify(ends{want: values{mapping.Title: "tok9"}})
			})
		})
	}
}
