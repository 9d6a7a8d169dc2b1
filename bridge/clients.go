package bridge

import (
	"context"
	"strings"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// clients are the clients of GitHub and the planning projects, by the names under which keys wait
// for them.
type clients struct{ a *App }

// of is the client of a service; nil: there is none.
func (c clients) of(name string) interface {
	Down() bool
	Probe(ctx context.Context) error
} {
	if name == reconcile.ServiceGitHub {
		return c.a.github
	}
	id, _ := strings.CutPrefix(name, reconcile.ServicePlanning(""))
	if p := c.a.projects.get(mapping.ObjectID(id)); p != nil {
		return p.side
	}
	return nil
}

// Down reports whether the breaker of a service is open.
func (c clients) Down(name string) bool {
	one := c.of(name)
	return one != nil && one.Down()
}

// Away implements [requeue.Services]. One that refuses the secret is not away.
func (c clients) Away(name string) bool {
	met := c.a.monitor.Service(name)
	return c.Down(name) || !met.Refused && met.Failed.After(met.Answered)
}

// Back implements [requeue.Services].
func (c clients) Back(name string, since time.Time) bool {
	met := c.a.monitor.Service(name)
	return !c.Down(name) && !met.Refused && met.Answered.After(met.Failed) && !met.Failed.Before(since)
}

// Probe implements [requeue.Services].
func (c clients) Probe(ctx context.Context, name string) error {
	if one := c.of(name); one != nil {
		return one.Probe(ctx)
	}
	return nil
}
