package effects

import (
	"sync"
	"time"
)

// pauses remembers operations that failed and must wait before the next try, longer each time. It
// lives as long as the process. It is safe for concurrent use.
type pauses struct {
	mu sync.Mutex
	m  map[string]pause
}

type pause struct {
	until time.Time
	last  time.Duration
	why   string
}

// left returns how long an operation must still wait (0: it may run), and why.
func (p *pauses) left(now time.Time, name string) (wait time.Duration, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.m[name].until.Sub(now)), p.m[name].why
}

// fail records a failure. The first pause is first, each further one twice as long, up to most.
// It reports whether the operation was all right before.
func (p *pauses) fail(now time.Time, name, why string, first, most time.Duration) (wait time.Duration, news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, failing := p.m[name]
	wait = min(max(first, 2*was.last), most)
	if p.m == nil {
		p.m = map[string]pause{}
	}
	p.m[name] = pause{now.Add(wait), wait, why}
	return wait, !failing
}

// ok records a success.
func (p *pauses) ok(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.m, name)
}
