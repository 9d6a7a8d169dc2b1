package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/jobs"
	"planbridge/bridge/status"
)

// running is a runner whose jobs run until the test ends.
func running(t *testing.T) *jobs.Runner {
	r := jobs.New(guard.New(slog.New(slog.DiscardHandler)), clock.Runtime{})
	r.Open(t.Context())
	return r
}

// TestRunTellsWhatBecameOfTheJob: a caller that waits for a job has its result and its error, also
// that of a panic.
func TestRunTellsWhatBecameOfTheJob(t *testing.T) {
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		work  func() error
		state string
		err   func(error) bool
	}{
		"done":   {func() error { return nil }, status.JobDone, func(err error) bool { return err == nil }},
		"failed": {func() error { return failed }, status.JobFailed, func(err error) bool { return errors.Is(err, failed) }},
		"panics": {func() error { panic("a fault") }, status.JobFailed, guard.Panicked},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := running(t).Run(t.Context(), status.Job{Kind: "verify"}, "all", func(_ context.Context, j *jobs.Job) error {
				j.Doing("something")
				return c.work()
			})
			if got.State != c.state || got.Doing != "" || !c.err(err) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestAJobEndsWithWhoWaitsForIt: after a context that ended, the same is run anew, and
// nobody waits for the first one.
func TestAJobEndsWithWhoWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		forever := func(ctx context.Context, _ *jobs.Job) error {
			<-ctx.Done()
			return ctx.Err()
		}
		if _, err := r.Run(ctx, status.Job{Kind: "verify"}, "all", forever); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the first: %v", err)
		}
		synctest.Wait()
		if got, err := r.Run(t.Context(), status.Job{Kind: "verify"}, "all", func(context.Context, *jobs.Job) error { return nil }); err != nil || got.State != status.JobDone {
			t.Errorf("the second: %+v, %v", got, err)
		}
	})
}

// TestOfTwoThatAskTheSameOneRuns: a caller that asks while a job runs waits for that one.
func TestOfTwoThatAskTheSameOneRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, runs := running(t), 0
		work := func(context.Context, *jobs.Job) error {
			runs++
			time.Sleep(time.Hour)
			return nil
		}
		first, err := r.Start(status.Job{Kind: "verify"}, "all", work)
		if err != nil {
			t.Fatal(err)
		}
		second, err := r.Run(t.Context(), status.Job{Kind: "verify"}, "all", work)
		if err != nil || second.ID != first.ID || second.State != status.JobDone || runs != 1 {
			t.Errorf("%+v, %v; %d ran", second, err, runs)
		}
		if got, err := r.Get(first.ID); err != nil || got.State != status.JobDone {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestTheLongListsComeWithTheEnd: a caller that polls a job gets its counts, and its steps once it
// has ended.
func TestTheLongListsComeWithTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t)
		first := status.Job{Import: &status.ImportResult{}, Clean: &status.CleanResult{}}
		got, err := r.Start(first, "all", func(_ context.Context, j *jobs.Job) error {
			j.Update(func(now *status.Job) {
				now.Clean.Links, now.Clean.Steps = 2, []status.CleanStep{{Item: "acme/web#1"}}
				now.Import.Cards, now.Import.Items = 3, []status.ImportItem{{Where: "acme/web#2"}}
			})
			time.Sleep(time.Hour)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, lists := range []int{0, 1} {
			synctest.Wait()
			now, err := r.Get(got.ID)
			if err != nil || now.Clean.Links != 2 || now.Import.Cards != 3 || len(now.Clean.Steps) != lists || len(now.Import.Items) != lists {
				t.Errorf("%+v, %+v, %v", now.Clean, now.Import, err)
			}
			time.Sleep(2 * time.Hour)
		}
	})
}
