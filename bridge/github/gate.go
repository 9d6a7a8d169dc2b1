package github

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/factlog"
	"planbridge/mapping"
)

// The resources with limits of their own, by their X-RateLimit-Resource. A limit on everything
// also closes requests outside them.
const (
	ResourceAll     = "all"
	ResourceCore    = "core"
	ResourceSearch  = "search"
	resourceGraphQL = "graphql"
)

// Resources lists the resources of the client's requests.
func Resources() []string {
	return []string{ResourceAll, ResourceCore, ResourceSearch, resourceGraphQL}
}

// LookEvery is how long a client uses its last answer about other replicas' holds. Within it a
// request may leave although another replica was told to wait.
const LookEvery = time.Second

// resource is the limited resource of a request; "": none, as for the limits themselves.
func (k call) resource() string {
	switch {
	case k.class == classGraphQL, k.class == classMutation:
		return resourceGraphQL
	case k.path == "rate_limit" || k.path == "app":
		return ""
	case strings.HasPrefix(k.path, "search/"):
		return ResourceSearch
	}
	return ResourceCore
}

// closes returns the resource that a limit closes. A primary limit closes one resource. A
// secondary one closes everything, unless GitHub names another resource than the core.
func (l limit) closes(k call) string {
	switch {
	case l.resource != "" && l.resource != ResourceCore:
		return l.resource
	case !l.primary:
		return ResourceAll
	case l.resource == "" && k.resource() != "":
		return k.resource()
	}
	return ResourceCore
}

// Holds shares GitHub's limits between replicas.
type Holds interface {
	// Close tells all replicas to send nothing to a resource for a while.
	Close(ctx context.Context, resource string, d time.Duration) error
	// Left returns for how much longer each resource is closed. It is called before a request, at
	// most once in LookEvery.
	Left(ctx context.Context) (map[string]time.Duration, error)
}

// gate delays requests while a limit of this client or of another replica lasts.
type gate struct {
	holds Holds // nil: there are no other replicas
	log   *slog.Logger

	mu      sync.Mutex
	looked  time.Time // when the others' limits were last read
	until   map[string]time.Time
	why     map[string]string
	strikes map[class]int // consecutive headerless limits
	ended   []string      // resources that were closed, without a successful request since
}

// check returns a *mapping.RateLimited while a request would meet a closed gate.
func (g *gate) check(ctx context.Context, k call) error {
	g.refreshLimits(ctx)
	return g.closed(k)
}

// closed is check without asking the store.
func (g *gate) closed(k call) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, resource := range []string{ResourceAll, k.resource()} {
		if after := time.Until(g.until[resource]); after > 0 {
			return &mapping.RateLimited{API: "github", After: after, Why: g.why[resource], Resource: resource}
		}
		if _, closed := g.until[resource]; closed {
			delete(g.until, resource)
			g.ended = append(g.ended, resource)
		}
	}
	return nil
}

// refreshLimits reads other replicas' limits, unless it did lately.
func (g *gate) refreshLimits(ctx context.Context) {
	g.mu.Lock()
	due := g.holds != nil && time.Since(g.looked) >= LookEvery
	if due {
		g.looked = time.Now()
	}
	g.mu.Unlock()
	if !due {
		return
	}
	left, err := g.holds.Left(ctx)
	if err != nil {
		g.log.Debug("asking for the holds of other replicas", "err", err)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for resource, d := range left {
		// This client's own limit comes back a little shorter or longer.
		if d > 0 && time.Until(g.until[resource])+LookEvery < d {
			g.log.Warn("another replica was told to wait for github", "after", d, "resource", resource, factlog.Fact, factlog.Limited)
			g.close(resource, d, "another replica was told to wait")
		}
	}
}

func (g *gate) close(resource string, d time.Duration, why string) {
	if g.until == nil {
		g.until, g.why = map[string]time.Time{}, map[string]string{}
	}
	g.ended = slices.DeleteFunc(g.ended, func(r string) bool { return r == resource })
	if until := time.Now().Add(d); until.After(g.until[resource]) {
		g.until[resource], g.why[resource] = until, why
	}
}

// shut closes the gate for the limit l. It lengthens consecutive headerless limits. It returns
// the closed resource.
func (g *gate) shut(k call, l limit) (resource string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.headerless {
		if g.strikes == nil {
			g.strikes = map[class]int{}
		}
		l.After = min(l.After<<g.strikes[k.class], headerlessWaitMax)
		g.strikes[k.class] = min(g.strikes[k.class]+1, 8)
	}
	resource = l.closes(k)
	l.Resource = resource
	g.close(resource, l.After, l.Why)
	return resource
}

// passed notes a request that went through. It says nothing about other resources.
func (g *gate) passed(k call) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.strikes, k.class)
	g.ended = slices.DeleteFunc(g.ended, func(resource string) bool {
		over := resource == ResourceAll || resource == k.resource()
		if over {
			g.log.Info("GitHub takes requests again", "resource", resource, factlog.Over, factlog.Limited)
		}
		return over
	})
}

// holdWithin bounds the time to tell other replicas of a limit.
const holdWithin = 3 * time.Second

// shut closes the gate of all replicas.
func (w *wire) shut(ctx context.Context, k call, l limit) (resource string) {
	resource = w.gate.shut(k, l)
	if w.gate.holds == nil {
		return resource
	}
	ctx, cancel := bounded(context.WithoutCancel(ctx), holdWithin)
	defer cancel()
	if err := w.gate.holds.Close(ctx, resource, l.After); err != nil {
		w.log.Warn("telling other replicas of github's rate limit", "err", err)
	}
	return resource
}
