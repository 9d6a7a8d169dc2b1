package monitor_test

import (
	"context"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/monitor"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// answering are services whose breakers are shut.
type answering struct{}

func (answering) Projects() []monitor.Project                      { return nil }
func (answering) PollInterval() time.Duration                      { return time.Minute }
func (answering) CatchUpInterval() time.Duration                   { return time.Minute }
func (answering) Down(string) bool                                 { return false }
func (answering) Drift() map[string]int                            { return nil }
func (answering) Held(context.Context) (time.Duration, error)      { return 0, nil }
func (answering) Budgets(context.Context) ([]status.Budget, error) { return nil, nil }

// TestAnOperationThatFails: an operation that fails three times in a row is named, while the service
// answers others. It is not once it succeeded, or is not asked for any more.
func TestAnOperationThatFails(t *testing.T) {
	now := noon
	ticks := clock.Func(func() time.Time { return now })
	m := monitor.New(ticks)
	v := monitor.View{Monitor: m, Services: answering{}, Clock: ticks}
	expect := func(when string, want int) []status.FailingOperation {
		t.Helper()
		h, err := v.Health(t.Context())
		if got := h.Services[0].Failing; err != nil || len(got) != want {
			t.Fatalf("%s: %+v, %v, want %d", when, got, err, want)
		}
		return h.Services[0].Failing
	}
	fails := func(times int) {
		for range times {
			now = now.Add(time.Second)
			m.Asked("github", "issue.patch", mapping.ErrUnavailable)
			m.Asked("github", "issue.get", nil)
		}
	}
	fails(2)
	expect("two failures", 0)
	fails(1)
	if f := expect("three failures", 1)[0]; f.Operation != "issue.patch" || f.Times != 3 || !f.Since.Equal(noon.Add(time.Second)) || f.Error == "" {
		t.Errorf("%+v", f)
	}
	now = now.Add(10 * time.Minute)
	expect("nobody asks", 0)
	fails(1)
	expect("a fourth failure", 1)
	m.Asked("github", "issue.patch", nil)
	expect("a success", 0)
}
