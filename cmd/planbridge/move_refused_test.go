package main

import (
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestMoveIsRefused: a move's request is proven before anything is done.
func TestMoveIsRefused(t *testing.T) {
	m := newMover(t, bridgetest.Options{}, nil)
	if err := m.world.StartBridge(); err != nil {
		t.Fatal(err)
	}
	m.admin()
	for _, c := range []struct {
		args, says string
		status     int
	}{
		{"acme/web --project nowhere --bucket Inbox --dry-run", "move: planning.projects has web, other, and no nowhere", exitUsage},
		{"acme/web --project other --bucket Nowhere --dry-run", `move: project other has no bucket "Nowhere"`, exitUsage},
		{"acme/api --project other --bucket Inbox --dry-run", "move: the configuration has no route acme/api", exitUsage},
		{"acme/web --project other --bucket Else", "route acme/web goes to project web, bucket Incoming: write project: other and bucket: Else in the configuration", exitFailure},
	} {
		if r := m.run(append([]string{"move"}, strings.Fields(c.args)...)...); r.status != c.status || !strings.Contains(r.stderr, c.says) || strings.Contains(r.stderr, "owner/name#number") {
			t.Errorf("move %s: %+v, want %q", c.args, r, c.says)
		}
	}
	if r := m.run("move", "acme/web", "--project", "other"); r.status != exitUsage {
		t.Errorf("without a bucket: %+v", r)
	}
	m.point()
	if r := m.run("move", "acme/web", "--project", m.there.ID(), "--bucket", "Else"); r.status != exitFailure || !strings.Contains(r.stderr, "route acme/web goes to project other, bucket Inbox: write") {
		t.Errorf("of another bucket than the configuration has: %+v", r)
	}
	m.fine("pause", "acme/web")
	if r := m.run("move", "acme/web", "--project", "other", "--bucket", "Inbox"); r.status != exitFailure || !strings.Contains(r.stderr, "route acme/web is paused: resume it first") {
		t.Errorf("of a paused route: %+v", r)
	}
	if got := m.fine("move", "acme/web", "--project", "other", "--bucket", "Inbox", "--dry-run"); !strings.Contains(got, "\na run would be refused now: route acme/web is paused: resume it first\n") {
		t.Errorf("the plan of a paused route: %s", got)
	}
	m.fine("resume", "acme/web")
	if got := m.fine("move", "acme/web", "--project", m.there.ID(), "--bucket", m.there.BucketID("Inbox")); !strings.HasPrefix(got, "0 of 0 pairs are moved") {
		t.Errorf("by ids: %s", got)
	}
}

// TestPlanWhereAServiceIsAway: a plan judges nothing by a service that gives no answer, and says so.
// An item that a service refuses to show cannot be looked at, and is not gone.
func TestPlanWhereAServiceIsAway(t *testing.T) {
	m := newMover(t, bridgetest.Options{}, nil)
	people(m.operator)
	move := []string{"move", "acme/web", "--project", "other", "--bucket", "Inbox", "--dry-run"}
	reads := func(c githubtest.Call) bool {
		return c.Method == "GET" && strings.HasPrefix(c.Path, "/repos/acme/web/issues/")
	}
	for name, c := range map[string]struct {
		fault       func() (remove func())
		out, stderr string
	}{
		"GitHub is away": {func() func() {
			return m.world.GitHub.Fault(githubtest.Fault{When: reads, Times: -1, Kind: githubtest.Status, Code: 503}).Remove
		}, "", "cannot be looked at: github: read issue acme/web#"},
		"planning refuses the secret": {func() func() {
			return m.world.Planning.Fault(planningtest.Fault{Op: planningtest.OpCardRead, Times: -1, Kind: planningtest.Before, Status: 401}).Remove
		}, "", "cannot be looked at: planning: read card"},
		"GitHub refuses an issue": {func() func() {
			return m.world.GitHub.Fault(githubtest.Fault{When: reads, Times: -1, Kind: githubtest.Status, Code: 403}).Remove
		}, "it cannot be moved: cannot be looked at: github: read issue acme/web#", ""},
	} {
		for _, command := range [][]string{move, {"decommission", "acme/web", "--dry-run"}} {
			remove := c.fault()
			r := m.run(command...)
			remove()
			want, status := c.out, exitFailure
			if command[0] == "decommission" && c.stderr == "" {
				want, status = strings.TrimPrefix(want, "it cannot be moved: "), exitOK
			}
			if r.status != status || !strings.Contains(r.out, want) || !strings.Contains(r.stderr, c.stderr) || strings.Contains(r.out+r.stderr, "gone") {
				t.Errorf("%s, %s: %+v", name, command[0], r)
			}
		}
	}
}
