package session

import (
	"context"
	"sync"
	"time"

	"planbridge/store"
)

// life is one session of the process, from its first heartbeat to its end. It never restarts. It
// is safe for concurrent use.
type life struct {
	id     store.Session
	over   context.Context // ended with the life
	finish context.CancelFunc

	mu    sync.Mutex
	until time.Time // zero: no heartbeat was answered yet
	timer *time.Timer
}

func newLife(id store.Session) *life {
	over, finish := context.WithCancel(context.Background())
	return &life{id: id, over: over, finish: finish}
}

// ended reports whether the life is over.
func (l *life) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.endedNow()
}

// endedNow is ended for a caller with the lock.
func (l *life) endedNow() bool {
	if !l.until.IsZero() && past(l.until) {
		l.finish()
	}
	return l.over.Err() != nil
}

// extend prolongs the life to a time, unless it is over.
func (l *life) extend(until time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.endedNow() || past(until) {
		l.finish()
		return false
	}
	l.until = until
	if l.timer == nil {
		l.timer = time.AfterFunc(time.Until(until), func() { l.ended() })
		context.AfterFunc(l.over, func() { l.timer.Stop() })
	} else {
		l.timer.Reset(time.Until(until))
	}
	return true
}

// past reports whether a time is over by the monotonic clock or by the wall clock. The former may
// stop while a machine is suspended.
func past(t time.Time) bool {
	now := time.Now()
	return !now.Before(t) || !now.Round(0).Before(t.Round(0))
}
