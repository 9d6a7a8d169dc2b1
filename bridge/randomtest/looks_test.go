package randomtest_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// Operators in the random run ask for the explanation of an item, for its page, and for the marks
// that a cleaning would remove. The law: these requests write nothing, and of a pair at rest they say
// that nothing is to be done.

// drawLooks says whether operators look at items in the run.
func (c *chaos) drawLooks() { c.looks = c.trait(40) }

// looking lets operators look at items at any moment.
func (c *chaos) looking(ctx context.Context) {
	if c.looks == nil {
		return
	}
	for c.rests(ctx, c.looks.Rand, 200*time.Millisecond, 2*time.Second) {
		one := c.turns.next("look")
		if one == nil {
			continue
		}
		names := c.names()
		if len(names) == 0 {
			continue
		}
		name := names[one.IntN(len(names))]
		switch one.IntN(4) { // nobody counts on an answer: the services may be away
		case 0:
			_ = c.askAny(ctx, http.MethodGet, "/explain?item="+url.QueryEscape(name), nil, nil)
		case 1:
			_ = c.askAny(ctx, http.MethodPost, "/api/v1/clean", status.CleanAsk{Item: name, DryRun: true}, nil)
		default:
			_ = c.askAny(ctx, http.MethodGet, detailPath(name), nil, nil)
		}
	}
}

// names are what people call the issues and the cards.
func (c *chaos) names() (all []string) {
	for _, i := range c.people.issues() {
		all = append(all, issueNumber(i.Number))
	}
	for _, card := range c.people.cards() {
		all = append(all, card.ID)
	}
	return all
}

// detailPath is the address of the explanation of an item.
func detailPath(name string) string { return "/api/v1/links/" + url.PathEscape(name) }

// looked looks at all items once all is at rest.
func (c *chaos) looked() []complaint {
	if c.looks == nil || c.limits.points > 0 { // a minute may have too few for all looks
		return nil
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), c.patience(restWithin))
	defer cancel()
	hub, planning := len(c.GitHub.Journal()), len(c.Planning.Journal())
	told := map[string]status.LinkDetail{}
	for _, name := range c.names() {
		var one status.LinkDetail
		if err := c.askAny(ctx, http.MethodGet, detailPath(name), nil, &one); err != nil {
			return []complaint{{what: fmt.Sprintf("%s cannot be explained at rest: %v", name, err)}}
		}
		told[name] = one
		if err := c.dryClean(ctx, name); err != nil && one.Outside == nil {
			return []complaint{{what: fmt.Sprintf("what a cleaning of %s would remove is not told at rest: %v", name, err)}}
		}
	}
	return judgeLooks(told, c.GitHub.Journal()[hub:], c.Planning.Journal()[planning:])
}

// dryClean asks what a cleaning of an item would remove, and waits for the answer.
func (c *chaos) dryClean(ctx context.Context, name string) error {
	var job status.Job
	err := c.askAny(ctx, http.MethodPost, "/api/v1/clean", status.CleanAsk{Item: name, DryRun: true}, &job)
	return c.jobEnds(ctx, &job, err)
}

// jobEnds waits for the end of a job that a bridge was asked for; err is the answer to that.
func (c *chaos) jobEnds(ctx context.Context, job *status.Job, err error) error {
	for err == nil && job.State == status.JobRunning {
		time.Sleep(200 * time.Millisecond) // virtual
		err = c.askAny(ctx, http.MethodGet, "/api/v1/jobs/"+job.ID, nil, job)
	}
	if err == nil && job.State != status.JobDone {
		err = fmt.Errorf("the job %s: %s", job.State, job.Error)
	}
	return err
}

// judgeLooks complains of what was written while operators looked at items at rest, and of what
// they were told is to be done.
func judgeLooks(told map[string]status.LinkDetail, hub []githubtest.Call, planning []planningtest.Call) (all []complaint) {
	for _, call := range hub {
		if writesGitHub(call) {
			all = append(all, complaint{issue: call.Number, what: "a look wrote: " + call.Op + " " + call.Path})
		}
	}
	for _, call := range planning {
		if slices.Contains(planningWrites, call.Op) {
			all = append(all, complaint{what: "a look wrote: " + call.Op + " " + call.Path})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(told)) {
		d := told[name]
		switch {
		case d.Outside != nil || d.Link.State != string(mapping.Linked):
		case d.Now == nil:
			all = append(all, complaint{what: fmt.Sprintf("%s is linked, and nothing is told of it: %s", name, d.NowError)})
		case len(d.Now.Gone) > 0: // a person deleted it, and nothing told that
		case len(d.Now.Unread) > 0:
			all = append(all, complaint{what: fmt.Sprintf("%s cannot be read: %v", name, d.Now.Unread)})
		case slices.ContainsFunc(d.Now.Next, func(n status.Next) bool { return n.ToGitHub != nil || n.ToPlanning != nil }):
			all = append(all, complaint{what: fmt.Sprintf("%s rests, though this is to be done: %+v", name, d.Now.Next)})
		}
	}
	return all
}

func TestLooksAreJudged(t *testing.T) {
	linked := func(now *status.Now) status.LinkDetail {
		return status.LinkDetail{Link: status.Link{State: string(mapping.Linked)}, Now: now}
	}
	title := "a title"
	due := &status.Now{Next: []status.Next{{Attribute: "title", Action: "to_github", ToGitHub: &title}}}
	restrained := &status.Now{Next: []status.Next{{Attribute: "title", Action: "restrained"}}}
	for name, c := range map[string]struct {
		told     status.LinkDetail
		hub      []githubtest.Call
		planning []planningtest.Call
		want     int
	}{
		"nothing is to be done":       {told: linked(&status.Now{})},
		"something is to be done":     {told: linked(due), want: 1},
		"it goes one way":             {told: linked(restrained)},
		"of a pair that is not whole": {told: status.LinkDetail{Now: due}},
		"nothing is told":             {told: linked(nil), want: 1},
		"a side is not read":          {told: linked(&status.Now{Unread: map[string]string{"github": "gone"}}), want: 1},
		"a side is gone":              {told: linked(&status.Now{Unread: map[string]string{"github": "gone"}, Gone: []string{"github"}})},
		"of no pair":                  {told: status.LinkDetail{Outside: &status.Outside{}}},
		"reads":                       {told: linked(&status.Now{}), hub: []githubtest.Call{{Method: "GET"}}, planning: []planningtest.Call{{Op: planningtest.OpCardRead}}},
		"writes":                      {told: linked(&status.Now{}), hub: []githubtest.Call{{Method: "PATCH"}}, planning: []planningtest.Call{{Op: planningtest.OpCardUpdate}}, want: 2},
	} {
		if got := judgeLooks(map[string]status.LinkDetail{"acme/web#1": c.told}, c.hub, c.planning); len(got) != c.want {
			t.Errorf("%s: complaints %v, want %d", name, got, c.want)
		}
	}
}
