package reconcile_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// TestRunawayIsParked: a link that something edits over and over within a minute
// stops, says why, and goes on when an operator takes it up again.
func TestRunawayIsParked(t *testing.T) {
	t.Parallel()
	err := inWorld(t, func(w *world) {
		linked(w)
		w.settle()
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute))) // of fake time
		var failures []store.Failure
		edits := 0
		for ; edits < 50 && len(failures) == 0; edits++ {
			w.editIssue(mapping.Title, to(fmt.Sprint("tok", 100+edits)))
			time.Sleep(1200 * time.Millisecond) // of fake time; two edits in one second are read again
			w.keepAppointments()
			for claim := w.due(); claim != nil; claim = w.due() {
				w.work(claim)
			}
			var err error
			failures, err = w.store.Failures(context.Background(), project, 10)
			w.check(err)
		}
		if len(failures) != 1 || !strings.Contains(failures[0].Reason, "answering each other") || edits < 20 || edits > 40 {
			w.fail("after %d edits the failures are %+v", edits, failures)
			return
		}
		w.check(w.store.Enqueue(context.Background(), failures[0].Key, 0, false))
		w.settle()
		w.verify(ends{want: map[mapping.Attribute]string{mapping.Title: fmt.Sprint("tok", 99+edits)}})
	})
	if err != nil {
		t.Error(err)
	}
}

// due leases the next key that is due now.
func (w *world) due() *store.Claim {
	claim, _, err := w.store.Claim(context.Background(), project, time.Minute)
	w.check(err)
	return claim
}

// TestBrakeOnCreates: what is over a route's bound waits, and all of it is made
// in the end.
func TestBrakeOnCreates(t *testing.T) {
	t.Parallel()
	const issues, perMinute = 12, 5
	err := inWorld(t, func(w *world) {
		w.brakes = reconcile.Brakes{CreatesPerMinute: perMinute}
		w.restart()
		for n := range issues {
			w.openIssue(fmt.Sprint("tok", n), "text")
		}
		began, early := time.Now(), 0
		for len(w.plan.cards) < issues && len(w.errs) == 0 && !w.step() {
			if time.Since(began) < 10*time.Second {
				early = len(w.plan.cards)
			}
		}
		took := time.Since(began)
		w.settle()
		w.verifyOneEach(issues)
		if least := (issues - perMinute - 1) * time.Minute / perMinute; early > perMinute+1 || took < least {
			w.fail("%d cards within 10 s, all after %s; want %d at first and %s", early, took, perMinute, least)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
