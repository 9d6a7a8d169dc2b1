package redisstore

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

const (
	// gatherMost bounds the observations that are sent together.
	gatherMost = 256
	// gatherWait bounds one group; the library's own bounds are lower.
	gatherWait = 30 * time.Second
)

// gathering groups the observations of one project: those that come while a group is under way
// form the next one. A single observation never waits. Only one group is under way, as two would
// be smaller. Each would pay for a script beside its observations.
type gathering struct {
	send func(ctx context.Context, args [][]any) ([]store.Observed, error)

	mu      sync.Mutex
	waiting []*observing
	running bool // a group is under way
}

// observing is one caller's part of a group.
type observing struct {
	args [][]any
	seen []store.Observed
	err  error
	done chan struct{} // closed when seen and err are set
}

func (s *Store) gathering(project mapping.ObjectID) *gathering {
	if g, ok := s.observes.Load(project); ok {
		return g.(*gathering)
	}
	g, _ := s.observes.LoadOrStore(project, &gathering{send: func(ctx context.Context, args [][]any) ([]store.Observed, error) {
		return s.observe(ctx, project, args)
	}})
	return g.(*gathering)
}

// observe waits until args are stored. Where ctx ends first, they may be stored or not.
func (g *gathering) observe(ctx context.Context, args [][]any) ([]store.Observed, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := &observing{args: args, done: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, o)
	if !g.running {
		g.running = true
		go g.run(context.WithoutCancel(ctx))
	}
	g.mu.Unlock()
	select {
	case <-o.done:
		return o.seen, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run sends groups until no observation waits. Before each group it yields to goroutines that are
// ready to run, as they may add to it. A script costs as much as three observations.
func (g *gathering) run(ctx context.Context) {
	runtime.Gosched()
	for group := g.next(); len(group) > 0; group = g.next() {
		g.sendGroup(ctx, group)
		runtime.Gosched()
	}
}

func (g *gathering) sendGroup(ctx context.Context, group []*observing) {
	ctx, cancel := context.WithTimeout(ctx, gatherWait)
	defer cancel()
	var args [][]any
	for _, o := range group {
		args = append(args, o.args...)
	}
	seen, err := g.guarded(ctx, args)
	for _, o := range group {
		if o.err = err; err == nil {
			o.seen, seen = seen[:len(o.args):len(o.args)], seen[len(o.args):]
		}
		close(o.done)
	}
}

// next takes the next group; an empty one is the last.
func (g *gathering) next() []*observing {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, size := 0, 0
	for n < len(g.waiting) && (n == 0 || size+len(g.waiting[n].args) <= gatherMost) {
		size += len(g.waiting[n].args)
		n++
	}
	group := g.waiting[:n:n]
	g.waiting, g.running = g.waiting[n:], n > 0
	return group
}

// guarded is send, with a panic turned into an error.
func (g *gathering) guarded(ctx context.Context, args [][]any) (seen []store.Observed, err error) {
	defer func() {
		if p := recover(); p != nil {
			seen, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return g.send(ctx, args)
}
