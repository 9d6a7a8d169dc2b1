package randomtest_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// People in the random run work on tasks of a sprint, are assigned to issues, and review cards. The
// laws: a person who works on a card is assigned to its issue. Nobody else's assignment is touched. A
// review that is new closes the issue.

// Of the two accounts only octocat is in the table of users; on planning's side that is alice.
const (
	teamLogin, otherLogin = "octocat", "hubot"
	teamUser, otherUser   = "alice", "bob"
)

// team is what people did of that kind. One goroutine uses it.
type team struct {
	*turn
	excluded bool                    // GitHub assigns nobody who is in the table
	left     bool                    // who is in the table is no member in planning, and may write nothing there
	assigned map[int]map[string]bool // by issue and login: what people did last
	ever     map[int]bool            // the issues to which a person ever assigned the one in the table
}

// drawTeam says whether people do such things in the run.
func (c *chaos) drawTeam() {
	if one := c.trait(40); one != nil {
		c.team = &team{turn: one, excluded: one.chance(15), left: one.chance(25), assigned: map[int]map[string]bool{}, ever: map[int]bool{}}
	}
}

// teamwork lets people assign and review now and then.
func (c *chaos) teamwork(ctx context.Context) {
	if c.team == nil {
		return
	}
	if c.team.excluded {
		c.Repo.Exclude(teamLogin)
	}
	if c.team.left {
		c.Project.RemoveMember(teamUser)
	}
	for c.rests(ctx, c.team.Rand, 200*time.Millisecond, 1500*time.Millisecond) {
		p := c.actor("team")
		if p.turn == nil {
			continue
		}
		if issues := p.issues(); len(issues) > 0 && p.chance(25) {
			c.team.assign(p, issues[p.IntN(len(issues))])
		} else if cards := p.cards(); len(cards) > 0 {
			p.joinIn(cards[p.IntN(len(cards))])
		}
	}
}

// assign assigns somebody to an issue, or takes the assignment back.
func (t *team) assign(p actor, i githubtest.IssueState) {
	login, on := []string{teamLogin, otherLogin}[p.IntN(2)], slices.Clone(i.Assignees)
	there := slices.Contains(on, login)
	if on = without(on, []string{login}); !there {
		on = append(on, login)
	}
	p.w.Repo.Assign(i.Number, otherLogin, on...)
	p.did(do("github", "assign", i.Number, otherLogin).with(on...), "%s assigns %v to issue %d", otherLogin, on, i.Number)
	if t.assigned[i.Number] == nil {
		t.assigned[i.Number] = map[string]bool{}
	}
	t.assigned[i.Number][login] = !there
	t.ever[i.Number] = t.ever[i.Number] || login == teamLogin && !there
}

// joinIn plans a card, reviews it, or has somebody work on one of its tasks.
func (p actor) joinIn(c planningtest.CardState) {
	project := p.project(c.ID)
	switch what := p.IntN(10); {
	case !slices.ContainsFunc(c.Tasks, p.isTracking): // the bridge has not seen it yet
	case what < 3:
		p.plan(c)
	case what < 5:
		verdict := []string{mapping.ReviewApproved, mapping.ReviewRejected, mapping.ReviewPartially, ""}[p.IntN(4)]
		p.did(do("planning", "review", p.card(c.ID), verdict), "somebody reviews card %d: %q", p.card(c.ID), verdict)
		project.Review(c.ID, verdict)
	default:
		task, user := c.Tasks[p.IntN(len(c.Tasks))], []string{teamUser, teamUser, otherUser}[p.IntN(3)]
		if slices.Contains(task.Users, user) {
			p.did(nil, "%s works on the task %q of card %d no more", user, task.Title, p.card(c.ID))
			project.Unassign(task.ID, user)
			return
		}
		p.did(nil, "%s works on the task %q of card %d", user, task.Title, p.card(c.ID))
		project.Assign(task.ID, user)
	}
}

// staffed is who works on a card, and who is assigned to its issue.
type staffed struct {
	assignees []string        // of the issue
	people    map[string]bool // by login: what people did last
	ever      bool            // a person assigned the one in the table, at any time
	excluded  bool            // GitHub does not assign that one
}

// staff adds to what is seen who works on what.
func (c *chaos) staff(s *seen) {
	if c.team == nil {
		return
	}
	for n := range s.issues {
		i := &s.issues[n]
		i.staffed = &staffed{assignees: c.Repo.Issue(i.number).Assignees, people: map[string]bool{}, excluded: c.team.excluded}
		for _, number := range c.strays.numbers(i.number) { // assignees go along with an issue
			maps.Copy(i.staffed.people, c.team.assigned[number])
			i.staffed.ever = i.staffed.ever || c.team.ever[number]
		}
	}
}

// worksOn reports whether the one in the table works on a card in its sprint.
func worksOn(c planningtest.CardState) bool {
	return c.Sprint != "" && slices.ContainsFunc(c.Tasks, func(t planningtest.TaskState) bool { return slices.Contains(t.Users, teamUser) })
}

