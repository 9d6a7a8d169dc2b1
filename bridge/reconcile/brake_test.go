package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

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

// TestBrakeOnCloses: planning is done with more cards at once than a route closes
// issues in a minute, by their tasks or by their reviews. What is over waits, is
// counted, and is closed in the end; other changes do not wait with it.
func TestBrakeOnCloses(t *testing.T) {
	t.Parallel()
	const issues, perMinute = 12, 5
	for name, done := range map[string]func(*world, *mapping.Card){
		"by tasks": func(w *world, c *mapping.Card) {
			i := slices.IndexFunc(w.plan.tasks, func(t *mapping.Task) bool { return t.Owner == c.ID })
			w.editTask(w.plan.tasks[i], func(t *mapping.Task) { t.State.Value = mapping.StateDone })
		},
		"by reviews": func(_ *world, c *mapping.Card) {
			c.Review = "approved"
			c.Version++
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := inWorld(t, func(w *world) {
				w.brakes = reconcile.Brakes{ClosesPerMinute: perMinute}
				w.restart()
				for n := range issues {
					w.openIssue(fmt.Sprint("tok", n), "text")
				}
				w.settle()
				open := w.issueOf(w.card().Title.Value)
				w.editCard(mapping.Title, to("tok99"))
				for _, c := range w.plan.cards[1:] {
					done(w, c)
				}
				w.verifyCloses(issues-1, perMinute, func() bool { return open.Title == "tok99" })
				if open.State != "open" {
					w.fail("an issue whose card is not done is %s", open.State)
				}
				w.verifyOneEach(issues)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// verifyCloses lets time pass and demands that so many issues are closed, in no
// minute more than the route may, and hardly later than it may; another change is
// there before what is over has its turn.
func (w *world) verifyCloses(issues, perMinute int, other func() bool) {
	var closed []time.Time
	before, braked := 0, 0
	for rest := false; !rest && len(w.errs) == 0; {
		rest = w.step()
		if was := braked; w.braked() > was+1 {
			w.fail("one look at one issue counts %d times as put off", w.braked()-was)
		}
		braked = w.braked()
		for range w.closed() - len(closed) {
			closed = append(closed, time.Now())
		}
		if !other() {
			before = len(closed)
		}
	}
	if len(closed) != issues || before > perMinute {
		w.fail("%d issues are closed, want %d; %d of them before the other change", len(closed), issues, before)
		return
	}
	for n := range issues - perMinute {
		if within := closed[n+perMinute].Sub(closed[n]); within < time.Minute {
			w.fail("%d issues were closed within %s", perMinute+1, within)
		}
	}
	minutes := time.Duration((issues-1)/perMinute) * time.Minute
	if took := closed[issues-1].Sub(closed[0]); took > minutes+time.Minute {
		w.fail("all were closed in %s, want little more than %s", took, minutes)
	}
	if braked < issues-perMinute {
		w.fail("%d closes were counted as put off, want %d or more", braked, issues-perMinute)
	}
}

// braked is how many closes the route's brake has put off.
func (w *world) braked() int {
	var m dto.Metric
	w.check(w.recon.Metrics.Braked.WithLabelValues("web", "closes").Write(&m))
	return int(m.GetCounter().GetValue())
}

// closed is how many issues are.
func (w *world) closed() (n int) {
	for _, i := range w.hub.issues {
		if i.State == "closed" {
			n++
		}
	}
	return n
}
