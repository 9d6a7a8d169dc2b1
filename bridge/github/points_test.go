package github

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
)

// share is a Share of functions. One that is nil lets all pass.
type share struct {
	write    func(class WriteClass) (time.Duration, error)
	points   func(ctx context.Context, want int) (int, time.Duration, error)
	reserved *int // writes
}

func (s share) TakeWrite(_ context.Context, class WriteClass) (time.Duration, error) {
	if s.write == nil {
		return 0, nil
	}
	return s.write(class)
}

func (s share) TakePoints(ctx context.Context, want int) (int, time.Duration, error) {
	if s.points == nil {
		return want, 0, nil
	}
	return s.points(ctx, want)
}

func (s share) Asker(ctx context.Context) Asker {
	rank, _ := ctx.Value(rankKey{}).(int)
	return Asker{Rank: rank, Patient: rank == patient, Reserved: s.reserved != nil && *s.reserved > 0}
}

func (s share) UseReserved(context.Context, WriteClass) bool {
	if s.reserved == nil || *s.reserved == 0 {
		return false
	}
	*s.reserved--
	return true
}

func (share) Now() time.Time { return time.Now() }

type rankKey struct{}

// patient is the rank that waits in its place.
const patient = 2

// ranked is a context for a rank.
func ranked(t *testing.T, rank int) context.Context {
	t.Helper()
	return context.WithValue(t.Context(), rankKey{}, rank)
}

// newPaced is a pacer whose share has what take says.
func newPaced(take func(want int) (int, time.Duration, error)) *pacer {
	return pacedBy(func(_ context.Context, want int) (int, time.Duration, error) { return take(want) })
}

func pacedBy(take func(ctx context.Context, want int) (int, time.Duration, error)) *pacer {
	return newPacer(share{points: take}, make(chan struct{}, budgetPatients))
}

// paced has a client whose share has what take says.
func paced(take func(ctx context.Context, want int) (int, time.Duration, error)) func(*Options) {
	return func(o *Options) { o.Share = share{points: take} }
}

var aRead, aWrite = call{op: "read_issue", path: "repos/acme/web/issues/1"}, call{op: "edit_issue", path: "repos/acme/web/issues/1", class: classWrite}

// A client that needs many points takes many at once; one that comes now and then takes few, and
// old points are not used.
func TestPointsAreTakenAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []int
		p := newPaced(func(want int) (int, time.Duration, error) { asked = append(asked, want); return want, 0, nil })
		spend := func(k call, times int) {
			for range times {
				if err := p.spend(ranked(t, 0), k); err != nil {
					t.Error(err)
				}
			}
		}
		spend(aRead, 1)
		spend(aWrite, 1) // with the read before it
		if len(asked) != 1 || asked[0] != purseFirst {
			t.Errorf("a read and a write asked for %v", asked)
		}
		spend(aRead, 100)
		if len(asked) > 6 || asked[len(asked)-1] != purseMost {
			t.Errorf("a hundred reads at once asked for %v", asked)
		}
		time.Sleep(purseLasts + time.Second)
		asked = nil
		spend(aRead, 1)
		if len(asked) != 1 || asked[0] != purseFirst {
			t.Errorf("a read after a while asked for %v", asked)
		}
		asked = nil
		spend(call{op: "probe", path: "rate_limit"}, 1)
		spend(call{op: "edits", path: "graphql", class: classGraphQL}, 1)
		if len(asked) != 0 {
			t.Errorf("what does not count asked for %v", asked)
		}
	})
}

