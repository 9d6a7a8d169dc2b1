package bridge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/bridge/requeue"
	"planbridge/bridge/settings"
	"planbridge/config"
	"planbridge/mapping"
)

// A start and a reload ask GitHub for names. They wait no longer than this.
const (
	namesFor    = clock.Timeout(3 * time.Second)  // the present names of the configured repositories
	reroutesFor = clock.Timeout(30 * time.Second) // the names of repositories that links have and no route takes
)

// Reload takes over what can be changed while running. Keys that need a restart keep their old
// values, and the log names them. New routes begin to run even while the store is away, and it
// records them once it is back.
func (a *App) Reload(ctx context.Context, c *config.Config) (err error) {
	defer func() { a.reloaded(err) }()
	factlog.Anew(ctx, a.log)
	set, err := a.renames.Identify(ctx, settings.New(c, a.o.DryRun, a.o.Clock.Now()).WithNames(a.set.Load().Renamed))
	if set == nil {
		return fmt.Errorf("reload: %w", err)
	}
	if err != nil {
		a.log.Warn("routes with other names are known to other replicas only when the store is back", "err", err)
	}
	if err := a.firstRuns.Update(ctx, set.Routes.All(), set.Made); err != nil {
		a.log.Warn("new routes take nothing in before the store is back", "err", err)
	}
	if err := a.addProjects(c); err != nil {
		return fmt.Errorf("reload: %w", err)
	}
	var before *settings.Settings
	_ = a.set.Update(func(now *settings.Settings) (*settings.Settings, error) {
		before = now
		return set.WithNames(now.Renamed), nil
	})
	a.removeProjects(ctx, c)
	if err := a.recallIdentities(ctx); err != nil {
		a.log.Warn("what new names stand for is not known before the store is back", "err", err)
	}
	a.initMetricSeries(set.Routes)
	a.requeue.TakeUpAllowed(ctx)
	links, err := a.requeue.Reroute(ctx)
	if err != nil {
		a.log.Warn("links go by other routes only after a change of theirs or a restart", "err", err)
	}
	a.warnOf(c)
	changes := before.Routes.ChangesTo(a.set.Load().Routes)
	if len(changes.Added)+len(changes.Changed) > 0 {
		a.catchUp.Soon()
	}
	keys, err := a.requeue.TakeUpFailed(ctx, changes.Changed)
	if err != nil {
		a.log.Warn("what failed by the routes before is tried again only in its turn", "err", err)
	}
	a.tellReload(ctx, before, &changes, links, keys)
	return nil
}

// warnOf warns of weak secrets, and of values that are probably mistakes.
func (a *App) warnOf(c *config.Config) {
	for _, d := range c.Doubts() {
		a.log.Warn("a value of the configuration is hardly meant", "key", d.Path, "reason", d.Reason)
	}
	for _, w := range c.Weaknesses() {
		a.log.Warn("a secret is weak: the next major version refuses it", "key", w.Path, "reason", w.Reason)
	}
}

// tellReload logs in one line the changes of a reload, and the number of links concerned.
func (a *App) tellReload(ctx context.Context, before *settings.Settings, changes *mapping.RouteChanges, links requeue.Rerouting, keys int) {
	after := a.set.Load()
	a.log.Info("configuration reloaded", "routes", len(after.Config.Routes),
		"added", len(changes.Added), "removed", len(changes.Removed), "changed", len(changes.Changed), "changes", changes.String(),
		"projects_added", newProjects(before.Routes, after.Routes), "projects_removed", newProjects(after.Routes, before.Routes),
		"links_moved", links.Moved, "moves", links.Moves(), "links_resumed", links.Resumed, "links_dormant", links.Dormant(), "links_changed", a.linksOf(ctx, after, changes.Changed), "keys", keys)
}

// newProjects names the projects that are in one configuration and not in the one before.
func newProjects(before, after mapping.Routes) string {
	var names []string
	for _, project := range after.Projects() {
		if !before.Names(project) {
			names = append(names, after.ProjectName(project))
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// linksOf counts the links of routes that changed.
func (a *App) linksOf(ctx context.Context, set *settings.Settings, changed []mapping.RouteChange) (n int) {
	for _, project := range set.Routes.Projects() {
		t, err := a.store.Tally(ctx, project)
		if err != nil {
			return n // the store is away; other log lines report that
		}
		for _, c := range changed {
			for _, links := range t.Links[c.Name] {
				n += links
			}
		}
	}
	return n
}
