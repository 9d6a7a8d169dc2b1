package settings

import (
	"sync"
	"sync/atomic"
	"time"

	"planbridge/bridge/budgets"
	"planbridge/bridge/engine"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/retention"
	"planbridge/bridge/status"
	"planbridge/bridge/webhook"
	"planbridge/mapping"
)

// Current holds the settings in force. It is safe for concurrent use.
type Current struct {
	changing sync.Mutex
	now      atomic.Pointer[Settings]
}

// NewCurrent returns a Current that holds settings.
func NewCurrent(s *Settings) *Current {
	c := &Current{}
	c.now.Store(s)
	return c
}

// Load returns the settings in force.
func (c *Current) Load() *Settings { return c.now.Load() }

// Update replaces the settings by the result of change; nil leaves them. One change runs at a time.
func (c *Current) Update(change func(*Settings) (*Settings, error)) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	next, err := change(c.now.Load())
	if err == nil && next != nil {
		c.now.Store(next)
	}
	return err
}

// Settings is the part for decisions.
func (c *Current) Settings() *reconcile.Settings { return &c.Load().Settings }

// Routes are the present routes.
func (c *Current) Routes() mapping.Routes { return c.Load().Routes }

// Projects are the projects that the configuration names.
func (c *Current) Projects() []mapping.ObjectID { return c.Load().Routes.Projects() }

// Scheme has the meanings of labels.
func (c *Current) Scheme() mapping.LabelScheme { return c.Load().Scheme }

// Keys are the keys that sign markers.
func (c *Current) Keys() mapping.Keys { return c.Load().Keys }

// Trust has the accepted webhook secrets.
func (c *Current) Trust() *webhook.Trust { return c.Load().Trust }

// Retry says how often and how long a key is tried again.
func (c *Current) Retry() engine.Retry {
	r := c.Load().Config.Retry
	return engine.Retry{MaxAttempts: r.MaxAttempts, MaxInterval: r.MaxInterval}
}

// Rules are the retention's rules.
func (c *Current) Rules() retention.Rules {
	set := c.Load().Config
	return retention.Rules{Ledger: set.LedgerRetention, Archive: set.LedgerArchive}
}

// PollInterval is the longest time between two polls of planning.
func (c *Current) PollInterval() time.Duration { return c.Load().Config.Planning.PollInterval }

// CatchUpInterval is how often GitHub is asked for changes without a delivery.
func (c *Current) CatchUpInterval() time.Duration { return c.Load().Config.GitHub.CatchUpInterval }

// VerifyInterval is how often all links are verified; 0: by hand only.
func (c *Current) VerifyInterval() time.Duration { return c.Load().Config.VerifyInterval }

// WriteLimits are how much may be written to GitHub.
func (c *Current) WriteLimits() budgets.Limits {
	hub := c.Load().Config.GitHub
	return budgets.Limits{ContentPerMinute: hub.WritesPerMinute, ContentPerHour: hub.WritesPerHour, EditsPerMinute: hub.EditsPerMinute, PointsPerMinute: hub.PointsPerMinute}
}

// importShare is the part of GitHub's write budget that imports may take (see [store.Ask]). It is
// two thirds, so that live changes never wait long for their writes.
func importShare(writes int) int { return max(1, writes*2/3) }

// Forecast is how long so many new issues and other writes of imports take under GitHub's budgets,
// and the key of the limiting budget.
func (c *Current) Forecast(issues, edits int) (takes time.Duration, bound string) {
	hub := c.Load().Config.GitHub
	for _, b := range []struct {
		key       string
		n, writes int
		per       time.Duration
	}{
		{"github.writes_per_minute", issues, hub.WritesPerMinute, time.Minute},
		{"github.writes_per_hour", issues, hub.WritesPerHour, time.Hour},
		{"github.edits_per_minute", edits, hub.EditsPerMinute, time.Minute},
	} {
		if d := time.Duration(b.n) * b.per / time.Duration(importShare(b.writes)); d > takes {
			takes, bound = d, b.key
		}
	}
	return takes, bound
}

// Access has the access rules of the admin listener.
func (c *Current) Access() status.Access {
	set := c.Load()
	s := &set.Config.Server
	return status.Access{
		Token: s.AdminToken.Reveal(), ProtectMetrics: s.ProtectMetrics, Hosts: s.AdminHosts,
		Proxy: status.Proxy{Header: s.AdminUserHeader, Trusted: s.Proxies()}, WebURL: set.WebURL, Cards: &set.Config.Planning,
	}
}
