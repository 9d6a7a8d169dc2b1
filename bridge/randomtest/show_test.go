package randomtest_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// Values that only planning has and GitHub shows, in the random run.

// showing is what an issue shows of its card.
type showing struct {
	labels    []string
	put       []string // the labels that the bridge put on it
	milestone int
}

// saying is what a card says that its issue has to show.
type saying struct {
	status, bucket string
	sprint         string
	review         string
	worked         bool // the one in the table of users works on it
	// untold: no listing has told the bucket since the store was lost.
	untold bool
}

func showingOf(i githubtest.IssueState, past []githubtest.Value) *showing {
	return &showing{i.Labels, putByAPI(past), i.Milestone}
}

// putByAPI are the labels of the last value that the bridge put there.
func putByAPI(past []githubtest.Value) (put []string) {
	var before []string
	for _, v := range past {
		now := strings.Split(v.Value, ",")
		put = slices.DeleteFunc(put, func(l string) bool { return !slices.Contains(now, l) })
		if v.ByAPI {
			put = append(put, without(now, before)...)
		}
		before = now
	}
	return put
}

func sayingOf(c planningtest.CardState) *saying {
	return &saying{status: c.Status, bucket: c.Bucket, sprint: c.Sprint, review: c.Review, worked: worksOn(c)}
}

// shown complains of an issue that shows something else than its card says.
func (j *judging) shown(i *seenIssue, c *seenCard) {
	if i.shows == nil || c.says == nil || j.apart || j.way == mapping.ToPlanning {
		return
	}
	says := &mapping.Card{Review: c.says.review, BucketName: c.says.bucket, Counters: &mapping.Counters{Status: c.says.status}}
	if c.says.untold {
		says.BucketName = ""
	}
	if add, remove := mapping.ProjectLabels(i.shows.labels, says, chaosScheme); len(add)+len(remove) > 0 {
		j.complain(i, c, "of its labels %q are missing and %q are too many", add, remove)
	}
	if i.shows.milestone == 0 != (c.says.sprint == "") {
		j.complain(i, c, "milestone %d in sprint %q", i.shows.milestone, c.says.sprint)
	}
}

// plan moves a card into one of two sprints, or out of it.
func (p actor) plan(c planningtest.CardState) {
	if p.project(c.ID) != p.w.Project {
		return // it has no sprints
	}
	p.mu.Lock()
	for len(p.sprints) < 2 {
		now := time.Now()
		title := []string{"This week", "Next week"}[len(p.sprints)]
		p.did(do("planning", "new-sprint", title), "somebody makes sprint %d %q", len(p.sprints)+1, title)
		p.sprints = append(p.sprints, p.w.Project.NewSprint(planningtest.SprintSpec{Title: title, Start: now.Add(-time.Hour), End: now.Add(time.Hour)}))
	}
	sprints := append([]string{""}, p.sprints...)
	p.mu.Unlock()
	to := p.IntN(len(sprints))
	did := fmt.Sprintf("into sprint %d", to)
	if to == 0 {
		did = "into no sprint"
	}
	p.did(do("planning", "into", p.card(c.ID), to), "somebody plans card %d %s", p.card(c.ID), did)
	p.project(c.ID).MoveToSprint(c.ID, sprints[to])
}

// meddle takes off, or puts on, what only shows.
func (p actor) meddle(i githubtest.IssueState, who string) {
	switch shown := bridgetest.ShownLabels.Projections(i.Labels); {
	case len(shown) > 0 && p.chance(60):
		p.unlabel(i.Number, who, shown[p.IntN(len(shown))])
	case i.Milestone != 0:
		p.did(do("github", "set-milestone", i.Number, who, 0), "%s takes the milestone off issue %d", who, i.Number)
		p.w.Repo.SetMilestone(i.Number, who, 0)
	default:
		p.label(i.Number, who, "plan:Rejected")
	}
}