// TestWithoutPointsARequestWaits: without points, a request for a key waits a moment and else is
// put off with its turn. Any other request waits in its place. A share that is away delays no
// request.
func TestWithoutPointsARequestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again, there, given := 3*time.Second, time.Now().Add(4*time.Second), false
		p := newPaced(func(int) (int, time.Duration, error) {
			if given || time.Now().Before(there) {
				return 0, again, nil
			}
			given = true
			return 1, again, nil
		})
		var limited *mapping.RateLimited
		if err := p.spend(ranked(t, 0), aRead); !errors.As(err, &limited) || limited.After != again || !limited.Turn {
			t.Errorf("of a key: %v", err)
		}
		began := time.Now()
		if err := p.spend(ranked(t, 2), aRead); err != nil || time.Since(began) != 2*again {
			t.Errorf("of the catch-up: %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(ranked(t, 2), time.Second)
		defer cancel()
		if err := p.spend(ctx, aRead); err == nil {
			t.Error("a request left without a point")
		}
		p.share = share{points: func(context.Context, int) (int, time.Duration, error) { return 0, 0, errors.New("away") }}
		if err := p.spend(ranked(t, 0), aWrite); err != nil {
			t.Errorf("with the share away: %v", err)
		}
	})
}

// A share that hangs is asked once, and holds nobody up for longer than that takes.
func TestAShareThatHangsIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		p := pacedBy(func(ctx context.Context, _ int) (int, time.Duration, error) {
			asked.Add(1)
			<-ctx.Done()
			return 0, 0, ctx.Err()
		})
		began := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := p.spend(ranked(t, 0), aWrite); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != takeWithin || asked.Load() != 1 {
			t.Errorf("twenty writes left after %v, and the share was asked %d times", took, asked.Load())
		}
		time.Sleep(unaskedFor)
		p.share = share{points: func(context.Context, int) (int, time.Duration, error) { return 0, time.Minute, nil }}
		if err := p.spend(ranked(t, 0), aWrite); err == nil {
			t.Error("a share that answers again is not asked")
		}
	})
}

// Whose time ends while others ask the share has sent nothing.
func TestWhoWaitsForTheShareSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPaced(func(want int) (int, time.Duration, error) {
			time.Sleep(takeWithin / 2)
			return want, 0, nil
		})
		var all sync.WaitGroup
		all.Go(func() { _ = p.spend(ranked(t, 0), aRead) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(ranked(t, 0), takeWithin/4)
		defer cancel()
		if err := p.spend(ctx, aWrite); !errors.Is(err, mapping.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("its time ended: %v", err)
		}
		all.Wait()
	})
}

// Where points come one at a time, a write leaves with the first and owes the others.
func TestAWriteOwesPoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := 0
		p := newPaced(func(int) (int, time.Duration, error) { given++; return 1, 0, nil })
		if err := p.spend(ranked(t, 0), aWrite); err != nil || given != 1 {
			t.Errorf("a write after %d points: %v", given, err)
		}
		began := time.Now()
		for range 2 {
			if err := p.spend(ranked(t, 0), aRead); err != nil {
				t.Error(err)
			}
		}
		if given != 1+WritePoints+1 || time.Since(began) != (WritePoints-1)*debtPause {
			t.Errorf("two reads behind it after %d points and %v", given, time.Since(began))
		}
	})
}

// TestARedeliveryHasThePointsOfAWrite: GitHub counts any request but a read as five points. A request
// to deliver again changes nothing, and counts so, too.
func TestARedeliveryHasThePointsOfAWrite(t *testing.T) {
	asked := 0
	take := func(_ context.Context, want int) (int, time.Duration, error) { asked++; return want, 0, nil }
	bubble(t, okIssue, paced(take), func(c *Client) {
		ctx := context.Background()
		err := c.Redeliver(ctx, "a/b", 1, 2)
		_, first := c.Issue(ctx, "a/b", 1)
		if err := errors.Join(err, first); err != nil || asked != 1 {
			t.Fatalf("the share was asked %d times: %v", asked, err)
		}
		if _, err := c.Issue(ctx, "a/b", 1); err != nil || asked != 2 {
			t.Errorf("a redelivery and two reads asked the share %d times, want 2: %v", asked, err)
		}
	})
}

