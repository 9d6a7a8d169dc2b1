package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/jobs"
	"planbridge/bridge/lease"
	"planbridge/bridge/status"
	"planbridge/store"
)

// By verify_interval one replica verifies all links, so that the metric of those that
// differ means something though nobody asks. It reads, and repairs nothing.

const (
	// verifyLook is how often it is looked whether a verification is due.
	verifyLook = time.Minute
	// docVerified names the document that says what the last verification found.
	docVerified = "verified"
	// verifyHourly is how many requests a verification by interval sends to GitHub in an
	// hour: a tenth of what GitHub allows one account.
	verifyHourly = 500
)

// verified is what a verification by interval found.
type verified struct {
	At    time.Time      `json:"at"`
	Drift map[string]int `json:"drift,omitempty"` // links that differ, by route
}

// verifyOften verifies all links whenever that is due, until ctx ends.
func (a *App) verifyOften(ctx context.Context) {
	c := clock.New(a.o.Now, a.o.Random)
	l := &lease.Lease{Clock: c, Store: a.store, Name: "verify", Owner: a.owner, TTL: lease.TTL(verifyLook)}
	defer l.Release(ctx)
	var shown time.Time // when the verification was that the metric tells of
	lease.Every(ctx, a.guard, "look for a verification", c, a.verifyPause, func(ctx context.Context) {
		last, err := a.verifyWhenDue(ctx, l)
		if err != nil && ctx.Err() == nil {
			a.log.Warn("verifying all links; to be tried again", "err", err)
		}
		if err == nil && last.At.After(shown) {
			shown = last.At
			a.showDrift(last.Drift)
		}
	})
}

func (a *App) verifyPause() time.Duration {
	if d := a.set.Load().config.VerifyInterval; d > 0 {
		return min(d, verifyLook)
	}
	return verifyLook
}

// verifyWhenDue verifies all links where the last time was an interval ago, and returns
// what is known by then. The first interval begins when a store is first met.
func (a *App) verifyWhenDue(ctx context.Context, l *lease.Lease) (verified, error) {
	last, known, err := a.lastVerified(ctx)
	interval, now := a.set.Load().config.VerifyInterval, a.o.Now()
	switch {
	case err != nil || interval == 0 || known && now.Sub(last.At) < interval:
		return last, err
	case !known:
		return verified{}, a.putVerified(ctx, verified{At: now})
	}
	held, _, err := l.Acquire(ctx)
	if err != nil || !held {
		return last, err
	}
	err = l.Hold(ctx, a.guard, "verification of all links", "", func(ctx context.Context) error {
		last.At = now
		if last.Drift, err = a.verifyAll(ctx); err != nil {
			return err
		}
		return a.putVerified(ctx, last)
	})
	return last, err
}

func (a *App) lastVerified(ctx context.Context) (last verified, known bool, err error) {
	data, err := a.store.Doc(ctx, "", docVerified)
	if errors.Is(err, store.ErrNotFound) {
		return last, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &last)
	}
	if err != nil {
		return last, false, fmt.Errorf("read the last verification: %w", err)
	}
	return last, true, nil
}

func (a *App) putVerified(ctx context.Context, v verified) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = a.store.PutDoc(ctx, "", docVerified, data)
	}
	if err != nil {
		return fmt.Errorf("store a verification: %w", err)
	}
	return nil
}

// verifyAll verifies all links as a job, and waits for its end.
func (a *App) verifyAll(ctx context.Context) (drift map[string]int, err error) {
	first, work, err := services{a}.verification(status.VerifyAsk{}, a.pace)
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	var links int
	_, err = a.jobs.Start(first, docVerified, func(ctx context.Context, j *jobs.Job) (err error) {
		defer func() { ended <- err }()
		err = work(ctx, j)
		j.Update(func(now *status.Job) { drift, links = maps.Clone(now.Verify.Drift), now.Verify.Links })
		return err
	})
	if err != nil {
		return nil, err
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err == nil {
		differ := 0
		for _, n := range drift {
			differ += n
		}
		a.log.Info("all links were verified", "links", links, "differ", differ)
	}
	return drift, err
}

// pace lets one request of a verification go when its share of GitHub's budget has one.
func (a *App) pace(ctx context.Context) error {
	for {
		got, err := a.store.Take(ctx, store.Budget{Name: "verify", PerMinute: verifyHourly, PerHour: verifyHourly, Burst: 20}, store.Ask{})
		if err != nil {
			return fmt.Errorf("pace a verification: %w", err)
		}
		if got.Items > 0 {
			return nil
		}
		if err := wait(ctx, got.Wait); err != nil {
			return err
		}
	}
}

func (a *App) showDrift(drift map[string]int) {
	for _, r := range a.set.Load().Routes.All() {
		a.drift.WithLabelValues(r.Name).Set(float64(drift[r.Name]))
	}
}
