package randomtest_test

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// Services that refuse single reads in the random run. A token is not accepted for a moment. Planning
// says for a moment that nobody may read an item, or that it is gone, though it is there. GitHub says
// neither: after the first a projection waits for minutes, and the second proves an absence.

// drawRefusals says whether services do so in the run. The kind of turns is its own, so that the
// other seeds stay as they are.
func (c *chaos) drawRefusals() {
	if one := c.turns.next("refusal"); c.sim != nil && !c.plain && one != nil && one.chance(30) {
		c.refusals = one
	}
}

// refusing lets services refuse reads at any moment.
func (c *chaos) refusing(ctx context.Context) {
	if c.refusals == nil {
		return
	}
	for c.rests(ctx, c.refusals.Rand, 100*time.Millisecond, time.Second) {
		if one := c.turns.next("refusal"); one != nil {
			stroke{c.fate, one}.refuse()
		}
	}
}

// refuse lets a service refuse one read.
func (f stroke) refuse() {
	if f.chance(40) {
		fault := githubtest.Fault{
			Match: pick(f, "issue.get", "issue.get", "repo.get", "comments.list"), Kind: githubtest.Before, Code: http.StatusUnauthorized,
		}
		f.did(do("github", "fault", fault.Match, fault.Kind).and("code", strconv.Itoa(fault.Code)), "fate: GitHub's next %q is refused: %d", fault.Match, fault.Code)
		f.undone(f.w.GitHub.Fault(fault).Remove)
		return
	}
	fault := planningtest.Fault{
		Op:   pick(f, planningtest.OpCardRead, planningtest.OpTaskRead, planningtest.OpTaskList, planningtest.OpProjectRead),
		Kind: planningtest.Before, Status: pick(f, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusNotFound),
	}
	f.did(do("planning", "fault", fault.Op, fault.Kind).and("status", strconv.Itoa(fault.Status)), "fate: planning's next %q is refused: %d", fault.Op, fault.Status)
	f.undone(f.w.Planning.Fault(fault).Remove)
}
