package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// TestPageOfDrift: not all is in step while the last verification found differences.
func TestPageOfDrift(t *testing.T) {
	monitor := &watcher{health: status.Health{Drift: map[string]int{"web": 0, "ios": 2, "api": 1}}}
	a := newAdmin(t, func(o *status.Options) { o.Monitor = monitor })
	*a.mem = memory{}
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "problems", "1 problem", "3 links differed when last verified, of api, ios: planbridge verify names what differs.")
	monitor.health.Drift = map[string]int{"web": 0}
	a.wants(a.text(a.do("GET", "/", ""), 200), "problems", "All is in step")
}

// TestPageOfRefusedValues: not all is in step while a side refuses a value. The links are looked
// through once a minute at most.
func TestPageOfRefusedValues(t *testing.T) {
	refused := func(number int, state mapping.LinkState, of map[mapping.Attribute]mapping.Refusal) *mapping.Link {
		issue := mapping.IssueID{Repo: "acme/web", Number: number, ID: int64(number)}
		return &mapping.Link{Project: "p1", ID: mapping.LinkID(fmt.Sprint("l", number)), Route: "web", Pair: mapping.Pair{State: state, Issue: issue, Disputes: mapping.Disputes{Refused: of}}}
	}
	long := func(size string) map[mapping.Attribute]mapping.Refusal {
		return map[mapping.Attribute]mapping.Refusal{mapping.Summary: {Side: mapping.GitHub, Message: "body is too long (" + size + ")"}}
	}
	now := noon
	a := newAdmin(t, func(o *status.Options) { o.Monitor, o.Clock = nil, clock.Func(func() time.Time { return now }) })
	part := refused(4, mapping.Linked, nil)
	part.Children = []*mapping.Pair{{Kind: mapping.Checklist, State: mapping.Linked, Disputes: mapping.Disputes{Refused: map[mapping.Attribute]mapping.Refusal{mapping.Estimate: {Side: mapping.Planning, Message: "no fractions"}}}}}
	*a.mem = memory{routes: filled().routes, links: []*mapping.Link{
		refused(1, mapping.Linked, long("70000")), refused(2, mapping.Linked, long("90000")), refused(3, mapping.Left, long("1")), part, refused(5, mapping.Linked, nil),
	}}
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "problems", "2 problems", "GitHub does not take the text of 2 items, such as acme/web#1: body is too long (70000)",
		"Planning does not take the estimate of acme/web#4: no fractions")
	if !strings.Contains(page, `href="/explain?item=l1"`) {
		t.Error("the problem leads to no item")
	}
	a.mem.links = nil
	a.wants(a.text(a.do("GET", "/", ""), 200), "problems", "2 problems")
	now = now.Add(time.Minute)
	a.wants(a.text(a.do("GET", "/", ""), 200), "problems", "All is in step")
}
