package effects

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/engine"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// crowdedLease is the lease of a key in a crowd: each batch has one further member.
type crowdedLease struct {
	engine.Lease
	other any
}

func (crowdedLease) Acquire() {}

func (crowdedLease) Release() {}

func (crowdedLease) Crowded() bool { return true }

func (crowdedLease) Yield() (resume func(), retry time.Duration) { return func() {}, 0 }

func (l crowdedLease) Join(ctx context.Context, b engine.Batch, member any) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Act(ctx, []any{member, l.other})
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// shownGitHub shows one issue, which has no parent.
type shownGitHub struct {
	GitHub
	issue mapping.Issue
}

func (g shownGitHub) Issue(context.Context, string, int) (mapping.Issue, error) { return g.issue, nil }

func (g shownGitHub) Parent(context.Context, string, int) (*mapping.Issue, error) { return nil, nil }

func (g shownGitHub) Authorship(string) mapping.Authorship { return 0 }

func (g shownGitHub) Stranger(string) bool { return false }

var may = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// inMay is a clock that stands still.
type inMay struct{ clock.Runtime }

func (inMay) Now() time.Time { return may }

// nowhere is an empty configuration.
type nowhere struct{}

func (nowhere) Planning(mapping.ObjectID) Planning { return nil }

func (nowhere) Settings() *reconcile.Settings { return &reconcile.Settings{} }

// enteringHand returns the executor for an issue that enters in a crowd. GitHub has it as given;
// list shows what a listing says.
func enteringHand(ctx context.Context, github mapping.Issue, list func(ctx context.Context, page func([]mapping.Issue) bool) error) *executor {
	s := New(Options{
		GitHub: shownGitHub{issue: github}, Clock: inMay{}, Logger: slog.New(slog.DiscardHandler),
		Projects: nowhere{}, Settings: nowhere{},
		Lists: lists(func(ctx context.Context, _ string, _ time.Time, page func([]mapping.Issue) bool) error {
			return list(ctx, page)
		}),
	})
	link := &mapping.Link{Project: "p", ID: "l"}
	link.Created = may
	link.Issue = mapping.IssueID{Repo: "acme/web", Number: 1, UpdatedAt: may}
	return s.executor(ctx, &store.Claim{Link: link}, crowdedLease{other: &listed{number: 2, known: may}})
}

// A listing that lags shows an older state of the same second. A decision that needs a read sees
// what a person changed since.
func TestNoListingStandsForARead(t *testing.T) {
	is := mapping.Issue{Repo: "acme/web", Number: 1, UpdatedAt: may, State: "closed", Labels: []string{"points/5"}}
	was := mapping.Issue{Repo: "acme/web", Number: 1, UpdatedAt: may, State: "open", Parent: mapping.NoParent}
	h := enteringHand(t.Context(), is, func(_ context.Context, page func([]mapping.Issue) bool) error {
		page([]mapping.Issue{was})
		return nil
	})
	carry := func(effect any) *reconcile.Step {
		step := &reconcile.Step{Effect: effect}
		h.carryOut(func(yield func(*reconcile.Step) bool) { yield(step) })
		return step
	}
	read, err := carry(reconcile.ReadIssue{Repo: "acme/web", Number: 1}).Answered()
	if got, is := read.(mapping.Issue); err != nil || !is || got.State != "closed" || fmt.Sprint(got.Labels) != "[points/5]" {
		t.Errorf("read %+v, %v", read, err)
	}
	parent, err := carry(reconcile.ReadParent{Repo: "acme/web", Number: 1, Within: time.Second}).Answered()
	if err != nil || parent.(*mapping.Issue) != nil {
		t.Errorf("its parent is %+v, %v", parent, err)
	}
}

// A shared act keeps the ask of the step that began it, though its key has gone on to another
// step.
func TestABatchKeepsItsAsk(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	left, asked := make(chan struct{}), make(chan store.Ask, 1)
	h := enteringHand(ctx, mapping.Issue{}, func(ctx context.Context, _ func([]mapping.Issue) bool) error {
		leave() // the first member's claim ended
		<-left
		asked <- AskOf(ctx)
		return nil
	})
	h.carryOut(func(yield func(*reconcile.Step) bool) {
		yield(&reconcile.Step{Effect: reconcile.ReadParent{Repo: "acme/web", Number: 1, Within: time.Hour}, Ask: store.Ask{Rank: store.RankPeople, Author: "octocat"}})
		yield(&reconcile.Step{Effect: reconcile.Rise{}, Ask: store.Ask{Rank: store.RankShown}})
	})
	close(left)
	if got := <-asked; got.Author != "octocat" || got.Rank != store.RankPeople {
		t.Errorf("the listing asks as %+v", got)
	}
}
