package bridge

import (
	"context"
	"maps"
	"slices"
	"time"

	"planbridge/bridge/budgets"
	"planbridge/bridge/github"
	"planbridge/bridge/metrics"
	"planbridge/bridge/monitor"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// answers tell the monitor how a service answered.
type answers struct {
	monitor *monitor.Monitor
	service string
}

func (o answers) Asked(operation string, err error) { o.monitor.Asked(o.service, operation, err) }

// RefuseReload notes that a configuration was not put in force, as it has faults.
func (a *App) RefuseReload(err error) { a.reloaded(err) }

// reloaded records the result of a reload.
func (a *App) reloaded(err error) {
	a.metrics.process.Reloaded(err)
	a.monitor.Reloaded(err)
}

// registerMetrics registers the metrics of states of this process.
func (a *App) registerMetrics() {
	a.metrics.process = metrics.NewProcess(a.o.Registry)
	metrics.Register(a.o.Registry, metrics.Options{Store: a.store, Source: metricSource{a.set, a}, Guard: a.guard, Clock: a.o.Clock})
}

// metricSource is the program as its metrics see it.
type metricSource struct {
	*settings.Current
	a *App
}

func (s metricSource) Paused(route string) bool { return s.a.pauses.Paused(route) }
func (s metricSource) GitHubDown() bool         { return s.a.github.Down() }
func (s metricSource) RateRemaining() int       { return s.a.github.RateRemaining() }

func (s metricSource) PlanningDown(project mapping.ObjectID) (down, known bool) {
	p := s.a.projects.get(project)
	return p != nil && p.side.Down(), p != nil
}

func (s metricSource) Budgets(ctx context.Context) ([]status.Budget, error) {
	return s.a.budgets.Left(ctx)
}

func (s metricSource) Burndown(ctx context.Context, project mapping.ObjectID) ([]mapping.Burndown, error) {
	return s.a.Operator().Burndown(ctx, project)
}

func (s metricSource) Questions(ctx context.Context, project mapping.ObjectID) (map[string]int, error) {
	return s.a.questions.Counts(ctx, project)
}

// healthSource is the program as the view of its health sees it.
type healthSource struct {
	*settings.Current
	a *App
}

func (s healthSource) Projects() (list []monitor.Project) {
	projects := s.Load().Config.Planning.Projects
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		list = append(list, monitor.Project{Name: name, ID: mapping.ObjectID(projects[name].ID)})
	}
	return list
}

func (s healthSource) Down(service string) bool { return clients{s.a}.Down(service) }

func (s healthSource) Held(ctx context.Context) (time.Duration, error) {
	left, err := budgets.Holds{Store: s.a.store}.Left(ctx)
	return max(left[github.ResourceAll], left[github.ResourceCore]), err
}

func (s healthSource) Drift() map[string]int {
	drift := s.a.metrics.verifier.Drift()
	maps.DeleteFunc(drift, func(route string, _ int) bool { return s.Load().Routes.ByName(route) == nil })
	return drift
}

func (s healthSource) Budgets(ctx context.Context) ([]status.Budget, error) {
	return s.a.budgets.Left(ctx)
}
