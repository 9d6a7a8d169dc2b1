package github

import (
	"context"
	"errors"
	"sync"
	"time"

	"planbridge/mapping"
)

// GitHub counts requests by points, of which an account has so many a minute: a read has
// one, any other request five. GraphQL has points of its own.
const (
	readPoints  = 1
	writePoints = 5
)

// Points is how a client shares its points with others. All fields are required.
type Points struct {
	// Take takes at most so many points, for whoever asks under ctx. For none, wait says
	// when to ask again.
	Take func(ctx context.Context, want int) (got int, wait time.Duration, err error)
	// Asker says what a request under ctx is for: a lower rank goes first. One that is
	// patient waits in place for as long as its ctx lasts, any other is put off.
	Asker func(ctx context.Context) (rank int, patient bool)
	Now   func() time.Time
}

// What one client takes at once: as much as a write and the read before it need, twice as
// much each time while that lasts less than purseBusy. What is not used within purseLasts
// is another minute's, and lost.
const (
	purseFirst = readPoints + writePoints
	purseMost  = 32
	purseBusy  = time.Second
	purseLasts = 5 * time.Second
)

// pacer lets requests leave as far as there are points for them. A nil one lets all.
type pacer struct {
	Points
	patient chan struct{} // see Client

	mu     sync.Mutex
	purses map[int]*purse // by rank
}

// purse is what was taken ahead for the requests of one rank.
type purse struct {
	turn   chan struct{} // held by who looks into it
	left   int
	take   int // how much is taken next
	filled time.Time
}

func newPacer(p *Points, patient chan struct{}) *pacer {
	if p == nil {
		return nil
	}
	return &pacer{Points: *p, patient: patient, purses: map[int]*purse{}}
}

// points is what a request counts; 0: it is not counted with the others.
func (k call) points() int {
	switch {
	case k.resource() == "" || k.class == classGraphQL:
		return 0
	case k.class == classWrite:
		return writePoints
	}
	return readPoints
}

// spend waits until a request may leave. Its errors say that it may not yet.
func (p *pacer) spend(ctx context.Context, k call) error {
	n := k.points()
	if p == nil || n == 0 {
		return nil
	}
	rank, patient := p.Asker(ctx)
	u := p.purse(rank)
	for waited := time.Duration(0); ; {
		d, err := p.draw(ctx, u, n)
		if err != nil || d <= 0 {
			return err
		}
		if !patient {
			if waited+d > budgetPatience || waited == 0 && !waitsInPlace(p.patient) {
				return &mapping.RateLimited{API: "github", After: d, Why: "request points", Turn: true}
			}
			if waited == 0 {
				defer func() { <-p.patient }()
			}
		}
		if err := wait(ctx, d, "request points"); err != nil {
			return err
		}
		waited += d
	}
}

func (p *pacer) purse(rank int) *purse {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.purses[rank]
	if u == nil {
		u = &purse{turn: make(chan struct{}, 1), take: purseFirst}
		p.purses[rank] = u
	}
	return u
}

// draw takes points out of a purse, which it fills where they do not suffice, or says when
// to try again. A share that cannot be asked for its points holds nobody up.
func (p *pacer) draw(ctx context.Context, u *purse, n int) (wait time.Duration, err error) {
	select {
	case u.turn <- struct{}{}:
		defer func() { <-u.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	now := p.Now()
	since := now.Sub(u.filled)
	if since > purseLasts {
		u.left = 0
	}
	if u.left >= n {
		u.left -= n
		return 0, nil
	}
	switch {
	case since > purseBusy:
		u.take = purseFirst
	default:
		u.take = min(2*u.take, purseMost)
	}
	for u.left < n {
		got, wait, err := p.Take(ctx, max(u.take, n-u.left))
		if limited := (*mapping.RateLimited)(nil); errors.As(err, &limited) {
			return 0, err
		}
		if err != nil {
			return 0, nil //nolint:nilerr // who cannot ask is not held up by it
		}
		if got <= 0 {
			return wait, nil
		}
		u.left, u.filled = u.left+got, now
	}
	u.left -= n
	return 0, nil
}
