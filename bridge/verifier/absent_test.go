package verifier_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
)

// TestScheduleNotices: a scheduled verification has the pairs looked at whose issue is gone, and
// no others. It reads no more issues than no listing showed. Where the repository refuses to be
// listed, that says nothing of its issues.
func TestScheduleNotices(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*world)
		looked []mapping.Ref
		read   int
	}{
		"nothing is gone":     {func(*world) {}, nil, 0},
		"an issue is gone":    {func(w *world) { delete(w.issues, 2) }, []mapping.Ref{mapping.IssueRef(2)}, 1},
		"a sub-issue is gone": {func(w *world) { delete(w.issues, 9) }, []mapping.Ref{mapping.IssueRef(9)}, 2},
		"an issue differs": {func(w *world) {
			w.issues[2] = mapping.Issue{ID: 2, Repo: "acme/web", Number: 2, Title: "Renamed", State: "open"}
		}, nil, 1},
		"the repository is not listed": {func(w *world) { w.closed = mapping.ErrForbidden; delete(w.issues, 2) }, nil, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 3)
				w.partOf(1, 9)
				w.interval = time.Hour
				tt.change(w)
				ctx, stop := context.WithTimeout(t.Context(), 90*time.Minute)
				defer stop()
				v, runner := w.verifier(ctx)
				v.Run(ctx)
				runner.Wait()
				if !slices.Equal(w.looked, tt.looked) || w.read != tt.read {
					t.Errorf("looked at are %q after %d reads, want %q after %d", w.looked, w.read, tt.looked, tt.read)
				}
			})
		})
	}
}

// partOf gives the link of an issue a sub-issue.
func (w *world) partOf(parent, number int) {
	w.t.Helper()
	w.issues[number] = mapping.Issue{ID: int64(number), Repo: "acme/web", Number: number, Title: "Part", State: "open"}
	part := &mapping.Pair{Kind: mapping.SubIssue, State: mapping.Linked, Issue: mapping.IssueID{ID: int64(number), Repo: "acme/web", Number: number}}
	part.Card.ID = mapping.ObjectID(fmt.Sprint("t", number))
	w.change(mapping.LinkID(fmt.Sprint("l", parent)), func(l *mapping.Link) { l.SubLinks = append(l.SubLinks, part) })
}
