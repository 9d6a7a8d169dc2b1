package github

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shared is what several clients know of each other's limits.
type shared map[string]time.Time

func (s shared) options(o *Options) { o.Holds = s }

func (s shared) Close(_ context.Context, resource string, d time.Duration) error {
	if until := time.Now().Add(d); until.After(s[resource]) {
		s[resource] = until
	}
	return nil
}

func (s shared) Left(context.Context) (map[string]time.Duration, error) {
	left := map[string]time.Duration{}
	for resource, until := range s {
		left[resource] = max(0, time.Until(until))
	}
	return left, nil
}

// TestLimitsHoldForAllReplicas: after GitHub asked one replica to wait, the other one sends nothing
// before that time, reads included, from a second on. The limit of another resource holds that
// resource alone.
func TestLimitsHoldForAllReplicas(t *testing.T) {
	reset := func() string { return strconv.FormatInt(time.Now().Add(5*time.Minute).Unix(), 10) }
	for _, tc := range []struct {
		name          string
		header        func() http.Header
		core, graphql time.Duration // how long requests to it are held
	}{
		{"Retry-After", func() http.Header { return http.Header{"Retry-After": {"120"}} }, 2 * time.Minute, 2 * time.Minute},
		{"Retry-After of the core", func() http.Header {
			return http.Header{"Retry-After": {"120"}, "X-Ratelimit-Resource": {"core"}}
		}, 2 * time.Minute, 2 * time.Minute},
		{"Retry-After of the search", func() http.Header {
			return http.Header{"Retry-After": {"120"}, "X-Ratelimit-Resource": {"search"}}
		}, 0, 0},
		{"Retry-After of GraphQL", func() http.Header {
			return http.Header{"Retry-After": {"120"}, "X-Ratelimit-Resource": {"graphql"}}
		}, 0, 2 * time.Minute},
		{"exhausted core", func() http.Header {
			return http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {reset()}, "X-Ratelimit-Resource": {"core"}}
		}, 5 * time.Minute, 0},
		{"no header", func() http.Header { return nil }, time.Minute, time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			limited := true
			var sent []time.Time
			answer := func(r *http.Request) (int, string, http.Header) {
				sent = append(sent, time.Now())
				if limited {
					limited = false
					return 429, `{"message":"rate limit"}`, tc.header()
				}
				if strings.HasSuffix(r.URL.Path, "/graphql") {
					return 200, `{"data":{"node":{}}}`, nil
				}
				return okIssue(r)
			}
			known := shared{}
			bubble(t, answer, known.options, func(one *Client) {
				o := Options{Token: "t", Timeout: time.Hour, Transport: one.wire.base}
				known.options(&o)
				other, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				ctx := context.Background()
				if _, err := other.Issue(ctx, "a/b", 9); err == nil { // it has just looked
					t.Error("the first request was not limited")
				}
				limited = true
				pass(10 * time.Minute)
				sent = nil
				_, err = one.EditIssue(ctx, "a/b", 1, IssueEdit{})
				limitedFor(t, err)
				told := time.Now()
				held := func(resource string, request func() error) {
					t.Helper()
					sent = nil
					want := map[string]time.Duration{"core": tc.core, "graphql": tc.graphql}[resource]
					err := request()
					if left := want - time.Since(told); left > 0 && (err == nil || len(sent) > 0) {
						t.Errorf("%v before its time: %d requests to %s, %v", left, len(sent), resource, err)
					} else if left <= 0 && (err != nil || len(sent) == 0) {
						t.Errorf("%v after its time: %d requests to %s, %v", -left, len(sent), resource, err)
					}
				}
				pass(LookEvery)
				for range 8 {
					for _, c := range []*Client{one, other} {
						held("core", func() error { _, err := c.Issue(ctx, "a/b", 1); return err })
						held("core", func() error { _, err := c.EditIssue(ctx, "a/b", 1, IssueEdit{}); return err })
						held("graphql", func() error { _, err := c.UserContentEdits(ctx, "a/b", "I_1"); return err })
					}
					pass(29 * time.Second)
				}
			})
		})
	}
}

// TestNoHoldIsNoWarning: where nobody was told to wait, nothing says that somebody was,
// also after a hold that ended long ago.
func TestNoHoldIsNoWarning(t *testing.T) {
	limited := false
	answer := func(r *http.Request) (int, string, http.Header) {
		if limited {
			limited = false
			return 429, `{"message":"rate limit"}`, http.Header{"Retry-After": {"120"}}
		}
		return okIssue(r)
	}
	var log bytes.Buffer
	known := shared{}
	options := func(o *Options) {
		known.options(o)
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	}
	bubble(t, answer, options, func(c *Client) {
		for _, limited = range []bool{false, true} {
			c.Issue(context.Background(), "a/b", 1) //nolint:errcheck // what it is told is not in question
			for range 3 {
				pass(10 * time.Minute)
				if _, err := c.Issue(context.Background(), "a/b", 1); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if strings.Contains(log.String(), "another replica") {
		t.Errorf("there is no other replica, and the log says:\n%s", &log)
	}
}
