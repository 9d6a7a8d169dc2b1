// Package jobs runs operators' long tasks: imports, verifications and passes of the retention.
//
// A task is durable step by step; the job itself is not. A new request after a restart skips the
// finished steps.
package jobs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// kept is how many jobs are remembered.
const kept = 20

// Runner runs jobs. It is safe for concurrent use.
type Runner struct {
	guard *guard.Guard
	clock clock.Clock

	mu   sync.Mutex
	ctx  context.Context // that jobs run under; nil before Open
	list []*Job          // newest last
	run  sync.WaitGroup
}

// New makes a runner that runs nothing before Open.
func New(g *guard.Guard, c clock.Clock) *Runner { return &Runner{guard: g, clock: c} }

// Job is one job.
type Job struct {
	id     string
	asked  any // the request of the job, for comparison
	cancel context.CancelFunc
	ended  chan struct{} // closed at its end
	err    error         // once it has ended

	mu  sync.Mutex
	now status.Job
}

// Update changes the reported state of the job.
func (j *Job) Update(change func(*status.Job)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.now)
}

// Doing reports the present step of the job.
func (j *Job) Doing(format string, args ...any) {
	j.Update(func(now *status.Job) { now.Doing = fmt.Sprintf(format, args...) })
}

// hasEnded reports whether the job has ended.
func (j *Job) hasEnded() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// snapshot is the reported state of the job now.
func (j *Job) snapshot() status.Job {
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
		r.Uncompared = slices.Clone(r.Uncompared)
		out.Verify = &r
	}
	if out.Clean != nil {
		r := *out.Clean
		r.Steps = slices.Clone(r.Steps)
		out.Clean = &r
	}
	return out
}

// Open lets jobs run until ctx ends.
func (r *Runner) Open(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx = ctx
}

// Wait waits until no job runs.
func (r *Runner) Wait() { r.run.Wait() }

// Start begins a job, or returns the running one with the same request. It returns
// [status.ErrStarting] before Open and after its context ended.
func (r *Runner) Start(first status.Job, asked any, work func(context.Context, *Job) error) (status.Job, error) {
	j, err := r.start(first, asked, work)
	if err != nil {
		return status.Job{}, err
	}
	return j.snapshot(), nil
}

// Run is [Runner.Start], and waits for the end of the job, which also ends with ctx. The error is
// that of the job, also after a panic.
func (r *Runner) Run(ctx context.Context, first status.Job, asked any, work func(context.Context, *Job) error) (status.Job, error) {
	j, err := r.start(first, asked, work)
	if err != nil {
		return status.Job{}, err
	}
	select {
	case <-j.ended:
		return j.snapshot(), j.err
	case <-ctx.Done():
		j.cancel()
		return status.Job{}, ctx.Err()
	}
}

func (r *Runner) start(first status.Job, asked any, work func(context.Context, *Job) error) (*Job, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx == nil || r.ctx.Err() != nil {
		return nil, fmt.Errorf("%s: the store has not been reached yet, or the service stops: %w", first.Kind, status.ErrStarting)
	}
	for _, j := range r.list {
		if j.asked == asked && !j.hasEnded() {
			return j, nil
		}
	}
	first.ID, first.State, first.Started = mapping.NewID(), status.JobRunning, r.clock.Now().UTC()
	ctx, cancel := context.WithCancel(r.ctx)
	j := &Job{id: first.ID, asked: asked, cancel: cancel, ended: make(chan struct{}), now: first}
	r.list = append(r.list, j)
	if n := len(r.list) - kept; n > 0 {
		r.list = slices.Delete(r.list, 0, n)
	}
	r.guard.Spawn(&r.run, first.Kind, func() { r.work(ctx, j, first.Kind+" "+first.ID, work) })
	return j, nil
}

func (r *Runner) work(ctx context.Context, j *Job, name string, work func(context.Context, *Job) error) {
	err := r.guard.Do("job", name, func() error { return work(ctx, j) })
	j.cancel()
	defer close(j.ended)
	j.err = err
	j.Update(func(now *status.Job) {
		now.State, now.Doing, now.Ended = status.JobDone, "", r.clock.Now().UTC()
		if err != nil {
			now.State, now.Error = status.JobFailed, err.Error()
		}
	})
}

// Get returns the job of an id. The items of an import, and the steps of a job that takes pairs
// apart, are included only once, at its end. It returns [store.ErrNotFound] where no job has that
// id.
func (r *Runner) Get(id string) (status.Job, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.list {
		if j.id != id {
			continue
		}
		now := j.snapshot()
		running := now.State == status.JobRunning
		if running && now.Import != nil {
			now.Import.Items = []status.ImportItem{}
		}
		if running && now.Clean != nil {
			now.Clean.Steps = []status.CleanStep{}
		}
		return now, nil
	}
	return status.Job{}, fmt.Errorf("job %s: %w", id, store.ErrNotFound)
}
