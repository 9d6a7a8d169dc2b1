package randomtest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Two laws for how a random run comes to rest. A key needs few calls from the last change
// outside. Once it rests, a second claim of it writes nothing.

// The most calls that a key makes until it rests, and how many more for each child.
const (
	mostCalls      = 40
	mostChildCalls = 8
)

// rootCalls counts the calls that concern a root issue, its card and what is below them.
type rootCalls struct{ issue, calls, children int }

// effort counts the calls since a time by root. The looks of the poller and of the
// catch-up, and the numbers that a search reads, are no calls of a key.
func effort(s seen, since time.Time, hub []githubtest.Call, planning []planningtest.Call) (all []rootCalls) {
	root := func(i *seenIssue) int {
		for i.parent != 0 {
			at := slices.IndexFunc(s.issues, func(o seenIssue) bool { return o.number == i.parent })
			if at < 0 {
				break
			}
			i = &s.issues[at]
		}
		return i.number
	}
	of := map[int]*rootCalls{}
	byCard := map[string]*rootCalls{}
	for n := range s.issues {
		i := &s.issues[n]
		top := root(i)
		if of[top] == nil {
			of[top] = &rootCalls{issue: top}
		}
		if of[i.number] = of[top]; top != i.number {
			of[top].children++
		}
		for c := range s.cards {
			if card := &s.cards[c]; joined(i, card) {
				byCard[card.id] = of[top]
				if i.list != nil {
					of[top].children += len(i.list.lines)
				}
			}
		}
	}
	for _, call := range hub {
		if r := of[call.Number]; r != nil && !call.Time.Before(since) {
			r.calls++
		}
	}
	for _, call := range planning {
		if call.Op == planningtest.OpTaskList || call.Time.Before(since) {
			continue
		}
		for id, r := range byCard {
			if strings.Contains(call.Path, id) {
				r.calls++
				break
			}
		}
	}
	for number, r := range of {
		if r.issue == number {
			all = append(all, *r)
		}
	}
	slices.SortFunc(all, func(a, b rootCalls) int { return a.issue - b.issue })
	return all
}

// tooMany complains of keys that made more calls than they may.
func tooMany(all []rootCalls) (complaints []complaint) {
	for _, r := range all {
		if most := mostCalls + mostChildCalls*r.children; r.calls > most {
			complaints = append(complaints, complaint{issue: r.issue, what: fmt.Sprintf("%d calls until it rests, of %d", r.calls, most)})
		}
	}
	return complaints
}

// calm is an hour in which nothing goes wrong: each issue and each card is edited once,
// and each key comes to rest soon.
func (c *chaos) calm() []complaint {
	if c.calms == nil {
		return nil
	}
	began := time.Now()
	for _, i := range c.people.issues() {
		c.act("calm", func(p actor) { p.editIssue(i.Number, "octocat") })
	}
	for _, card := range c.people.cards() {
		c.act("calm", func(p actor) { p.inPlanning(card) })
	}
	if complaints := c.settle(); len(complaints) > 0 {
		return complaints
	}
	if c.acted.After(began) { // an operator's act is a change from outside
		began = c.acted.Add(time.Second)
	}
	return tooMany(effort(c.look(), began.Truncate(time.Second), c.GitHub.Journal(), c.Planning.Journal())) // of whole seconds
}

// again claims each key once more, and complains of what is written then.
func (c *chaos) again() []complaint {
	if c.sim == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), c.patience(restWithin))
	defer cancel()
	var all status.Links
	if err := c.askAny(ctx, http.MethodGet, "/api/v1/links?limit=1000", nil, &all); err != nil {
		return []complaint{{what: err.Error()}}
	}
	hub, planning := len(c.GitHub.Journal()), len(c.Planning.Journal())
	queue := c.sim.memory.Open(nil)
	for _, l := range all.Links {
		if err := queue.Enqueue(ctx, store.Key{Project: mapping.ObjectID(l.Project), Link: mapping.LinkID(l.ID)}, 0, false); err != nil {
			return []complaint{{what: err.Error()}}
		}
	}
	for {
		rests, why := c.idle(ctx)
		if rests {
			break
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return []complaint{{what: "never at rest again: " + why}}
		}
	}
	return rewritten(c.GitHub.Journal()[hub:], c.Planning.Journal()[planning:])
}

// rewritten complains of the writes among the calls that second claims made.
func rewritten(hub []githubtest.Call, planning []planningtest.Call) (all []complaint) {
	for _, call := range hub {
		if writesGitHub(call) {
			all = append(all, complaint{issue: call.Number, what: "a second claim at rest wrote: " + call.Op + " " + call.Path + " " + call.Body})
		}
	}
	for _, call := range planning {
		if slices.Contains(planningWrites, call.Op) {
			all = append(all, complaint{what: "a second claim at rest wrote: " + call.Op + " " + call.Path + " " + call.Body})
		}
	}
	return all
}

func TestSecondClaimsAreJudged(t *testing.T) {
	hub := []githubtest.Call{{Method: "GET", Op: "issue.get"}, {Method: "PATCH", Op: "issue.patch"}}
	planning := []planningtest.Call{{Op: planningtest.OpCardRead}, {Op: planningtest.OpTaskUpdate}}
	if got := rewritten(hub, planning); len(got) != 2 {
		t.Errorf("complaints %v, want one of each side", got)
	}
	if got := rewritten(hub[:1], planning[:1]); len(got) > 0 {
		t.Errorf("complaints %v of reads", got)
	}
}

func TestEffortIsJudged(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	s := withSub()
	hub := func(number, n int) []githubtest.Call {
		return slices.Repeat([]githubtest.Call{{Number: number, Op: "issue.get", Time: at}}, n)
	}
	plan := func(op, path string, n int) []planningtest.Call {
		return slices.Repeat([]planningtest.Call{{Op: op, Path: path, Time: at}}, n)
	}
	for name, c := range map[string]struct {
		hub      []githubtest.Call
		planning []planningtest.Call
		want     int // complaints
	}{
		"as many as it may":         {hub(1, 30), plan(planningtest.OpCardUpdate, "/items/c1", 18), 0},
		"one more":                  {hub(1, 30), plan(planningtest.OpCardUpdate, "/items/c1", 19), 1},
		"one more of the sub-issue": {hub(1, 30), plan(planningtest.OpTaskUpdate, "/tasks/t1", 19), 1},
		"the poller's":              {hub(1, 30), plan(planningtest.OpTaskList, "/items/c1/tasks", 100), 0},
		"of no issue":               {hub(0, 100), nil, 0},
	} {
		if got := tooMany(effort(s, at, c.hub, c.planning)); len(got) != c.want {
			t.Errorf("%s: complaints %v, want %d", name, got, c.want)
		}
		if got := tooMany(effort(s, at.Add(time.Second), c.hub, c.planning)); len(got) > 0 {
			t.Errorf("%s, before the last change: complaints %v", name, got)
		}
	}
}