// staff complains of assignees that are missing or too many.
func (j *judging) staff(i *seenIssue, c *seenCard) {
	s := i.staffed
	if s == nil {
		return
	}
	for login, on := range s.people {
		if login != teamLogin && slices.Contains(s.assignees, login) != on {
			j.complain(i, c, "assigned are %v, though a person last had %s assigned: %t", s.assignees, login, on)
		}
	}
	if c.says == nil || j.apart || j.way == mapping.ToPlanning {
		return
	}
	switch on := slices.Contains(s.assignees, teamLogin); {
	case c.says.worked && !on && !s.excluded:
		j.complain(i, c, "assigned are %v, though %s works on the card", s.assignees, teamUser)
	case !c.says.worked && on && !s.ever && !j.forgotten:
		j.complain(i, c, "%s is assigned, though nobody did it and %s does not work on the card", teamLogin, teamUser)
	}
}

// closing reports whether a review closes an issue.
func closing(review string) bool {
	is := mapping.ReviewOf(review)
	return is == mapping.ReviewApproved || is == mapping.ReviewRejected
}

// reviews are the reviews of a card that close its issue, as states that people set.
func (c *seenCard) reviews(i *seenIssue) (all []write) {
	for _, r := range c.reviewed {
		if !closing(r.to) {
			continue
		}
		w := write{from: "reviewed", to: mapping.StateDone, person: true, at: r.at}
		for _, o := range i.past[mapping.State] { // when the bridge carried it out
			if !o.person && o.to == mapping.StateDone && !o.at.Before(r.at.Truncate(time.Second)) {
				w.at = o.at
				break
			}
		}
		all = append(all, w)
	}
	return all
}

// reviewSeen is how long a review may be unseen, while people set a state.
const reviewSeen = 4 * chaosSettle

// review complains of an issue that stays open though the card's review is new and closes it.
func (j *judging) review(i *seenIssue, c *seenCard) {
	if len(c.reviewed) == 0 || j.forgotten || j.apart || j.way == mapping.ToPlanning {
		return
	}
	last, earlier := c.reviewed[len(c.reviewed)-1], c.reviewed[:len(c.reviewed)-1]
	same := func(w write) bool { return mapping.ReviewOf(w.to) == mapping.ReviewOf(last.to) }
	if !closing(last.to) || slices.ContainsFunc(earlier, same) || i.closed {
		return
	}
	meant := func(w write) bool { return w.person && w.at.After(last.at.Add(-reviewSeen)) }
	if !slices.ContainsFunc(i.past[mapping.State], meant) && !slices.ContainsFunc(c.everWas(mapping.State), meant) {
		j.complain(i, c, "it is open, though the card was reviewed (%s) at %s, and nobody opened it since", last.to, last.at.Format(time.TimeOnly))
	}
}

func TestJudgeKnowsTheTeam(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).Add(time.Hour)
	works := func(s *seen, works bool, of staffed) {
		s.issues[0].staffed, s.issues[0].shows = &of, &showing{labels: []string{"plan:To Do", mapping.BucketLabel(bridgetest.Bucket)}}
		s.cards[0].says = &saying{status: "todo", bucket: bridgetest.Bucket, worked: works}
	}
	both := []string{teamLogin, otherLogin}
	reviewed := func(s *seen, verdicts ...string) {
		for n, v := range verdicts {
			s.cards[0].reviewed = append(s.cards[0].reviewed, write{to: v, person: true, at: at.Add(time.Duration(n) * time.Second)})
		}
	}
	for name, c := range map[string]struct {
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"who works is assigned":         {func(s *seen) { works(s, true, staffed{assignees: both}) }, ""},
		"who works is not":              {func(s *seen) { works(s, true, staffed{}) }, "works on the card"},
		"nor can be":                    {func(s *seen) { works(s, true, staffed{excluded: true}) }, ""},
		"who does not work is assigned": {func(s *seen) { works(s, false, staffed{assignees: both}) }, "nobody did it"},
		"by a person":                   {func(s *seen) { works(s, false, staffed{assignees: both, ever: true}) }, ""},
		"another one was taken off":     {func(s *seen) { works(s, false, staffed{people: map[string]bool{otherLogin: true}}) }, "last had hubot"},
		"and was so by a person":        {func(s *seen) { works(s, false, staffed{people: map[string]bool{otherLogin: false}}) }, ""},
		"a review did not close":        {func(s *seen) { reviewed(s, "Approved") }, "it is open"},
		"it was the same before":        {func(s *seen) { reviewed(s, "Approved", "", "approved") }, ""},
		"one that closes nothing":       {func(s *seen) { reviewed(s, "Partially") }, ""},
		"somebody opened it since": {func(s *seen) {
			reviewed(s, "Rejected")
			s.cards[0].past[mapping.State] = append(s.cards[0].past[mapping.State], write{from: mapping.StateDone, to: mapping.StateTodo, person: true, at: at.Add(time.Minute)})
		}, ""},
		"a review takes a state's place": {func(s *seen) {
			reviewed(s, "Approved")
			for _, i := range []*seenItem{&s.issues[0].seenItem, &s.cards[0].seenItem} {
				i.now[mapping.State] = mapping.StateDone
				i.past[mapping.State] = append(i.past[mapping.State], write{from: mapping.StateTodo, to: mapping.StateDone, at: at})
			}
			s.issues[0].closed = true
		}, ""},
	} {
		t.Run(name, func(t *testing.T) { judgeAgreed(t, c.change, strings.TrimSpace(c.want)) })
	}
}
