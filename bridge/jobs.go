package bridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"planbridge/bridge/guard"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// jobs are the long tasks that operators asked this process for. What they do
// is durable step by step; the job itself is not: after a restart it is asked
// for again, and finds done what was done.
type jobs struct {
	guard *guard.Guard
	mu    sync.Mutex
	ctx   context.Context // of the App at work; nil before it is
	list  []*job          // newest last
	run   sync.WaitGroup
}

// keptJobs is how many jobs are remembered.
const keptJobs = 20

type job struct {
	asked any // what it was asked for, to be compared
	mu    sync.Mutex
	now   status.Job
}

// update changes what is told of the job.
func (j *job) update(change func(*status.Job)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.now)
}

// snapshot is what is told of the job now.
func (j *job) snapshot() status.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.now
	if out.Import != nil {
		r := *out.Import
		r.Items, r.OutWhy = slices.Clone(r.Items), maps.Clone(r.OutWhy)
		out.Import = &r
	}
	if out.Verify != nil {
		r := *out.Verify
		r.Differences = slices.Clone(r.Differences)
		r.Drift = maps.Clone(r.Drift)
		out.Verify = &r
	}
	return out
}

// open lets jobs run until ctx ends.
func (js *jobs) open(ctx context.Context) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.ctx = ctx
}

// wait waits until no job runs.
func (js *jobs) wait() { js.run.Wait() }

// start begins a job, or returns the one that runs and was asked for the same.
func (js *jobs) start(first status.Job, asked any, work func(context.Context, *job) error) (status.Job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.ctx == nil || js.ctx.Err() != nil {
		return status.Job{}, fmt.Errorf("%s: the store has not been reached yet, or the service stops: %w", first.Kind, status.ErrState)
	}
	for _, j := range js.list {
		if now := j.snapshot(); j.asked == asked && now.State == status.JobRunning {
			return now, nil
		}
	}
	first.ID, first.State, first.Started = mapping.NewID(), status.JobRunning, time.Now().UTC()
	j := &job{asked: asked, now: first}
	js.list = append(js.list, j)
	if n := len(js.list) - keptJobs; n > 0 {
		js.list = slices.Delete(js.list, 0, n)
	}
	js.guard.Spawn(&js.run, first.Kind, func() {
		err := js.guard.Do("job", first.Kind+" "+first.ID, func() error { return work(js.ctx, j) })
		j.update(func(now *status.Job) {
			now.State, now.Doing, now.Ended = status.JobDone, "", time.Now().UTC()
			if err != nil {
				now.State, now.Error = status.JobFailed, err.Error()
			}
		})
	})
	return j.snapshot(), nil
}

func (js *jobs) get(id string) (status.Job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.list {
		if now := j.snapshot(); now.ID == id {
			return now, nil
		}
	}
	return status.Job{}, fmt.Errorf("job %s: %w", id, store.ErrNotFound)
}

// services is what the admin listener asks of both services.
type services struct{ *App }

var _ status.Services = services{}

// Job implements [status.Services].
func (s services) Job(_ context.Context, id string) (status.Job, error) {
	now, err := s.jobs.get(id)
	if now.State == status.JobRunning && now.Import != nil {
		now.Import.Items = []status.ImportItem{} // told once, at the end
	}
	return now, err
}

// ready waits until what every job needs is known: the store and the bridge's
// own account.
func (s services) ready(ctx context.Context) error {
	select {
	case <-s.account.settled:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for GitHub: %w", ctx.Err())
	}
}

// routesNamed returns the routes of that name, all for "".
func (s services) routesNamed(name string) ([]*mapping.Route, error) {
	all := s.set.Load().Routes.All()
	if name == "" {
		return all, nil
	}
	for _, r := range all {
		if r.Name == name {
			return []*mapping.Route{r}, nil
		}
	}
	return nil, fmt.Errorf("route %s: %w", name, store.ErrNotFound)
}

// known returns the key of the link that an item belongs to, in any project.
func (a *App) known(ctx context.Context, ref mapping.Ref) (store.Key, bool, error) {
	for _, project := range a.set.Load().projects() {
		id, err := a.store.Find(ctx, project, ref)
		if err == nil {
			return store.Key{Project: project, Link: id}, true, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return store.Key{}, false, err
		}
	}
	return store.Key{}, false, nil
}

// Open makes an App that was not started able to answer what changes nothing
// (dry runs of imports, verifications), on its [App.Handler]. Nothing listens
// and nothing works until Start; Stop ends it.
func (a *App) Open(ctx context.Context) error {
	epoch, err := storeEpoch(ctx, a.store)
	if err != nil {
		return err
	}
	if err := a.recallAccount(ctx); err != nil {
		return err
	}
	if _, err := a.github.Viewer(ctx); errors.Is(err, mapping.ErrUnauthorized) {
		return err
	} else if err != nil {
		a.withoutAccount(err)
	}
	a.epoch.Store(&epoch)
	a.account.settle()
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a.cancel = cancel
	a.jobs.open(running)
	return nil
}
