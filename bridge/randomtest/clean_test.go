package randomtest_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// Operators in the random run take a pair apart with all that the bridge wrote on it. The law: once
// that has ended, and nobody links the pair again, no mark of the bridge is left.

// cleanOne takes one of the pairs that are linked apart. It goes on after the answer.
func (c *chaos) cleanOne(ctx context.Context, one *turn) {
	if u := c.linkedOne(ctx, one); u != nil {
		_, _ = c.askClean(ctx, u) // where it fails the pair may be taken apart or not
	}
}

// askClean asks for a pair to be taken apart. With it goes what was asked of the pair.
func (c *chaos) askClean(ctx context.Context, u *unlinked) (job status.Job, err error) {
	c.links.voidUndone(u.issue)
	u.end(time.Now())
	if u.cleans = true; u.asked.IsZero() {
		u.asked = time.Now()
	}
	if err = c.askAny(ctx, http.MethodPost, "/api/v1/clean", status.CleanAsk{Item: issueNumber(u.issue)}, &job); err == nil {
		u.job = job
		c.people.did(nil, "operator: takes issue %d and card %d apart, with all marks", u.issue, c.people.card(u.card))
	}
	return job, err
}

// cleanUp takes a pair apart, and waits until that is done.
func (c *chaos) cleanUp(ctx context.Context, u *unlinked) error {
	job, err := c.askClean(ctx, u)
	if err = c.jobEnds(ctx, &job, err); err == nil {
		u.apart, u.clean, u.spells = true, true, append(u.spells, span{from: time.Now().Add(unlinkedKnown)})
	}
	return err
}

// cleaning reports whether a call at a time may be one of a cleaning. A pause, a route that is away
// and a public repository do not stop a cleaning. on reports whether the call is on a pair.
func (c *chaos) cleaning(at time.Time, on func(*unlinked) bool) bool {
	return c.links != nil && slices.ContainsFunc(c.links.touched, func(u *unlinked) bool {
		return !u.asked.IsZero() && !at.Before(u.asked.Truncate(time.Second)) && on(u)
	})
}

// cleansIssue and cleansCard report the same of a call to one of the services.
func (c *chaos) cleansIssue(call githubtest.Call) bool {
	return c.cleaning(call.Time, func(u *unlinked) bool { return u.issue == call.Number })
}

func (c *chaos) cleansCard(call planningtest.Call) bool {
	return c.cleaning(call.Time, func(u *unlinked) bool {
		return slices.ContainsFunc(c.itemsOf(u), func(id string) bool { return strings.Contains(call.Path, id) })
	})
}

// cleaned are the issues whose pairs were taken apart, and stay so.
func (c *chaos) cleaned() map[int]bool {
	out := map[int]bool{}
	if c.links != nil {
		for _, u := range c.links.touched {
			if u.clean {
				out[u.issue] = u.stays
			}
		}
	}
	return out
}

// bare complains of marks of the bridge on a pair that was taken apart. A route that goes one way
// takes nothing apart. Labels that people put there stay, and so does a marker that a person copied
// into another issue.
func (j *judging) bare(s seen) {
	if j.way != "" && j.way != mapping.Both {
		return
	}
	for n := range s.issues {
		i := &s.issues[n]
		if !s.clean[i.number] {
			continue
		}
		if i.own && len(i.marks) > 0 || names(i.marks, s.apart[i.number]) {
			j.complain(i, nil, "it was taken apart, and has %d markers", len(i.marks))
		}
		if i.shows != nil {
			if left := bridgetest.ShownLabels.Projections(i.shows.put); len(left) > 0 {
				j.complain(i, nil, "it was taken apart, and has the labels %q", left)
			}
		}
		for m := range s.cards {
			if c := &s.cards[m]; s.apart[i.number] == c.id && len(c.marks)+c.tracking > 0 {
				j.complain(i, c, "it was taken apart, and has %d markers, and its tracking tasks %d", len(c.marks), c.tracking)
			}
		}
	}
}

func TestJudgeKnowsCleanPairs(t *testing.T) {
	apart := func(s *seen) {
		s.apart, s.clean = map[int]string{1: "c1"}, map[int]bool{1: true}
		s.cards[0].marks, s.cards[0].tracking = nil, 0
		s.issues[0].shows = &showing{labels: []string{"bug", "plan:Done"}}
	}
	for name, c := range map[string]struct {
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"nothing is left":        {func(*seen) {}, ""},
		"a marker in the body":   {func(s *seen) { s.issues[0].marks = []mapping.Marker{{Kind: mapping.MarkIssue, Partner: "c1"}} }, "1 markers"},
		"a label":                {func(s *seen) { s.issues[0].shows.put = []string{"plan:To Do"} }, "plan:To Do"},
		"a footer":               {func(s *seen) { s.cards[0].marks = []mapping.Marker{{Kind: mapping.MarkCard, Partner: "11"}} }, "1 markers"},
		"a tracking task":        {func(s *seen) { s.cards[0].tracking = 1 }, "tracking tasks 1"},
		"it was only unlinked":   {func(s *seen) { s.clean = nil; s.cards[0].tracking = 1 }, ""},
		"the route goes one way": {func(s *seen) { s.way = mapping.ToPlanning; s.cards[0].tracking = 1 }, ""},
		"a copied marker":        {func(s *seen) { s.issues[0].marks = []mapping.Marker{{Kind: mapping.MarkIssue, Partner: "c2"}} }, ""},
		"any marker in an issue of the bridge's": {func(s *seen) {
			s.issues[0].own, s.issues[0].marks = true, []mapping.Marker{{Kind: mapping.MarkIssue, Partner: "c2"}}
		}, "1 markers"},
	} {
		t.Run(name, func(t *testing.T) {
			judgeAgreed(t, func(s *seen) { apart(s); c.change(s) }, c.want)
		})
	}
}
