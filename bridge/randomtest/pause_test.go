package randomtest_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
)

// A pause of the route in the random run, and the law for it: nothing is written.

// pauseKnown is how long after a pause something may still be written. Other replicas check for
// pauses every five seconds, and finish the keys in hand.
const pauseKnown = 10 * time.Second

// pausing pauses the route for a while, once, where that is drawn.
func (c *chaos) pausing(ctx context.Context) {
	one := c.pauses
	if one == nil || !pause(ctx, one.Rand, 0, 10*time.Second) {
		return
	}
	for !c.tellRoute(ctx, "pause") {
		if !pause(ctx, one.Rand, 100*time.Millisecond, time.Second) {
			return
		}
	}
	c.people.did(nil, "operator: pauses the route")
	from := time.Now().Add(pauseKnown)
	pause(ctx, one.Rand, pauseKnown, pauseKnown+6*time.Second)
	c.paused = span{from, time.Now()}
	c.people.did(nil, "operator: resumes the route")
	c.tellRoute(ctx, "resume")
}

// endPause resumes the route: a bridge may have been away before, or an older store put
// back in which it was paused.
func (c *chaos) endPause() []complaint {
	if c.pauses == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), c.patience(restWithin))
	defer cancel()
	for !c.tellRoute(ctx, "resume") {
		if !pause(ctx, c.pauses.Rand, 100*time.Millisecond, time.Second) {
			return []complaint{{what: "the route cannot be resumed"}}
		}
	}
	return nil
}

// tellRoute has one of the bridges pause or resume the route, and reports whether it did.
func (c *chaos) tellRoute(ctx context.Context, what string) bool {
	path := "/api/v1/routes/" + url.PathEscape(bridgetest.RepoName) + "/" + what
	return slices.ContainsFunc(c.bridges, func(p runner) bool {
		return p.(*virtual).Ask(ctx, http.MethodPost, path, nil, nil) == nil
	})
}

// whilePaused complains of what was written while the route was paused. A store that is
// lost knows of no pause.
func (c *chaos) whilePaused() (all []complaint) {
	if c.pauses == nil || c.sim.forgotten || c.paused == (span{}) {
		return nil
	}
	for _, call := range c.GitHub.Journal() {
		if writesRepo(call) && c.paused.hasSecond(call.Time) && !c.cleansIssue(call) {
			all = append(all, complaint{issue: call.Number, what: "written while the route was paused: " + call.Op + " " + call.Path})
		}
	}
	for _, call := range c.Planning.Journal() {
		if slices.Contains(planningWrites, call.Op) && c.paused.has(call.Time) && !c.cleansCard(call) {
			all = append(all, complaint{what: "written while the route was paused: " + call.Op + " " + call.Path})
		}
	}
	return all
}

// hasSecond reports whether the whole second that begins at a time lies in the span.
// GitHub's clock has whole seconds: a call right after the end may bear a time before it.
func (s span) hasSecond(at time.Time) bool { return s.has(at) && s.has(at.Add(time.Second-1)) }

// planningWrites are the calls that change something in planning.
var planningWrites = []string{planningtest.OpCardCreate, planningtest.OpCardUpdate, planningtest.OpTaskCreate, planningtest.OpTaskUpdate}

// TestPausesAreJudged: a call counts from the beginning of the pause until its end. GitHub
// tells no more than the second of a call: a call counts where that whole second does.
func TestPausesAreJudged(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	s, long := span{at, at.Add(time.Second)}, span{at.Add(time.Second / 2), at.Add(5 * time.Second / 2)}
	for _, c := range []struct {
		at   time.Time
		want bool
	}{{at.Add(-time.Second), false}, {at, true}, {at.Add(time.Second), false}} {
		if s.has(c.at) != c.want {
			t.Errorf("a call at %s counts: %t", c.at, !c.want)
		}
	}
	for second, want := range []bool{false, true, false} {
		if at := at.Add(time.Duration(second) * time.Second); long.hasSecond(at) != want {
			t.Errorf("a call of GitHub's at %s counts: %t", at, !want)
		}
	}
}
