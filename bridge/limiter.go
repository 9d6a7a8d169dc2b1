package bridge

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/effects"
	"planbridge/bridge/github"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// What is sent to GitHub is limited for all replicas together, in the store: writes
// by two budgets, and everything by the points of a minute and by what GitHub itself asked
// for. A write costs one round trip to the store. Points are taken some at a time: a round
// trip for up to 32 of them. Each replica looks for holds once in [github.LookEvery] while
// it sends anything.

// writeBurst is how many GitHub writes of a class may go back to back.
const writeBurst = 20

// holdPrefix opens the names of GitHub's holds in the store.
const holdPrefix = "github:"

// takeWrite takes one write of a class from its budget, for whoever asks under ctx.
func (a *App) takeWrite(ctx context.Context, class github.WriteClass) (time.Duration, error) {
	if effects.Reserved(ctx, reconcile.WriteClass(class)) {
		return 0, nil
	}
	g, err := a.store.Take(ctx, a.budgetOf(class), effects.AskOf(ctx))
	if err == nil && g.Held {
		err = &mapping.RateLimited{API: "github", After: g.Wait, Why: "another replica was told to wait"}
	}
	return g.Wait, err
}

// budgets are what all replicas together may still write to GitHub.
func (a *App) budgets(ctx context.Context) ([]status.Budget, error) {
	var out []status.Budget
	for _, class := range []github.WriteClass{github.ClassContent, github.ClassEdit} {
		b := a.budgetOf(class)
		minute, hour, err := a.store.Taken(ctx, b.Name)
		if err != nil {
			return out, err
		}
		for _, window := range []struct {
			name     string
			of, took int
		}{{"minute", b.PerMinute, minute}, {"hour", b.PerHour, hour}} {
			if window.of > 0 {
				out = append(out, status.Budget{Name: budgetNames[class], Window: window.name, Left: max(0, window.of-window.took), Of: window.of})
			}
		}
	}
	return out, nil
}

// budgetNames name the classes of writes for people.
var budgetNames = map[github.WriteClass]string{github.ClassContent: "content", github.ClassEdit: "edits"}

// budgetOf is the budget of a class of writes to GitHub.
func (a *App) budgetOf(class github.WriteClass) store.Budget {
	c := a.set.Load().config.GitHub
	b := store.Budget{
		Name: "github", PerMinute: c.WritesPerMinute, PerHour: c.WritesPerHour, Burst: writeBurst,
		Holds: []string{holdPrefix + github.ResourceAll, holdPrefix + github.ResourceCore},
	}
	if class == github.ClassEdit {
		b.Name, b.PerMinute, b.PerHour = "github:edits", c.EditsPerMinute, 0
	}
	return b
}

// GitHub counts requests by points, 900 a minute: a read has one and a write five. Both may
// be counted there a moment later than here, hence the distance. A configuration whose
// writes alone would take more is for a server without that limit.
const (
	requestPoints = 850
	requestBurst  = 100
	pointsOfWrite = 5
)

// points is how requests are paced, for all replicas together.
func (a *App) points() *github.Points {
	return &github.Points{
		Take: a.takePoints, Now: a.o.Now,
		Asker: func(ctx context.Context) (int, bool) { return int(effects.AskOf(ctx).Rank), !effects.OfKey(ctx) },
	}
}

func (a *App) takePoints(ctx context.Context, want int) (int, time.Duration, error) {
	c := a.set.Load().config.GitHub
	if pointsOfWrite*(c.WritesPerMinute+c.EditsPerMinute) > requestPoints {
		return want, 0, nil
	}
	ask := effects.AskOf(ctx)
	ask.Items = want
	g, err := a.store.Take(ctx, store.Budget{Name: "github:points", PerMinute: requestPoints, Burst: requestBurst}, ask)
	return g.Items, g.Wait, err
}

// holds are what GitHub asked any replica to leave alone for a while.
type holds struct{ store.Leases }

// close tells all replicas that nothing is to be sent to a resource.
func (h holds) close(ctx context.Context, resource string, d time.Duration) error {
	return h.Hold(ctx, holdPrefix+resource, d)
}

// left says for how much longer each resource is left alone.
func (h holds) left(ctx context.Context) (map[string]time.Duration, error) {
	resources := github.Resources()
	names := make([]string, len(resources))
	for i, resource := range resources {
		names[i] = holdPrefix + resource
	}
	left, err := h.Held(ctx, names...)
	if err != nil {
		return nil, err
	}
	by := map[string]time.Duration{}
	for i, resource := range resources {
		by[resource] = left[i]
	}
	return by, nil
}

func writeWaits(r prometheus.Registerer) *prometheus.CounterVec {
	waits := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "planbridge_github_write_waits_total", Help: "Writes to GitHub that had to wait for their budget, by class."}, []string{"class"})
	r.MustRegister(waits)
	for _, class := range []github.WriteClass{github.ClassContent, github.ClassEdit} {
		waits.WithLabelValues(string(class))
	}
	return waits
}
