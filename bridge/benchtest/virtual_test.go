package benchtest_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/clock"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/nettest"
	"planbridge/store"
	"planbridge/store/memstore"
)

// Measurements in virtual time have GitHub's documented limits and the usual settings of the
// configuration. Services answer within a tenth of a second.

// answersWithin is how long both services take for an answer.
const answersWithin = 100 * time.Millisecond

// documented are GitHub's limits.
var documented = githubtest.Traits{RateLimit: 5000, ContentPerMinute: 80, ContentPerHour: 500, PointsPerMinute: 900, GraphQLPointsPerMinute: 2000}

// usual has the usual settings in the place of a test world's.
func usual(yaml string) string {
	for _, line := range []string{"writes_per_minute: 10000", "writes_per_hour: 600000", "poll_min: 24h # the pause is fixed", "task_sweep_interval: 2s"} {
		yaml = strings.Replace(yaml, "  "+line+"\n", "", 1)
	}
	return strings.Replace(yaml, "max_interval: 1s", "max_interval: 5m", 1)
}

// virtually plays a world in virtual time. Its bridge is not started.
func virtually(t *testing.T, o bridgetest.Options, play func(*bridgetest.TestWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		memory := memstore.New(memstore.Options{Clock: clock.Runtime{}, QueueLimit: 200_000})
		o.Idle, o.Network = true, nettest.NewInProcess()
		if o.OpenStore == nil {
			o.OpenStore = func() store.Store { return memory.Open(nil) }
		}
		o.Poll, o.CatchUp, o.Settle = cmp.Or(o.Poll, 30*time.Second), 5*time.Minute, 2*time.Minute
		o.EnterDelay, o.Coalesce = 2*time.Second, 2*time.Second
		o.GitHub.Traits = documented
		more := o.Config
		o.Config = func(yaml string) string {
			if yaml = usual(yaml); more != nil {
				yaml = more(yaml)
			}
			return yaml
		}
		w := bridgetest.StartIn(t, o)
		w.GitHub.SetLatency(answersWithin)
		w.Planning.SetLatency(answersWithin)
		play(w)
	})
}

// await looks each pause whether something is so, for an hour at most.
func await(w *bridgetest.TestWorld, what string, pause time.Duration, is func() bool) {
	w.T.Helper()
	for began := time.Now(); !is(); time.Sleep(pause) {
		if time.Since(began) > time.Hour {
			w.T.Fatal("an hour has passed, and not yet: " + what)
		}
	}
}

// operations counts what GitHub was asked, by operation and status.
func operations(calls []githubtest.Call) string {
	counted := map[string]int{}
	for _, c := range calls {
		counted[fmt.Sprint(c.Op, " ", c.Status)]++
	}
	var out []string
	for what, n := range counted {
		out = append(out, fmt.Sprint(what, ": ", n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// refused counts the answers that were limits.
func refused(calls []githubtest.Call) (n int) {
	for _, c := range calls {
		if c.Status == http.StatusForbidden || c.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

// busiest is the most points of GitHub within a while.
func busiest(calls []githubtest.Call, within time.Duration) (most int) {
	first, points := 0, 0
	for _, c := range calls {
		for points += pointsOf(c); c.Time.Sub(calls[first].Time) >= within; first++ {
			points -= pointsOf(calls[first])
		}
		most = max(most, points)
	}
	return most
}

func pointsOf(c githubtest.Call) int {
	if c.Method == http.MethodGet {
		return 1
	}
	return 5
}

// reads counts those of issues and of what belongs to them.
func reads(calls []githubtest.Call) (n int) {
	for _, c := range calls {
		if c.Method == http.MethodGet && (c.Number > 0 || c.Op == "issues.list") {
			n++
		}
	}
	return n
}
