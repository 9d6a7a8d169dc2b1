package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/mapping"
)

func okIssue(*http.Request) (int, string, http.Header) {
	return 200, oneJSON, nil
}

func TestBudget(t *testing.T) {
	for _, tc := range []struct {
		name    string
		answers []time.Duration
		limited time.Duration // 0: the write goes out
		took    time.Duration
	}{
		{"free", []time.Duration{0}, 0, 0},
		{"short wait", []time.Duration{time.Second, 0}, 0, time.Second},
		{"another replica was faster", []time.Duration{time.Second, time.Second, 0}, 0, 2 * time.Second},
		{"and again", []time.Duration{time.Second, time.Second, time.Second}, time.Second, 2 * time.Second},
		{"long wait", []time.Duration{time.Minute}, time.Minute, 0},
	} {
		asked, sent := 0, 0
		answer := func(r *http.Request) (int, string, http.Header) { sent++; return okIssue(r) }
		bubble(t, answer, func(o *Options) {
			o.Share = share{write: func(WriteClass) (time.Duration, error) { asked++; return tc.answers[asked-1], nil }}
		}, func(c *Client) {
			begin := time.Now()
			_, err := c.EditIssue(context.Background(), "a/b", 1, IssueEdit{})
			if took := time.Since(begin); took != tc.took {
				t.Errorf("%s: took %v", tc.name, took)
			}
			if tc.limited == 0 {
				if err != nil || sent != 1 {
					t.Errorf("%s: sent %d, %v", tc.name, sent, err)
				}
			} else if got := limitedFor(t, err); got != tc.limited || sent != 0 {
				t.Errorf("%s: sent %d, after %v", tc.name, sent, got)
			}
			if asked != len(tc.answers) {
				t.Errorf("%s: asked %d times", tc.name, asked)
			}
		})
	}
}

func TestBudgetKnowsTheDeadline(t *testing.T) {
	bubble(t, okIssue, func(o *Options) {
		o.Share = share{write: func(WriteClass) (time.Duration, error) { return time.Second, nil }}
	}, func(c *Client) {
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		begin := time.Now()
		_, err := c.EditIssue(ctx, "a/b", 1, IssueEdit{})
		if limitedFor(t, err) != time.Second || time.Since(begin) != 0 {
			t.Errorf("took %v: %v", time.Since(begin), err)
		}
	})
}

func TestBudgetThatCannotBeAskedStopsTheWrite(t *testing.T) {
	sent := 0
	bubble(t, func(r *http.Request) (int, string, http.Header) { sent++; return okIssue(r) }, func(o *Options) {
		o.Share = share{write: func(WriteClass) (time.Duration, error) { return 0, errors.New("store is away") }}
	}, func(c *Client) {
		_, err := c.EditIssue(context.Background(), "a/b", 1, IssueEdit{})
		wantKind(t, err, "unavailable")
		if sent != 0 {
			t.Errorf("sent %d", sent)
		}
	})
}

// TestOnlyWritesSpendTheBudget: neither reads, nor GraphQL, nor redeliveries,
// nor a write that a limit keeps back.
func TestOnlyWritesSpendTheBudget(t *testing.T) {
	spent, limited := 0, false
	answer := func(r *http.Request) (int, string, http.Header) {
		switch {
		case limited:
			return 429, ``, nil
		case r.URL.Path == "/graphql":
			return 200, `{"data":{"node":{}}}`, nil
		}
		return okIssue(r)
	}
	bubble(t, answer, func(o *Options) {
		o.Share = share{write: func(WriteClass) (time.Duration, error) { spent++; return 0, nil }}
	}, func(c *Client) {
		ctx := context.Background()
		_, e1 := c.Issue(ctx, "a/b", 1)
		_, e2 := c.UserContentEdits(ctx, "a/b", "I_1")
		e3 := c.Redeliver(ctx, "a/b", 1, 2)
		if err := errors.Join(e1, e2, e3); err != nil || spent != 0 {
			t.Errorf("spent %d, %v", spent, err)
		}
		limited = true
		for range 3 {
			_, err := c.CreateIssue(ctx, "a/b", NewIssue{})
			limitedFor(t, err)
		}
		if spent != 1 {
			t.Errorf("spent %d, want the first alone", spent)
		}
	})
}

