package bridge

import (
	"context"
	"sync"
	"time"
)

// storeEpoch reads the epoch and notes when it changed.
func (a *App) storeEpoch(ctx context.Context) (string, error) {
	epoch, err := storeEpoch(ctx, a.store)
	if err == nil {
		a.losses.saw(epoch)
	}
	return epoch, err
}

// losses remembers when the store was last found to be another one.
type losses struct {
	mu    sync.Mutex
	epoch string
	at    time.Time
}

func (l *losses) saw(epoch string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoch != "" && l.epoch != epoch {
		l.at = time.Now()
	}
	l.epoch = epoch
}

// last is when that was; zero: never in this process.
func (l *losses) last() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}
