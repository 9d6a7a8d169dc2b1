// Package budgets limits requests to GitHub for all replicas together.
package budgets

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/clock"
	"planbridge/bridge/effects"
	"planbridge/bridge/github"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// The store limits requests to GitHub for all replicas together. Two budgets limit writes. The
// points of a minute, and GitHub's own holds, limit everything. A write costs one round trip to the
// store. Points are taken some at a time: a round trip for up to 32 of them. Each replica looks for
// holds once in [github.LookEvery] while it sends anything.

// writeBurst is the number of GitHub writes of a class that may go back to back.
const writeBurst = 20

// holdPrefix opens the names of GitHub's holds in the store.
const holdPrefix = "github:"

// Limits are the limits of the configuration.
type Limits struct {
	ContentPerMinute, ContentPerHour int // issues and comments
	EditsPerMinute                   int // all other writes
	PointsPerMinute                  int // requests of any kind
}

// Settings has the present limits.
type Settings interface {
	WriteLimits() Limits
}

// Holder stores GitHub's holds.
type Holder interface {
	Hold(ctx context.Context, name string, d time.Duration) error
	Held(ctx context.Context, names ...string) ([]time.Duration, error)
}

// Store records the use of each budget.
type Store interface {
	Holder
	Take(ctx context.Context, b store.Budget, ask store.Ask) (store.Grant, error)
	Taken(ctx context.Context, name string) (minute, hour int, err error)
}

// Options configure Budgets. All fields are required.
type Options struct {
	Store    Store
	Settings Settings
	Clock    clock.Clock
}

// Budgets are the allowed requests to GitHub. They are safe for concurrent use.
type Budgets struct{ o Options }

var _ github.Share = (*Budgets)(nil)

// New makes the Budgets of a store.
func New(o Options) *Budgets { return &Budgets{o} }

// TakeWrite takes one write of a class from its budget, for the asker under ctx.
func (b *Budgets) TakeWrite(ctx context.Context, class github.WriteClass) (time.Duration, error) {
	g, err := b.o.Store.Take(ctx, b.Budget(class), effects.AskOf(ctx))
	if err == nil && g.Held {
		err = &mapping.RateLimited{API: "github", After: g.Wait, Why: "another replica was told to wait", Resource: b.held(ctx)}
	}
	return g.Wait, err
}

// held is the resource with the longest hold among those that writes need.
func (b *Budgets) held(ctx context.Context) string {
	left, err := Holds{b.o.Store}.Left(ctx)
	if err == nil && left[github.ResourceCore] > left[github.ResourceAll] {
		return github.ResourceCore
	}
	return github.ResourceAll
}

// Left is the number of writes to GitHub that all replicas together may still make.
func (b *Budgets) Left(ctx context.Context) ([]status.Budget, error) {
	var out []status.Budget
	for _, class := range []github.WriteClass{github.ClassContent, github.ClassEdit} {
		budget := b.Budget(class)
		minute, hour, err := b.o.Store.Taken(ctx, budget.Name)
		if err != nil {
			return out, err
		}
		for _, window := range []struct {
			name     string
			of, took int
		}{{"minute", budget.PerMinute, minute}, {"hour", budget.PerHour, hour}} {
			if window.of > 0 {
				out = append(out, status.Budget{Name: budgetNames[class], Window: window.name, Left: max(0, window.of-window.took), Of: window.of})
			}
		}
	}
	return out, nil
}

// budgetNames name the classes of writes for people.
var budgetNames = map[github.WriteClass]string{github.ClassContent: "content", github.ClassEdit: "edits"}

// Budget is the budget of a class of writes to GitHub.
func (b *Budgets) Budget(class github.WriteClass) store.Budget {
	c := b.o.Settings.WriteLimits()
	budget := store.Budget{
		Name: "github", PerMinute: c.ContentPerMinute, PerHour: c.ContentPerHour, Burst: writeBurst,
		Holds: []string{holdPrefix + github.ResourceAll, holdPrefix + github.ResourceCore},
	}
	if class == github.ClassEdit {
		budget.Name, budget.PerMinute, budget.PerHour = "github:edits", c.EditsPerMinute, 0
	}
	return budget
}

// requestBurst is the number of points that may be used back to back. GitHub counts requests by
// points, 900 a minute: a read has one and a write five. A configuration whose writes alone take
// more than its points is for a server without that limit.
const requestBurst = 100

// Asker returns the purpose of a request under ctx. A request without a key is patient.
func (b *Budgets) Asker(ctx context.Context) github.Asker {
	return github.Asker{Rank: int(effects.AskOf(ctx).Rank), Patient: !effects.OfKey(ctx), Reserved: effects.AnyReserved(ctx)}
}

// UseReserved uses up a write that a key has reserved.
func (b *Budgets) UseReserved(ctx context.Context, class github.WriteClass) bool {
	return effects.UseReserved(ctx, reconcile.WriteClass(class))
}

// Now is the time by which requests are paced.
func (b *Budgets) Now() time.Time { return b.o.Clock.Now() }

// TakePoints takes points of a minute, for the asker under ctx.
func (b *Budgets) TakePoints(ctx context.Context, want int) (int, time.Duration, error) {
	c := b.o.Settings.WriteLimits()
	if github.WritePoints*(c.ContentPerMinute+c.EditsPerMinute) > c.PointsPerMinute {
		return want, 0, nil
	}
	ask := effects.AskOf(ctx)
	ask.Items = want
	g, err := b.o.Store.Take(ctx, store.Budget{Name: "github:points", PerMinute: c.PointsPerMinute, Burst: requestBurst}, ask)
	return g.Items, g.Wait, err
}

// Holds are the resources that GitHub closed to any replica for a while.
type Holds struct{ Store Holder }

// Close tells all replicas to send nothing to a resource.
func (h Holds) Close(ctx context.Context, resource string, d time.Duration) error {
	return h.Store.Hold(ctx, holdPrefix+resource, d)
}

// Left returns for how much longer each resource is closed.
func (h Holds) Left(ctx context.Context) (map[string]time.Duration, error) {
	resources := github.Resources()
	names := make([]string, len(resources))
	for i, resource := range resources {
		names[i] = holdPrefix + resource
	}
	left, err := h.Store.Held(ctx, names...)
	if err != nil {
		return nil, err
	}
	by := map[string]time.Duration{}
	for i, resource := range resources {
		by[resource] = left[i]
	}
	return by, nil
}

// NewWaits registers the metric of writes that waited for their budget.
func NewWaits(r prometheus.Registerer) *prometheus.CounterVec {
	waits := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "planbridge_github_write_waits_total", Help: "Writes to GitHub that had to wait for their budget, by class."}, []string{"class"})
	r.MustRegister(waits)
	for _, class := range []github.WriteClass{github.ClassContent, github.ClassEdit} {
		waits.WithLabelValues(string(class))
	}
	return waits
}
