package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/factlog"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// TestDecide has a row for each way in which a key comes to rest. The random draw is always 1 of
// n, so that it shows in the result.
func TestDecide(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	no := errors.New("no")
	ago := func(n int, d time.Duration) mapping.Deferred { return mapping.Deferred{Count: n, Since: now.Add(-d)} }
	for name, tt := range map[string]struct {
		rest     reconcile.Rest
		attempts int
		deferred mapping.Deferred
		want     store.Outcome
		result   string
		left     mapping.Deferred
		says     string
	}{
		"agreed":             {reconcile.Rest{}, 3, ago(4, time.Minute), store.Outcome{Kind: store.Done}, "done", mapping.Deferred{}, ""},
		"agreed for a while": {reconcile.Rest{After: time.Hour, Why: "w"}, 0, mapping.Deferred{}, store.Outcome{Kind: store.Done, After: time.Hour, Reason: "w"}, "done", mapping.Deferred{}, ""},
		"removed":            {reconcile.Rest{Kind: reconcile.RestRemoved}, 0, ago(1, 0), store.Outcome{Kind: store.Remove}, "removed", ago(1, 0), ""},
		"removed for another": {
			reconcile.Rest{Kind: reconcile.RestRemoved, Why: "no", Err: no},
			0,
			mapping.Deferred{},
			store.Outcome{Kind: store.Remove, Reason: "no"},
			"removed",
			mapping.Deferred{},
			"WARN removed",
		},

		"put off":       {reconcile.Rest{Kind: reconcile.RestPutOff, After: time.Second, Why: "w", Err: no}, 0, mapping.Deferred{}, store.Outcome{Kind: store.Again, After: time.Second, Reason: "w"}, "again", ago(1, 0), "INFO put off"},
		"put off, told": {reconcile.Rest{Kind: reconcile.RestPutOff, Quiet: true, Err: no}, 0, mapping.Deferred{}, store.Outcome{Kind: store.Again}, "again", ago(1, 0), "DEBUG put off"},
		"put off ten times": {
			reconcile.Rest{Kind: reconcile.RestPutOff, Err: no},
			0, ago(9, time.Hour),
			store.Outcome{Kind: store.Again},
			"again", ago(10, time.Hour), "INFO put off",
		},
		"put off the thirteenth time": {
			reconcile.Rest{Kind: reconcile.RestPutOff, Err: no},
			0, ago(12, time.Minute),
			store.Outcome{Kind: store.Again, After: 8 * time.Second},
			"again", ago(13, time.Minute), "INFO put off",
		},
		"put off very often": {
			reconcile.Rest{Kind: reconcile.RestPutOff, After: time.Second, Err: no},
			0, ago(90, time.Minute),
			store.Outcome{Kind: store.Again, After: time.Minute},
			"again", ago(91, time.Minute), "INFO put off",
		},
		"put off for longer than that": {
			reconcile.Rest{Kind: reconcile.RestPutOff, After: time.Hour, Err: no},
			0, ago(90, time.Minute),
			store.Outcome{Kind: store.Again, After: time.Hour},
			"again", ago(91, time.Minute), "INFO put off",
		},
		"put off for an hour, seldom": {
			reconcile.Rest{Kind: reconcile.RestPutOff, After: time.Hour, Err: no},
			0, ago(19, 30*time.Hour),
			store.Outcome{Kind: store.Again, After: time.Hour},
			"again", ago(20, 30*time.Hour), "INFO put off",
		},
		"put off for an hour, often": {
			reconcile.Rest{Kind: reconcile.RestPutOff, Err: no},
			1, ago(20, 61*time.Minute),
			store.Outcome{Kind: store.Retry, After: time.Second + 1, Reason: "put off 21 times since 2026-11-23T10:59:00Z: no"},
			"retry", ago(21, 61*time.Minute), "WARN to be tried again",
		},
		"put off for an hour, the last time": {
			reconcile.Rest{Kind: reconcile.RestPutOff, Err: no},
			11, ago(20, 61*time.Minute),
			store.Outcome{Kind: store.Park, Reason: "put off 21 times since 2026-11-23T10:59:00Z: no"},
			"parked",
			mapping.Deferred{},
			"ERROR parked",
		},
		"in turn, however often": {
			reconcile.Rest{Kind: reconcile.RestInTurn, After: time.Second, Why: "w"},
			0, ago(500, 100*time.Hour),
			store.Outcome{Kind: store.Again, After: time.Second, Reason: "w"},
			"again", ago(500, 100*time.Hour), "INFO put off",
		},
		"in turn, for a fault": {reconcile.Rest{Kind: reconcile.RestInTurn, Err: no}, 0, mapping.Deferred{}, store.Outcome{Kind: store.Again}, "again", mapping.Deferred{}, "WARN put off"},
		"handed back": {
			reconcile.Rest{Kind: reconcile.RestInTurn, Why: "w", Quiet: true},
			0,
			mapping.Deferred{},
			store.Outcome{Kind: store.Again, Reason: "w"},
			"again",
			mapping.Deferred{},
			"DEBUG put off",
		},
		"limited": {
			reconcile.Rest{Kind: reconcile.RestLimited, After: time.Minute, Spread: time.Second, Why: "w"},
			5,
			mapping.Deferred{},
			store.Outcome{Kind: store.Again, After: time.Minute + 1, Reason: "w"},
			"limited",
			mapping.Deferred{},
			"INFO put off",
		},
		"limited, at its turn": {
			reconcile.Rest{Kind: reconcile.RestLimited, After: time.Minute},
			5,
			mapping.Deferred{},
			store.Outcome{Kind: store.Again, After: time.Minute},
			"limited",
			mapping.Deferred{},
			"INFO put off",
		},

		"blocked": {
			reconcile.Rest{Kind: reconcile.RestBlocked, Service: "s", Why: "w"},
			11, ago(2, 0),
			store.Outcome{Kind: store.Wait, Service: "s", Reason: "w"},
			"waiting", ago(2, 0), "INFO waiting",
		},
		"blocked by a fault": {
			reconcile.Rest{Kind: reconcile.RestBlocked, Service: "s", Err: no},
			11,
			mapping.Deferred{},
			store.Outcome{Kind: store.Wait, Service: "s"},
			"waiting",
			mapping.Deferred{},
			"WARN waiting",
		},
		"parked": {reconcile.Rest{Kind: reconcile.RestParked, Why: "no", Err: no}, 0, mapping.Deferred{}, store.Outcome{Kind: store.Park, Reason: "no"}, "parked", mapping.Deferred{}, "WARN parked"},
		"held":   {reconcile.Rest{Kind: reconcile.RestHeld, Why: "no", Err: no}, 0, mapping.Deferred{}, store.Outcome{Kind: store.Hold, Reason: "no"}, "parked", mapping.Deferred{}, "ERROR parked"},
		"lost":   {reconcile.Rest{Kind: reconcile.RestLost, Err: no}, 0, ago(2, 0), store.Outcome{}, "lost", mapping.Deferred{}, "WARN key given up"},

		"failed":       {reconcile.Rest{Kind: reconcile.RestFailed, Err: no}, 0, ago(2, 0), store.Outcome{Kind: store.Retry, After: time.Second/2 + 1, Reason: "no"}, "retry", ago(2, 0), "WARN to be tried again"},
		"failed often": {reconcile.Rest{Kind: reconcile.RestFailed, Err: no}, 10, mapping.Deferred{}, store.Outcome{Kind: store.Retry, After: 150*time.Second + 1, Reason: "no"}, "retry", mapping.Deferred{}, "WARN to be tried again"},
		"failed at last": {
			reconcile.Rest{Kind: reconcile.RestFailed, Err: no},
			11, ago(2, 0),
			store.Outcome{Kind: store.Park, Reason: "no"},
			"parked", ago(2, 0), "ERROR parked",
		},
	} {
		s := decisionInput{attempts: tt.attempts, deferred: tt.deferred, retry: host(nil).Retry(), now: now, random: func(int64) int64 { return 1 }}
		v := decide(tt.rest, s)
		if v.Outcome != tt.want || v.result != tt.result || v.deferred != tt.left {
			t.Errorf("%s: %+v, %q, deferred %+v; want %+v, %q, %+v", name, v.Outcome, v.result, v.deferred, tt.want, tt.result, tt.left)
		}
		if !slices.Contains(results, v.result) {
			t.Errorf("%s: the result %q does not begin at zero", name, v.result)
		}
		if says := strings.TrimSpace(fmt.Sprint(v.level, " ", v.message)); says != tt.says && (tt.says != "" || v.message != "") {
			t.Errorf("%s: the log says %q, want %q", name, says, tt.says)
		}
	}
}

