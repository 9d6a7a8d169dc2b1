package bridge

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"planbridge/bridge/requeue"

	"planbridge/bridge/adapters"
	"planbridge/bridge/factlog"
	"planbridge/bridge/open"
	"planbridge/bridge/planning"
	"planbridge/bridge/poll"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
)

// planningRecovery is how long no request is sent to a project while planning is down, before one
// may try again.
const planningRecovery = requeue.ProbeEvery / 2 // each probe finds it over

// addProjects makes the projects that a configuration names and this process does not have yet, and
// gives the others their secrets.
func (a *App) addProjects(c *config.Config) error {
	for name, conf := range mapping.Sorted(c.Planning.Projects) {
		id := mapping.ObjectID(conf.ID)
		if known := a.projects.get(id); known != nil {
			known.side.SetSecret(conf.Secret.Reveal())
			continue
		}
		client, err := open.Planning(c, conf, planning.Options{
			Logger: a.log.With("project", name, "service", reconcile.ServicePlanning(id)), Metrics: a.metrics.planning,
			BreakerPause: planningRecovery, Random: a.o.Clock, HTTPClient: a.httpClient(), Observer: answers{a.monitor, reconcile.ServicePlanning(id)},
		})
		if err != nil {
			return fmt.Errorf("project %s: %w", name, err)
		}
		side := adapters.NewPlanning(client)
		a.metrics.poll.Expect(name)
		a.projects.add(id, &project{id: id, name: name, side: side, poller: a.newPoller(c, name, id, side)})
	}
	return nil
}

// removeProjects ends the work for projects that a configuration does not name. Their metrics go,
// and their facts in the log end.
func (a *App) removeProjects(ctx context.Context, c *config.Config) {
	kept := map[mapping.ObjectID]bool{}
	for _, conf := range c.Planning.Projects {
		kept[mapping.ObjectID(conf.ID)] = true
	}
	for _, p := range a.projects.remove(kept) {
		p.side.Close()
		if _, again := c.Planning.Projects[p.name]; !again { // of another project
			a.metrics.poll.Drop(p.name)
		}
		factlog.End(ctx, a.log.With("project", p.name), reconcile.ServicePlanning(p.id), "planning.projects does not name the project any more")
	}
}

// httpClient sends the requests to planning; nil: the adapter has its own.
func (a *App) httpClient() *http.Client {
	t := a.transport()
	if t == nil {
		return nil
	}
	return &http.Client{Transport: t}
}

func (a *App) newPoller(c *config.Config, name string, id mapping.ObjectID, side *adapters.Planning) *poll.Poller {
	return poll.New(poll.Options{
		Project: id, Name: name, Planning: side, News: side.News(), Buckets: side, Charts: side, Store: a.observed(),
		Settings: a.set, Host: pollHost{a, id}, Owner: a.o.Owner, Session: a.session, Clock: a.o.Clock,
		Interval: c.Planning.PollInterval, MinInterval: c.Planning.PollMin, TaskSweepInterval: c.Planning.TaskSweepInterval,
		Settle:  c.Planning.Settle,
		Metrics: a.metrics.poll, Logger: a.log.With("project", name, "service", reconcile.ServicePlanning(id)), Guard: a.guard,
	})
}

// pollHost is the program as the poller of a project sees it.
type pollHost struct {
	a       *App
	project mapping.ObjectID
}

func (h pollHost) LostAt() time.Time { return h.a.epochTracker.Lost() }
func (h pollHost) SprintsChanged()   { h.a.milestones.SprintsChanged(h.project) }
func (h pollHost) Failed(error)      {} // the poller logged it
func (h pollHost) IsSameStore(was, is string) bool {
	return h.a.epochTracker.IsSameStore(was, is)
}

func (h pollHost) Answered(ctx context.Context) {
	h.a.monitor.Heard(reconcile.ServicePlanning(h.project), status.SourcePoll)
	log := h.a.log.With("project", h.a.set.Routes().ProjectName(h.project), "service", reconcile.ServicePlanning(h.project))
	log.Info("planning answers again", factlog.Over, factlog.Away)
	log.Info("planning takes the secret again", factlog.Over, factlog.Refused)
	log.Info("the project is polled again", factlog.Over, poll.FactNotPolled)
	h.a.requeue.Wake(ctx, h.project, reconcile.ServicePlanning(h.project))
}
