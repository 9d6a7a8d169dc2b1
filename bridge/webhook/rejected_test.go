package webhook

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
)

func seen(id int64) *issueObservation {
	return &issueObservation{issue: &mapping.Issue{ID: id, State: "open", UpdatedAt: time.Unix(id, 0)}}
}

// TestRefusalsAreBounded in number and in time.
func TestRefusalsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := newRejectedCache()
		for id := range int64(maxRefusals + 1) {
			rs.put(seen(id))
		}
		if rs.of(0) != nil || rs.of(1) == nil || len(rs.byID) != maxRefusals || rs.came.Len() != maxRefusals {
			t.Errorf("%d remembered, want the newest %d", len(rs.byID), maxRefusals)
		}
		time.Sleep(refusalAge - time.Second)
		rs.put(seen(1))
		rs.forget(2)
		time.Sleep(time.Second)
		if rs.of(1) == nil || rs.of(2) != nil || rs.of(3) != nil || len(rs.byID) != 1 {
			t.Errorf("%d remembered after their time, want one", len(rs.byID))
		}
	})
}

// TestHold: one waits for another only where they share an issue, and not for
// longer than its deadline.
func TestHold(t *testing.T) {
	rs := newRejectedCache()
	release, err := rs.hold(t.Context(), []int64{3, 1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	other, err := rs.hold(t.Context(), []int64{4})
	if err != nil {
		t.Fatal(err)
	}
	other()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late, err := rs.hold(ctx, []int64{2})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("held twice: %v", err)
	}
	late()
	release()
	again, err := rs.hold(t.Context(), []int64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	again()
}