func TestWritePause(t *testing.T) {
	bubble(t, okIssue, func(o *Options) { o.WritePause = time.Second }, func(c *Client) {
		begin := time.Now()
		for range 3 {
			if _, err := c.EditIssue(context.Background(), "a/b", 1, IssueEdit{}); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("three writes took %v", took)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		_, err := c.EditIssue(ctx, "a/b", 1, IssueEdit{})
		limitedFor(t, err)
	})
}

func TestWritesGoOneAfterTheOther(t *testing.T) {
	var now, most atomic.Int32
	bubble(t, func(r *http.Request) (int, string, http.Header) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		pass(time.Second)
		now.Add(-1)
		return okIssue(r)
	}, nil, func(c *Client) {
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if _, err := c.EditIssue(context.Background(), "a/b", 1, IssueEdit{}); err != nil {
					t.Error(err)
				}
			})
		}
		pass(100 * time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, err := c.EditIssue(ctx, "a/b", 1, IssueEdit{}) // its turn does not come in time
		if !errors.Is(err, mapping.ErrUnavailable) {
			t.Errorf("error is %v", err)
		}
		wg.Wait()
		if most.Load() != 1 {
			t.Errorf("%d writes at a time", most.Load())
		}
	})
}

// TestWriteClasses: only what notifies people is taken from the budget of content.
func TestWriteClasses(t *testing.T) {
	var classes []WriteClass
	answer := func(r *http.Request) (int, string, http.Header) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/labels") || r.Method == http.MethodDelete {
			return 200, `[]`, nil
		}
		return okIssue(r)
	}
	bubble(t, answer, func(o *Options) {
		o.Share = share{write: func(class WriteClass) (time.Duration, error) {
			classes = append(classes, class)
			return 0, nil
		}}
	}, func(c *Client) {
		ctx := context.Background()
		_, e1 := c.CreateIssue(ctx, "a/b", NewIssue{})
		_, e2 := c.CreateComment(ctx, "a/b", 1, "text")
		_, e3 := c.EditIssue(ctx, "a/b", 1, IssueEdit{})
		_, e4 := c.AddLabels(ctx, "a/b", 1, []string{"x"})
		_, e5 := c.RemoveLabel(ctx, "a/b", 1, "x")
		_, e6 := c.PutMilestone(ctx, "a/b", Milestone{Title: "m"})
		_, e7 := c.Assign(ctx, "a/b", 1, []string{"x"})
		if err := errors.Join(e1, e2, e3, e4, e5, e6, e7); err != nil {
			t.Error(err)
		}
		equal(t, classes, []WriteClass{ClassContent, ClassContent, ClassEdit, ClassEdit, ClassEdit, ClassEdit, ClassEdit})
	})
}

// TestFewWaitInPlace: a write that waits for the budget keeps no other one waiting, nor many
// workers. Only two wait in place, and others are put off at once.
func TestFewWaitInPlace(t *testing.T) {
	var free atomic.Bool
	bubble(t, okIssue, func(o *Options) {
		o.Share = share{write: func(WriteClass) (time.Duration, error) {
			if free.Load() {
				return 0, nil
			}
			return time.Second, nil
		}}
	}, func(c *Client) {
		var wg sync.WaitGroup
		var putOff, sent atomic.Int32
		begin := time.Now()
		for range 8 {
			wg.Go(func() {
				_, err := c.EditIssue(context.Background(), "a/b", 1, IssueEdit{})
				var limited *mapping.RateLimited
				switch {
				case err == nil:
					sent.Add(1)
				case errors.As(err, &limited) && limited.Turn && time.Since(begin) == 0:
					putOff.Add(1)
				default:
					t.Errorf("after %v: %v", time.Since(begin), err)
				}
			})
		}
		pass(500 * time.Millisecond)
		free.Store(true)
		wg.Wait()
		if sent.Load() != budgetPatients || putOff.Load() != 8-budgetPatients {
			t.Errorf("%d were sent, %d put off", sent.Load(), putOff.Load())
		}
	})
}
