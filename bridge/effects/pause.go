package effects

import (
	"sync"
	"time"
)

// pauses remembers what went wrong and is not to be tried before a while has
// passed, longer each time. It lives as long as the process. It is safe for
// concurrent use.
type pauses struct {
	mu sync.Mutex
	m  map[string]pause
}

type pause struct {
	until time.Time
	last  time.Duration
	why   string
}

// left is how long it is until something may be tried again (0: now), and why.
func (p *pauses) left(now time.Time, name string) (wait time.Duration, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.m[name].until.Sub(now)), p.m[name].why
}

// fail takes in that something went wrong: at first it is left alone for the
// time first, then for twice as long each time, up to most. It reports whether
// it had been all right before.
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

// ok takes in that something went well.
func (p *pauses) ok(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.m, name)
}
