package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/monitor"
	"planbridge/mapping"
)

var noon = time.Date(2020, 11, 21, 12, 0, 0, 0, time.UTC)

func TestMeeting(t *testing.T) {
	now := noon
	m := monitor.New(clock.Func(func() time.Time { return now }))
	if met := m.Service("github"); !met.Answered.IsZero() || met.Shut() {
		t.Errorf("a service that was never asked: %+v", met)
	}
	for i, step := range []struct {
		err              error
		answered, failed int // minutes after noon; -1: never
		shut             bool
	}{
		{fmt.Errorf("dial: %w", mapping.ErrUnavailable), -1, 0, false},
		{nil, 1, 0, false},
		{errors.New("answer 422"), 2, 0, false},
		{fmt.Errorf("get: %w: %w", mapping.ErrUnavailable, context.Canceled), 2, 0, false},
		{fmt.Errorf("answer 401: %w", mapping.ErrUnauthorized), 2, 4, true},
		{nil, 5, 4, false},
	} {
		now = noon.Add(time.Duration(i) * time.Minute)
		m.Asked("github", "issue.get", step.err)
		met := m.Service("github")
		if at := noon.Add(time.Duration(step.answered) * time.Minute); step.answered >= 0 && !met.Answered.Equal(at) || step.answered < 0 && !met.Answered.IsZero() {
			t.Errorf("step %d: answered %v", i, met.Answered)
		}
		if !met.Failed.Equal(noon.Add(time.Duration(step.failed)*time.Minute)) || met.Shut() != step.shut || met.Error == "" {
			t.Errorf("step %d: %+v", i, met)
		}
	}
	m.Heard("github", "delivery")
	if met := m.Service("github"); !met.Heard["delivery"].Equal(now) {
		t.Errorf("heard %v", met.Heard)
	}
	if met := m.Service("web"); !met.Answered.IsZero() || len(met.Heard) > 0 {
		t.Errorf("another service: %+v", met)
	}
}

type leases bool

func (l leases) Acquire(context.Context, string, string, time.Duration) (bool, error) {
	return bool(l), nil
}

func TestElsewhere(t *testing.T) {
	m := monitor.New(clock.Runtime{})
	if m.Elsewhere("poll:p1") {
		t.Error("a lease that nobody asked for is another replica's")
	}
	for _, held := range []bool{false, true, false} {
		if got, err := m.Acquire(t.Context(), leases(held), "poll:p1", "me", time.Minute); got != held || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
		if m.Elsewhere("poll:p1") == held {
			t.Errorf("held %v", held)
		}
	}
}

func TestRecent(t *testing.T) {
	m := monitor.New(clock.Runtime{})
	if got := m.Recent(10); len(got) != 0 {
		t.Errorf("nothing was done: %v", got)
	}
	l := &mapping.Link{ID: "l1", Route: "web", Pair: mapping.Pair{Issue: mapping.IssueID{Repo: "acme/web", Number: 12}}}
	for i := range 2500 {
		m.Did(l, []mapping.Entry{{At: noon.Add(time.Duration(i) * time.Second), What: "write", Who: "octocat", Took: 0.3}})
	}
	got := m.Recent(2000)
	if len(got) != 1000 {
		t.Fatalf("%d are remembered", len(got))
	}
	for i, a := range got {
		if !a.At.Equal(noon.Add(time.Duration(2499-i) * time.Second)) {
			t.Fatalf("%d is of %v", i, a.At)
		}
	}
	if a := got[0]; a.Where != "acme/web#12" || a.Who != "octocat" || a.Took != 0.3 || a.Link != "l1" {
		t.Errorf("%+v", a)
	}
	m.Did(l, []mapping.Entry{{At: noon, What: "write", Part: "acme/web#13"}, {At: noon, What: "write", Part: "checklist"}})
	if got := m.Recent(2); got[0].Where != "acme/web#12" || got[0].Part != "checklist" || got[1].Where != "acme/web#13" || !got[1].Task || got[1].Part != "" {
		t.Errorf("parts: %+v", got)
	}
	if few := m.Recent(3); len(few) != 3 || few[2].At != got[0].At {
		t.Errorf("%v", few)
	}
}
