package github

import (
	"context"
	"fmt"
	"sync"
	"time"

	"planbridge/mapping"
)

// GitHub counts requests by points, of which an account has so many a minute: a read has
// one, any other request five. GraphQL has points of its own.
const (
	readPoints = 1
	// WritePoints is what a request counts that is no read.
	WritePoints = 5
)

// Share is what a client may send to GitHub of what all replicas may together, and for whom.
type Share interface {
	// TakeWrite takes one write of a class from its budget and returns 0, or takes none and
	// returns when to ask again, which is a turn of its own.
	TakeWrite(ctx context.Context, class WriteClass) (time.Duration, error)
	// TakePoints takes at most so many points. For none, wait says when to ask again.
	TakePoints(ctx context.Context, want int) (got int, wait time.Duration, err error)
	// Asker says what a request under ctx is for.
	Asker(ctx context.Context) Asker
	// UseReserved reports whether a write of a class was reserved for what is done under ctx,
	// and uses the reservation up.
	UseReserved(ctx context.Context, class WriteClass) bool
	// Now tells the time.
	Now() time.Time
}

// Asker is what a request is for.
type Asker struct {
	Rank    int  // a lower one goes first
	Patient bool // it waits in place for as long as its ctx lasts; any other is put off
	// Reserved: a write was reserved, so that what is read for it does not wait.
	Reserved bool
}

// What one client takes at once: as much as a write and the read before it need, twice as
// much each time while that lasts less than purseBusy. What is not used within purseLasts
// is another minute's, and lost.
const (
	purseFirst = readPoints + WritePoints
	purseMost  = 32
	purseBusy  = time.Second
	purseLasts = 5 * time.Second
)

// A share that does not answer within takeWithin, or with an error, holds nobody up: for
// unaskedFor all requests leave.
const (
	takeWithin = time.Second
	unaskedFor = 5 * time.Second
)

// debtPause is when a request tries again whose points went to what was owed.
const debtPause = 100 * time.Millisecond

// pacer lets requests leave as far as there are points for them. A nil one lets all.
type pacer struct {
	share   Share
	patient chan struct{} // see Client

	mu     sync.Mutex
	purses map[int]*purse // by rank
}

// purse is what was taken ahead for the requests of one rank. A request leaves where any
// point is left, and may owe the others: else a write, which needs five at once, would stand
// behind all reads.
type purse struct {
	turn chan struct{} // held by who asks the share

	mu      sync.Mutex
	left    int // below zero: owed
	take    int // how much is taken next
	filled  time.Time
	unasked time.Time // until when the share is not asked
}

func newPacer(s Share, patient chan struct{}) *pacer {
	if s == nil {
		return nil
	}
	return &pacer{share: s, patient: patient, purses: map[int]*purse{}}
}

// points is what a request counts; 0: it is not counted with the others.
func (k call) points() int {
	switch {
	case k.resource() == "" || k.resource() == resourceGraphQL:
		return 0
	case k.class == classWrite:
		return WritePoints
	}
	return readPoints
}

// spend waits until a request may leave. Its errors say that it may not yet.
func (p *pacer) spend(ctx context.Context, k call) error {
	n := k.points()
	if p == nil || n == 0 {
		return nil
	}
	asker := p.share.Asker(ctx)
	u := p.purse(asker.Rank)
	if asker.Reserved && n == readPoints {
		u.owe(n)
		return nil
	}
	for waited := time.Duration(0); ; {
		d, err := p.draw(ctx, u, n)
		if err != nil || d <= 0 {
			return err
		}
		if !asker.Patient {
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

// giveBack returns what was spent on a request that does not leave.
func (p *pacer) giveBack(ctx context.Context, k call) {
	n := k.points()
	if p == nil || n == 0 {
		return
	}
	p.purse(p.share.Asker(ctx).Rank).owe(-n)
}

// draw takes points out of a purse, which it fills where none are left, or says when to try
// again.
func (p *pacer) draw(ctx context.Context, u *purse, n int) (wait time.Duration, err error) {
	if u.pay(p.share.Now(), n) {
		return 0, nil
	}
	select {
	case u.turn <- struct{}{}:
		defer func() { <-u.turn }()
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: request points: %w", mapping.ErrUnavailable, ctx.Err())
	}
	now := p.share.Now()
	if u.pay(now, n) { // another one has filled it
		return 0, nil
	}
	asking, cancel := bounded(ctx, takeWithin)
	defer cancel()
	got, wait, err := p.share.TakePoints(asking, u.next(now))
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("%w: request points: %w", mapping.ErrUnavailable, ctx.Err())
	case err != nil:
		u.leaveAlone(p.share.Now().Add(unaskedFor))
		return 0, nil //nolint:nilerr // who cannot ask is not held up by it
	case got <= 0:
		return max(wait, debtPause), nil
	}
	u.fill(now, got)
	if u.pay(now, n) {
		return 0, nil
	}
	return debtPause, nil
}

// pay takes points where any are left, and takes none where the share is not to be asked.
func (u *purse) pay(now time.Time, n int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.Sub(u.filled) > purseLasts {
		u.left = min(u.left, 0)
	}
	if u.left <= 0 {
		return now.Before(u.unasked)
	}
	u.left -= n
	return true
}

// owe takes points that may not be there.
func (u *purse) owe(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left -= n
}

// next is how many points are to be taken.
func (u *purse) next(now time.Time) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.Sub(u.filled) > purseBusy {
		u.take = purseFirst
	} else {
		u.take = min(2*u.take, purseMost)
	}
	return u.take
}

func (u *purse) fill(now time.Time, got int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left, u.filled = u.left+got, now
}

func (u *purse) leaveAlone(until time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.unasked = until
}
