package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"time"

	"planbridge/bridge"
	"planbridge/bridge/status"
	"planbridge/config"
)

// servicing has the options of a command that becomes the service.
type servicing struct {
	looks bool          // the question changes nothing
	lease time.Duration // 0: the service's own
}

// connectServices finds the running service for what needs GitHub and planning, too. Where none
// runs, this process becomes one for the time of the request. It works like any other, but listens
// to nobody else. For a request that only looks it works no keys and writes nothing.
func connectServices(ctx context.Context, p *process, as servicing) (*client, error) {
	return find(ctx, p, func(c *config.Config) (*client, error) { return becomeService(ctx, c, p, as) })
}

// nobody is where an App listens that is for this process alone.
const nobody = "127.0.0.1:0"

func becomeService(ctx context.Context, c *config.Config, p *process, as servicing) (*client, error) {
	c.Server.Listen, c.Server.AdminListen = nobody, nobody
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	o := bridge.Options{Config: c, Logger: log, Version: programVersion(), LeaseTTL: as.lease}
	if path, ok := c.Store.File(); ok && as.looks {
		// A request makes no store.
		_, err := os.Stat(path)
		o.DryRun = errors.Is(err, fs.ErrNotExist)
	}
	app, err := bridge.New(o)
	if err != nil {
		return nil, err
	}
	begin := app.Start
	if as.looks {
		begin = app.Open
	}
	if err := begin(ctx); err != nil {
		return nil, errors.Join(err, stop(app))
	}
	return &client{
		base: "http://localhost", token: c.Server.AdminToken.Reveal(),
		http: &http.Client{Transport: inProcess{app.Handler()}}, close: func() error { return stop(app) },
	}, nil
}

// withServices runs a question on a client of both services.
func withServices(ctx context.Context, p *process, as servicing, question func(*client) error) error {
	c, err := connectServices(ctx, p, as)
	if err != nil {
		return err
	}
	return errors.Join(question(c), c.close())
}

// jobPoll is the interval of the queries about a job.
const jobPoll = 300 * time.Millisecond

// follow begins a job and follows it to its end.
func (c *client) follow(ctx context.Context, path string, ask any, show func(status.Job)) (status.Job, error) {
	var job status.Job
	err := c.ask(ctx, http.MethodPost, path, ask, &job)
	for startup := time.Now().Add(dialTimeout); err != nil && isNotYet(err) && time.Now().Before(startup); {
		if !sleep(ctx, jobPoll) {
			return job, ctx.Err()
		}
		err = c.ask(ctx, http.MethodPost, path, ask, &job)
	}
	for err == nil && job.State == status.JobRunning {
		show(job)
		if !sleep(ctx, jobPoll) {
			return job, fmt.Errorf("interrupted: what was begun goes on where a service runs; the command can be run again at any moment: %w", ctx.Err())
		}
		var now status.Job // anew: an answer omits empty fields
		if err = c.ask(ctx, http.MethodGet, "/api/v1/jobs/"+job.ID, nil, &now); err != nil {
			return job, fmt.Errorf("the service that did the work is gone: what was begun goes on where one runs; run the command again to see its end: %w", lost(err))
		}
		job = now
	}
	if err == nil {
		show(job)
	}
	return job, err
}

// lost explains why the state of a running job is no longer available. An unknown job belonged to a
// former process.
func lost(err error) error {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return r
	}
	return err
}

// isNotYet reports that the service has only just started.
func isNotYet(err error) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == http.StatusServiceUnavailable
}

// sleep waits, and reports false when ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
