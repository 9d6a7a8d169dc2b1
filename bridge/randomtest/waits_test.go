package randomtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"planbridge/bridge/status"
	"planbridge/store"
)

// waitMost is how long a key may wait once nothing goes wrong any more. The settings of the runs
// (settle, retry, lease) are seconds. A failure by a service that was away is tried again after at
// most a minute. A quarter more spreads these attempts.
const waitMost = 75 * time.Second

// waits complains of keys that wait without a reason, or for longer than any configured time
// explains. From since on there were no faults.
func (c *chaos) waits(ctx context.Context, since time.Time) []complaint {
	all, err := c.bridges[0].Waits(ctx) // they share the store
	if err != nil {
		return nil // idle says so
	}
	return judgeWaits(all, c.patience(waitMost), since, time.Now())
}

// judgeWaits is waits for one list of the queue.
func judgeWaits(all []status.Standing, most time.Duration, since, now time.Time) (complaints []complaint) {
	for _, at := range all {
		wait := at.At.Sub(now)
		switch store.KeyState(at.State) {
		case store.KeyWorked:
			continue
		case store.KeyWaiting:
			wait = min(now.Sub(since), now.Sub(at.At))
		}
		if at.Reason == "" || wait > most {
			complaints = append(complaints, complaint{what: fmt.Sprintf("the key of %s waits for %s: %+v", at.Where, wait.Round(time.Second), at)})
		}
	}
	return complaints
}

// TestWaitsAreJudged: the judge finds waits that are too long or have no reason.
func TestWaitsAreJudged(t *testing.T) {
	now := time.Now()
	rested := now.Add(-2 * waitMost)
	for name, tt := range map[string]struct {
		at    status.Standing
		wrong bool
	}{
		"due soon":                   {status.Standing{State: "later", At: now.Add(time.Second), Reason: "late"}, false},
		"due too late":               {status.Standing{State: "later", At: now.Add(2 * waitMost), Reason: "late"}, true},
		"without a reason":           {status.Standing{State: "later", At: now.Add(time.Second)}, true},
		"worked":                     {status.Standing{State: "worked", At: now.Add(2 * waitMost)}, false},
		"for a service, not long":    {status.Standing{State: "waiting", At: now.Add(-time.Second), Reason: "away"}, false},
		"for a service that is back": {status.Standing{State: "waiting", At: now.Add(-3 * waitMost), Reason: "away"}, true},
	} {
		if got := len(judgeWaits([]status.Standing{tt.at}, waitMost, rested, now)) > 0; got != tt.wrong {
			t.Errorf("%s: wrong %t, want %t", name, got, tt.wrong)
		}
	}
}
