package github

import (
	"context"
	"fmt"
	"sync"
	"time"

	"planbridge/mapping"
)

// GitHub counts requests in points, and an account has a number of points a minute. A read takes
// one point, any other request five. GraphQL has points of its own.
const (
	readPoints = 1
	// WritePoints is the number of points of a request other than a read.
	WritePoints = 5
)

// Share is the client's part of the budgets that all replicas share.
type Share interface {
	// TakeWrite takes one write of a class from its budget and returns 0. Otherwise it takes none
	// and returns when to ask again, which reserves a turn.
	TakeWrite(ctx context.Context, class WriteClass) (time.Duration, error)
	// TakePoints takes at most want points. Where it takes none, wait says when to ask again.
	TakePoints(ctx context.Context, want int) (got int, wait time.Duration, err error)
	// Asker returns the purpose of a request under ctx.
	Asker(ctx context.Context) Asker
	// UseReserved reports whether a write of a class is reserved under ctx, and uses the
	// reservation up.
	UseReserved(ctx context.Context, class WriteClass) bool
	// Now tells the time.
	Now() time.Time
}

// Asker is the purpose of a request.
type Asker struct {
	Rank    int  // a lower one goes first
	Patient bool // it waits in place while its ctx lasts; any other is put off
	// Reserved: a write is reserved, so that the reads before it do not wait.
	Reserved bool
}

// These amounts are taken by one client at once. The first is enough for a write and the read
// before it. It doubles each time it is used up within purseBusy. Points unused after purseLasts
// belong to a past minute and are lost.
const (
	purseFirst = readPoints + WritePoints
	purseMost  = 32
	purseBusy  = time.Second
	purseLasts = 5 * time.Second
)

// A share that fails, or does not answer within takeWithin, delays nobody: all requests leave for
// unaskedFor.
const (
	takeWithin = time.Second
	unaskedFor = 5 * time.Second
)

// debtPause is the pause before a retry when a debt took the points.
const debtPause = 100 * time.Millisecond

// pacer lets requests leave as long as there are points. A nil pacer lets all leave.
type pacer struct {
	share   Share
	patient chan struct{} // see Client

	mu     sync.Mutex
	purses map[int]*purse // by rank
}

// purse holds points taken ahead for the requests of one rank. A request leaves while any point
// is left, and may owe the rest. Otherwise a write, which needs five at once, would wait behind
// all reads.
type purse struct {
	turn chan struct{} // held by the request that asks the share

	mu      sync.Mutex
	left    int // below zero: owed
	take    int // points to take next
	filled  time.Time
	unasked time.Time // until then the share is not asked
}

func newPacer(s Share, patient chan struct{}) *pacer {
	if s == nil {
		return nil
	}
	return &pacer{share: s, patient: patient, purses: map[int]*purse{}}
}

// points returns the points of a request; 0: it has a count of its own.
func (k call) points() int {
	switch {
	case k.resource() == "" || k.resource() == resourceGraphQL:
		return 0
	case k.class == classWrite, k.class == classAsk:
		return WritePoints
	}
	return readPoints
}

// spend waits until a request may leave. An error says that it may not yet.
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

// giveBack returns the points of a request that does not leave.
func (p *pacer) giveBack(ctx context.Context, k call) {
	n := k.points()
	if p == nil || n == 0 {
		return
	}
	p.purse(p.share.Asker(ctx).Rank).owe(-n)
}

// draw takes points from a purse, and fills it where it is empty. Otherwise it returns when to
// try again.
func (p *pacer) draw(ctx context.Context, u *purse, n int) (wait time.Duration, err error) {
	if u.pay(p.share.Now(), n) {
		return 0, nil
	}
	if err := takeTurn(ctx, u.turn, "request points"); err != nil {
		return 0, err
	}
	defer func() { <-u.turn }()
	now := p.share.Now()
	if u.pay(now, n) { // another request filled it
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
		return 0, nil //nolint:nilerr // a failing share delays nobody
	case got <= 0:
		return max(wait, debtPause), nil
	}
	u.fill(now, got)
	if u.pay(now, n) {
		return 0, nil
	}
	return debtPause, nil
}

// pay takes points where any are left. It takes none while the share is not asked.
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

// owe takes points that may be missing.
func (u *purse) owe(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left -= n
}

// next returns how many points to take.
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