// TestPausesGrow: each pause is twice as long as the one before, up to the bound, plus at most
// half.
func TestPausesGrow(t *testing.T) {
	s := decisionInput{retry: Retry{MaxInterval: 5 * time.Minute}, random: func(n int64) int64 { return n - 1 }}
	for attempts, want := range []time.Duration{1: time.Second, 2: 2 * time.Second, 9: 256 * time.Second, 10: 5 * time.Minute, 90: 5 * time.Minute} {
		if want > 0 && s.backOff(attempts) != want*3/2-1 {
			t.Errorf("after %d attempts a key is put off for %v, want %v at most", attempts, s.backOff(attempts), want*3/2)
		}
	}
}

// TestAFailureOfAServiceIsItsFact: an attempt that failed since a service was away belongs to the
// outage's line, not to a warning of its own. The last attempt gets its own.
func TestAFailureOfAServiceIsItsFact(t *testing.T) {
	rules := []string{reconcile.FactAway, reconcile.FactRefused, reconcile.FactInTurn}
	if log := []string{factlog.Away, factlog.Refused, factlog.InTurn}; !slices.Equal(rules, log) {
		t.Errorf("the rules call facts %q, the log %q", rules, log)
	}
	for _, c := range []struct {
		service  string
		attempts int
		want     bool
	}{{"github", 0, true}, {"", 0, false}, {"github", 11, false}} {
		s := decisionInput{attempts: c.attempts, retry: Retry{MaxAttempts: 12, MaxInterval: time.Minute}, random: func(int64) int64 { return 0 }}
		v := decide(reconcile.Rest{Kind: reconcile.RestFailed, Service: c.service, Err: mapping.ErrUnavailable}, s)
		if got := slices.Contains(v.attrs, any(factlog.Away)); got != c.want || v.Service != "" {
			t.Errorf("after %d attempts at %q: %v, waits for %q", c.attempts, c.service, v.attrs, v.Service)
		}
	}
}
