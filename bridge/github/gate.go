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

// The resources that GitHub limits apart, as X-RateLimit-Resource names them.
// What stands under none of them is still held by a limit on everything.
const (
	ResourceAll     = "all"
	ResourceCore    = "core"
	ResourceSearch  = "search"
	resourceGraphQL = "graphql"
)

// Resources are those that the client's requests may stand under.
func Resources() []string {
	return []string{ResourceAll, ResourceCore, ResourceSearch, resourceGraphQL}
}

// LookEvery is how long a client believes what it last heard of the holds of
// other replicas: within it a request may leave that another replica was told not
// to send.
const LookEvery = time.Second

// resource is the one a request stands under; "": none, as asking for the limits.
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

// closes is the resource that a limit, which a request met, closes. A primary limit
// is that of one resource; a secondary one asks to be left alone altogether, unless
// GitHub says that it is another resource's than the core's.
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

// Holds are what GitHub asked any replica to leave alone for a while.
type Holds interface {
	// Close tells all replicas that GitHub wants nothing to be sent to a resource for a while.
	Close(ctx context.Context, resource string, d time.Duration) error
	// Left returns for how much longer others were told so, by resource. It is asked before a
	// request, at most once in LookEvery.
	Left(ctx context.Context) (map[string]time.Duration, error)
}

// gate keeps requests back while GitHub asks to be left alone: what this client
// was told, and what others were.
type gate struct {
	holds Holds // nil: there are no others
	log   *slog.Logger

	mu      sync.Mutex
	looked  time.Time // when others were last asked about
	until   map[string]time.Time
	why     map[string]string
	strikes map[class]int // headerless limits in a row
	ended   []string      // resources that were closed, and under which nothing went through since
}

// check returns a *mapping.RateLimited while a request would meet a closed gate.
func (g *gate) check(ctx context.Context, k call) error {
	g.look(ctx)
	return g.closed(k)
}

// closed is check by what is known.
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

// look takes over what other replicas were told, where that was not asked lately.
func (g *gate) look(ctx context.Context) {
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
		// What this client said itself comes back a little shorter or longer.
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

// shut closes the gate after a request met l, lengthens l where headerless ones
// follow each other, and returns what it closed.
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

// passed notes that a request went through. That tells nothing of resources that it does not
// stand under.
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

// holdWithin bounds how long other replicas are told of a limit.
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
