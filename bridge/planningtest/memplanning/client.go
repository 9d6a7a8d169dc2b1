// Package memplanning is the client of package planning for a planning service in
// the same process: it calls the service's model without HTTP. Its door is [New].
//
// It has the methods of planning.Client and comes to the same results and errors,
// by the same rules; what HTTP adds (retries, the circuit breaker, time-outs) it has
// not. It starts nothing and waits for nothing. A test runs the same calls through
// both.
package memplanning

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"planbridge/bridge/planning"
	"planbridge/bridge/planningtest/planningmodel"
	"planbridge/mapping"
)

// Client talks to one project of a service. It is safe for concurrent use, but for
// SetSecret.
type Client struct {
	service *planningmodel.Service
	project mapping.ObjectID
	secret  string
	limit   int
}

// New returns the client of a project that a secret opens.
func New(service *planningmodel.Service, project mapping.ObjectID, secret string) *Client {
	return &Client{service: service, project: project, secret: secret, limit: -1}
}

// SetSecret replaces the project's secret.
func (c *Client) SetSecret(secret string) { c.secret = secret }

// Failing is a client whose creates make the first n items only and then fail with
// [mapping.ErrUncertain].
func (c *Client) Failing(n int) *Client {
	failing := *c
	failing.limit = n
	return &failing
}

// Close does nothing.
func (c *Client) Close() {}

// Down reports false: the model is never away.
func (c *Client) Down() bool { return false }

// session opens the project for a request; the ids are those in its path.
func (c *Client) session(ctx context.Context, r *planning.Request, ids ...mapping.ObjectID) (planningmodel.Session, error) {
	for _, id := range ids {
		if err := planning.CheckID(id); err != nil {
			return planningmodel.Session{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return planningmodel.Session{}, fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)
	}
	s, err := c.service.Open(string(c.project), c.secret)
	if err == nil && c.limit >= 0 {
		s = s.Failing(c.limit)
	}
	return s, refused(r, err)
}

// refused is what a client makes of a refusal.
func refused(r *planning.Request, err error) error {
	var refusal *planningmodel.Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	return r.Fault(refusal.Status, "", refusal.Words, time.Time{})
}

// errNoBody is that of an answer without what was asked for.
var errNoBody = errors.New("no body")

// answered is what a client makes of an answer with the status of success that the
// service has for it; 0 means 200.
func answered(r *planning.Request, status int) error {
	switch {
	case status == http.StatusNoContent:
		return r.Misread(errNoBody)
	case status != 0 && status/100 != 2:
		return r.Fault(status, "", "", time.Time{})
	}
	return nil
}

// read asks one thing of the model and converts it.
func read[M, T any](ctx context.Context, c *Client, what string, ids []mapping.ObjectID, ask func(planningmodel.Session) (M, error), convert func(view, *M) T) (out T, err error) {
	r := planning.Request{What: what}
	s, err := c.session(ctx, &r, ids...)
	if err != nil {
		return out, r.Failed(err)
	}
	got, err := ask(s)
	if err != nil {
		return out, r.Failed(refused(&r, err))
	}
	t := c.service.Traits()
	if err := answered(&r, t.SuccessStatus.Read); err != nil {
		return out, r.Failed(err)
	}
	return convert(view{&t}, &got), nil
}

// all converts the elements of a list.
func all[M, T any](convert func(view, *M) T) func(view, *[]M) []T {
	return func(v view, list *[]M) []T {
		out := make([]T, len(*list))
		for i := range out {
			out[i] = convert(v, &(*list)[i])
		}
		return out
	}
}