// Reserved writes have their points already. A read for it does not wait, and is owed.
func TestWhatIsReservedHasItsPoints(t *testing.T) {
	asked, given, reserved := 0, purseFirst, 0
	with := func(o *Options) {
		o.Share = share{reserved: &reserved, points: func(_ context.Context, want int) (int, time.Duration, error) {
			asked++
			got := min(given, want)
			given -= got
			return got, time.Minute, nil
		}}
	}
	bubble(t, okIssue, with, func(c *Client) {
		ctx := context.WithValue(context.Background(), rankKey{}, 0)
		if err := c.Reserve(ctx, ClassEdit); err != nil {
			t.Fatal(err)
		}
		reserved = 1
		for range 3 {
			if _, err := c.Issue(ctx, "a/b", 1); err != nil {
				t.Error(err)
			}
		}
		if _, err := c.EditIssue(ctx, "a/b", 1, IssueEdit{}); err != nil || asked != 1 || reserved != 0 {
			t.Errorf("the share was asked %d times, %d writes are left: %v", asked, reserved, err)
		}
		limitedFor(t, c.Reserve(ctx, ClassEdit))
		given = 2
		if limitedFor(t, c.Reserve(ctx, ClassEdit)); given != 0 {
			t.Errorf("%d points were not asked for", given)
		}
	})
}

// A write that waits for points keeps no other one from being sent.
func TestNobodyWaitsForPointsInTheTurn(t *testing.T) {
	there := time.Now()
	take := func(ctx context.Context, want int) (int, time.Duration, error) {
		if rank, _ := ctx.Value(rankKey{}).(int); rank == 2 && time.Now().Before(there) {
			return 0, time.Second, nil
		}
		return want, 0, nil
	}
	bubble(t, okIssue, paced(take), func(c *Client) {
		there = time.Now().Add(time.Minute)
		var all sync.WaitGroup
		began := time.Now()
		edit := func(rank int, after time.Duration) {
			all.Go(func() {
				_, err := c.EditIssue(context.WithValue(context.Background(), rankKey{}, rank), "a/b", 1, IssueEdit{})
				if took := time.Since(began); err != nil || took != after {
					t.Errorf("of rank %d: %v after %v", rank, err, took)
				}
			})
			synctest.Wait()
		}
		edit(2, time.Minute)
		edit(0, 0)
		all.Wait()
	})
}

// Where points or the budget are lacking, the other one is not spent.
func TestWhatDoesNotLeaveSpendsNothing(t *testing.T) {
	var points, taken, budgeted int
	var budget time.Duration
	take := func(_ context.Context, want int) (int, time.Duration, error) {
		taken++
		return min(points, want), time.Minute, nil
	}
	with := func(o *Options) {
		o.Share = share{points: take, write: func(WriteClass) (time.Duration, error) { budgeted++; return budget, nil }}
	}
	bubble(t, okIssue, with, func(c *Client) {
		edit := func() error {
			_, err := c.EditIssue(context.WithValue(context.Background(), rankKey{}, 0), "a/b", 1, IssueEdit{})
			return err
		}
		if limitedFor(t, edit()); budgeted != 0 {
			t.Errorf("without points %d writes of the budget were spent", budgeted)
		}
		points, budget = purseFirst, time.Hour
		limitedFor(t, edit())
		taken, budget = 0, 0
		if err := edit(); err != nil || taken != 0 {
			t.Errorf("the points of a write that the budget refused were taken %d times: %v", taken, err)
		}
	})
}

// While GitHub asks to be left alone, reads take no points.
func TestALimitKeepsPoints(t *testing.T) {
	taken := 0
	take := func(_ context.Context, want int) (int, time.Duration, error) { taken++; return want, 0, nil }
	limited := func(*http.Request) (int, string, http.Header) { return 429, "", http.Header{"Retry-After": {"600"}} }
	bubble(t, limited, paced(take), func(c *Client) {
		for range 50 {
			_, err := c.Issue(context.WithValue(context.Background(), rankKey{}, 0), "a/b", 1)
			limitedFor(t, err)
		}
		if taken != 1 {
			t.Errorf("points were taken %d times", taken)
		}
	})
}

// TestTurnUnderAnEndedContext: a turn that is free is not taken by a request that has ended.
func TestTurnUnderAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	turn := make(chan struct{}, 1)
	for range 50 { // a select of two ready cases takes either
		if err := takeTurn(ctx, turn, "points"); !errors.Is(err, context.Canceled) || len(turn) > 0 {
			t.Fatalf("%v, %d turns taken", err, len(turn))
		}
	}
}
