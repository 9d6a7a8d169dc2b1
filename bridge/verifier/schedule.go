package verifier

import (
	"context"
	"fmt"
	"time"

	"planbridge/bridge/inventory"
	"planbridge/bridge/lease"
	"planbridge/bridge/status"
	"planbridge/store"
)

const (
	// lookEvery is how often the schedule is checked.
	lookEvery = time.Minute
	// docVerified names the document with the result of the last verification.
	docVerified = "verified"
	// hourly is how many requests a scheduled verification sends to GitHub in an hour: a tenth
	// of what GitHub allows one account.
	hourly = 500
)

// verified is the result of a scheduled verification.
type verified struct {
	At    time.Time      `json:"at"`
	Drift map[string]int `json:"drift,omitempty"` // links that differ, by route
}

// Run verifies all links by the schedule, until ctx ends. One replica does so, so that the metric
// of differing links is current without a request. It repairs nothing; pairs that lack an item
// become due.
func (v *Verifier) Run(ctx context.Context) {
	l := &lease.Lease{Clock: v.o.Clock, Store: v.o.Store, Session: v.o.Session, Name: "verify", Owner: v.o.Owner, TTL: lease.TTL(lookEvery)}
	defer l.Release(ctx)
	var shown time.Time // when the verification behind the metric was
	l.Every(ctx, v.o.Guard, "look for a verification", v.o.Clock, v.pauseBetweenLooks, func(ctx context.Context) {
		last, err := v.verifyWhenDue(ctx, l)
		if err != nil && ctx.Err() == nil {
			v.o.Logger.Warn("verifying all links; to be tried again", "err", err)
		}
		if err == nil && last.At.After(shown) {
			shown = last.At
			v.o.Metrics.show(last.Drift, v.o.Inventory.Settings().Routes.All())
		}
	})
}

func (v *Verifier) pauseBetweenLooks() time.Duration {
	if d := v.o.Schedule.VerifyInterval(); d > 0 {
		return min(d, lookEvery)
	}
	return lookEvery
}

// verifyWhenDue verifies all links where the last verification is an interval ago, and returns
// the latest result. The first interval begins with the first contact with a store.
func (v *Verifier) verifyWhenDue(ctx context.Context, l *lease.Lease) (verified, error) {
	last, known, err := v.lastVerified(ctx)
	interval, now := v.o.Schedule.VerifyInterval(), v.o.Clock.Now()
	switch {
	case err != nil || interval == 0 || known && now.Sub(last.At) < interval:
		return last, err
	case !known:
		return verified{}, v.putVerified(ctx, verified{At: now})
	}
	held, _, err := l.Acquire(ctx)
	if err != nil || !held {
		return last, err
	}
	err = l.Hold(ctx, v.o.Guard, "verification of all links", "", func(ctx context.Context) error {
		last.At = now
		if last.Drift, err = v.verifyAll(ctx); err != nil {
			return err
		}
		return v.putVerified(ctx, last)
	})
	return last, err
}

func (v *Verifier) lastVerified(ctx context.Context) (last verified, known bool, err error) {
	known, err = store.ReadJSON(ctx, v.o.Store, "", docVerified, &last)
	return last, known, err
}

func (v *Verifier) putVerified(ctx context.Context, found verified) error {
	return store.WriteJSON(ctx, v.o.Store, "", docVerified, found)
}

// verifyAll verifies all links as a job, and waits for its end.
func (v *Verifier) verifyAll(ctx context.Context) (map[string]int, error) {
	first, work, err := v.job(status.VerifyAsk{}, &pace{v.o.Store})
	if err != nil {
		return nil, err
	}
	done, err := v.o.Jobs.Run(ctx, first, docVerified, work)
	if err != nil {
		return nil, err
	}
	differ := 0
	for _, n := range done.Verify.Drift {
		differ += n
	}
	v.o.Logger.Info("all links were verified", "links", done.Verify.Links, "differ", differ)
	return done.Verify.Drift, nil
}

// pace spreads the requests of a scheduled verification.
type pace struct{ store store.Store }

// wait returns when the share of GitHub's budget has one request; a nil pace never waits.
func (p *pace) wait(ctx context.Context) error {
	for p != nil {
		got, err := p.store.Take(ctx, store.Budget{Name: "verify", PerMinute: hourly, PerHour: hourly, Burst: 20}, store.Ask{})
		if err != nil {
			return fmt.Errorf("pace a verification: %w", err)
		}
		if got.Items > 0 {
			return nil
		}
		if err := inventory.Wait(ctx, got.Wait); err != nil {
			return err
		}
	}
	return nil
}
