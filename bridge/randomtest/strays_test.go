package randomtest_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// People in the random run copy items with the bridge's marks, delete them and transfer issues. They
// bring back what is away, and give issues another parent. The laws: a copy is an item as any other.
// The partner of an item that is gone stays, alone. An item that is back has its partner again. A
// partner stays one under another parent.

// strays is what became of items. One goroutine uses it.
type strays struct {
	*turn
	deletes bool // items are deleted, too
	gone    []*stray
	moved   map[int]bool // the issues that people gave another parent, or none
}

// archive makes the repository read-only for a while.
func (c *chaos) archive(ctx context.Context, p actor) {
	p.did(nil, "somebody archives the repository")
	c.Repo.Archive(true)
	pause(ctx, p.Rand, 0, 3*time.Second)
	c.Repo.Archive(false)
	p.did(nil, "somebody takes the repository out of the archive")
}

// mostTitle is how long a title may be in planning, in such a run. Only editAtLength writes longer ones.
const mostTitle = 60

// editAtLength gives an issue that has a card a title that planning does not take.
func (p actor) editAtLength(i githubtest.IssueState) {
	title := "title " + p.word() + strings.Repeat(" and on", mostTitle/5)
	named := fmt.Sprintf("[%s#%d]", i.Repo, i.Number)
	footed := func(c planningtest.CardState) bool { return strings.Contains(c.Summary, named) }
	if !slices.ContainsFunc(p.cards(), footed) { // else it may get none
		return
	}
	p.did(do("github", "edit", i.Number, "octocat").and("title", title), "octocat gives issue %d the long title %q", i.Number, title)
	p.w.Repo.Edit(i.Number, "octocat", func(e *githubtest.IssueEdit) { e.Title = title })
}

// refuses reports whether planning does not take a value of GitHub's.
func refuses(a mapping.Attribute, value string) bool {
	return a == mapping.Title && len(value) > mostTitle
}

// reparent takes a sub-issue off its parent, or adds an issue without a family to another one.
func (c *chaos) reparent(p actor) {
	all := p.issues()
	for _, n := range p.Perm(len(all)) {
		i, to := all[n], all[p.IntN(len(all))]
		switch {
		case i.Parent != 0:
			p.w.Repo.RemoveSubIssue(i.Parent, i.Number)
			p.did(nil, "somebody takes issue %d off issue %d", i.Number, i.Parent)
		case len(i.SubIssues) > 0 || to.Number == i.Number || to.Parent != 0 || p.lists:
			continue
		default:
			p.w.Repo.AddSubIssue(to.Number, i.Number)
			p.did(nil, "somebody adds issue %d to issue %d", i.Number, to.Number)
		}
		c.strays.moved[i.Number] = true
		return
	}
}

// stray is a pair of which one item was deleted.
type stray struct {
	issue   int
	issueID int64
	card    string // "": it had none yet
	side    mapping.Side
	whole   bool // the bridge knew both items
	back    bool // the item was brought back
	there   int  // the number of the issue in the repository to which it was transferred; 0: it was not
	here    int  // its number once it was transferred back
}

// awayName is the repository to which issues are transferred. No route has it.
const awayName = "acme/away"

// mostGone bounds how many items are deleted: where many are gone, the bridge waits for long.
const mostGone = 3

// drawStrays says whether people do such things in the run. Nothing is deleted where operators
// link items, or import them.
func (c *chaos) drawStrays() {
	if one := c.trait(40); one != nil {
		c.strays = &strays{turn: one, moved: map[int]bool{}, deletes: c.other == nil && c.imports == nil && c.links == nil}
		c.Planning.SetTraits(func(t *planningtest.Traits) { t.MaxTitle, t.RefusalStatus = mostTitle, []int{0, 409, 422}[one.IntN(3)] })
		if one.chance(30) { // the token does not reach the repository
			c.GitHub.AddToken(bridgetest.Token, bridgetest.Bot, githubtest.OnlyRepos(bridgetest.RepoName, elsewhere, otherRepo))
		}
		away := c.GitHub.AddRepo(awayName, githubtest.RepoSpec{Private: true}) // a transfer keeps the labels that are there
		away.Open("octocat", githubtest.IssueSpec{Title: "labels", Labels: []string{"bug", "help wanted", chaosScheme.InProgress}})
	}
}

// straying lets people copy, delete and bring back now and then.
func (c *chaos) straying(ctx context.Context) {
	if c.strays == nil {
		return
	}
	for c.rests(ctx, c.strays.Rand, 500*time.Millisecond, 3*time.Second) {
		p := c.actor("stray")
		if p.turn == nil {
			continue
		}
		issues, cards, what := p.issues(), p.cards(), p.IntN(16)
		switch {
		case what < 3 && len(cards) > 0:
			p.copyCard(cards[p.IntN(len(cards))])
		case what < 5 && len(issues) > 0:
			p.copyIssue(issues[p.IntN(len(issues))])
		case !c.strays.deletes:
		case what < 7:
			c.bringBack(p)
		case what == 7:
			c.archive(ctx, p)
		case what < 11:
			c.reparent(p)
		case what < 13 && len(issues) > 0 && !mayForget(c.seed):
			p.editAtLength(issues[p.IntN(len(issues))])
		case len(c.strays.gone) < mostGone:
			c.loseOne(p)
		}
	}
}

// copyCard makes a card of another one's text, with all marks in it.
func (p actor) copyCard(c planningtest.CardState) {
	title := "title " + p.word()
	id := p.project(c.ID).NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: title, Summary: c.Summary})
	p.did(nil, "alice makes card %d %q, a copy of card %d", p.card(id), title, p.card(c.ID))
}

// copyIssue opens an issue with the body of another one, with all marks in it.
func (p actor) copyIssue(i githubtest.IssueState) {
	title := "title " + p.word()
	n := p.w.Repo.Open("octocat", githubtest.IssueSpec{Title: title, Body: i.Body})
	p.did(nil, "octocat opens issue %d %q, a copy of issue %d", n, title, i.Number)
}

// loseOne deletes an issue, or a card, or transfers an issue. Only one that is deleted, or made a
// discussion, may have a family.
func (c *chaos) loseOne(p actor) {
	how := p.IntN(4)
	s := look(c.World, c.people.projects, c.keys, c.people.lists)
	for _, n := range p.Perm(len(s.issues)) {
		i, state := &s.issues[n], c.Repo.Issue(s.issues[n].number)
		if state.Parent != 0 || how > 1 && (len(state.SubIssues) > 0 || c.people.parts.Load() > 0) {
			continue
		}
		one := &stray{issue: i.number, issueID: i.id, side: mapping.GitHub}
		for m := range s.cards {
			if card := &s.cards[m]; joined(i, card) {
				one.card, one.whole = card.id, card.tracking > 0
			}
		}
		switch {
		case how == 0:
			c.Repo.Delete(i.number)
			p.did(do("github", "delete", i.number), "somebody deletes issue %d", i.number)
		case how == 1:
			c.Repo.Convert(i.number)
			p.did(nil, "somebody makes issue %d a discussion", i.number)
		case how == 2:
			one.there = c.Repo.Transfer(i.number, awayName)
			p.did(nil, "somebody transfers issue %d to %s", i.number, awayName)
		case one.card == "", mayForget(c.seed): // a store that is lost waits minutes for a card that it cannot find
			continue
		default:
			one.side = mapping.Planning
			p.did(do("planning", "delete", p.card(one.card)), "somebody deletes card %d", p.card(one.card))
			p.project(one.card).DeleteCard(one.card)
		}
		c.strays.gone = append(c.strays.gone, one)
		return
	}
}

// bringBack brings a deleted card, or a transferred issue, back.
func (c *chaos) bringBack(p actor) {
	for _, one := range c.strays.gone {
		switch {
		case one.back:
			continue
		case one.side == mapping.Planning:
			c.Project.RestoreCard(one.card)
			p.did(nil, "somebody brings the card of issue %d back", one.issue)
		case one.there != 0:
			one.here = c.GitHub.Repo(awayName).Transfer(one.there, bridgetest.RepoName)
			p.did(nil, "somebody transfers issue %d back: it is issue %d now", one.issue, one.here)
		default:
			continue
		}
		one.back = true
		return
	}
}

// reparented are the issues that people gave another parent, or none.
func (c *chaos) reparented() map[int]bool {
	if c.strays == nil {
		return nil
	}
	return c.strays.moved
}

// numbers are those that an issue ever had, the oldest one first.
func (s *strays) numbers(issue int) []int {
	if s != nil {
		for _, one := range s.gone {
			if one.here == issue {
				return append(s.numbers(one.issue), issue)
			}
		}
	}
	return []int{issue}
}

// lost are the pairs of which one item is gone.
func (c *chaos) lost() (all []stray) {
	if c.strays != nil {
		for _, one := range c.strays.gone {
			if !one.back {
				all = append(all, *one)
			}
		}
	}
	return all
}

// lostCard reports whether the card of an issue was deleted, and lostIssue whether the issue of a
// card was, or those of its parent. A request that was under way may have made an item for one that was gone.
func (s seen) lostCard(i *seenIssue) bool {
	is := func(one stray) bool {
		return one.side == mapping.Planning && (one.issue == i.number || one.issue == i.parent || i.own && names(i.marks, one.card))
	}
	return slices.ContainsFunc(s.strays, is)
}

func (s seen) lostIssue(c *seenCard) bool {
	made := func(c *seenCard, one stray) bool { return c.own && names(c.marks, strconv.FormatInt(one.issueID, 10)) }
	return slices.ContainsFunc(s.strays, func(one stray) bool {
		is := one.card != "" && (one.card == c.id || one.card == c.of) || made(c, one) ||
			slices.ContainsFunc(s.cards, func(of seenCard) bool { return of.id == c.of && made(&of, one) })
		return one.side == mapping.GitHub && is
	})
}

func names(marks []mapping.Marker, partner string) bool {
	return slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Partner == partner })
}

// alone complains of a new partner for what was left alone.
func (j *judging) alone(s seen, partners map[int]*seenCard) {
	for _, one := range s.strays {
		if !one.whole || s.forgotten {
			continue
		}
		for n := range s.issues {
			i := &s.issues[n]
			if c := partners[i.number]; c != nil && (one.side == mapping.GitHub && c.id == one.card || one.side == mapping.Planning && i.number == one.issue) {
				j.complain(i, c, "they are a pair, though that of issue %d and card %q lost its item in %s", one.issue, one.card, one.side)
			}
		}
	}
}

// TestAnIssueHasNumbers: an issue that comes back from another repository has another number.
func TestAnIssueHasNumbers(t *testing.T) {
	s := &strays{gone: []*stray{{issue: 2, there: 7, here: 5}, {issue: 3, there: 8}, {issue: 5, there: 9, here: 6}}}
	for issue, want := range map[int][]int{1: {1}, 3: {3}, 5: {2, 5}, 6: {2, 5, 6}} {
		if got := s.numbers(issue); !slices.Equal(got, want) {
			t.Errorf("the numbers of issue %d are %v, want %v", issue, got, want)
		}
	}
	if got := (*strays)(nil).numbers(1); !slices.Equal(got, []int{1}) {
		t.Errorf("the numbers of issue 1 without strays are %v", got)
	}
}

// subTask adds a task of the card, whose issue has no parent.
func subTask(s *seen) {
	i, c := s.issues[0], s.cards[0]
	i.number, i.id, i.own = 2, 12, true
	c.id, c.of, c.tracking, c.marks = "t1", "c1", 0, []mapping.Marker{{Kind: mapping.MarkTask, Partner: "12"}}
	s.issues, s.cards = append(s.issues, i), append(s.cards, c)
}

// estimated has a person set an estimate of the issue that is gone, some time after its card was made.
func estimated(s *seen, later time.Duration) {
	made := s.cards[0].past[mapping.Title][0].at
	s.issues[0].past[mapping.Estimate] = []write{{to: "5", person: true, at: made.Add(later)}, {from: "5", to: "", at: made.Add(later).Add(time.Second)}}
}

func TestJudgeKnowsStrays(t *testing.T) {
	left := func(s *seen, one stray) {
		one.issue, one.issueID, one.card = 1, 11, "c1"
		s.strays = []stray{one}
	}
	for name, c := range map[string]struct {
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"a card is gone":    {func(s *seen) { left(s, stray{side: mapping.Planning, whole: true}); s.cards = nil }, ""},
		"an issue is gone":  {func(s *seen) { left(s, stray{side: mapping.GitHub, whole: true}); s.issues = nil }, ""},
		"nobody deleted it": {func(s *seen) { s.issues = nil }, "no issue"},
		"a sub-issue of an issue whose card is gone": {func(s *seen) {
			left(s, stray{side: mapping.Planning, whole: true})
			s.cards, s.issues = nil, append(s.issues, seenIssue{number: 2, id: 12, parent: 1})
		}, ""},
		"a second card":                 {func(s *seen) { left(s, stray{side: mapping.Planning, whole: true}); s.cards[0].id = "c2" }, "they are a pair"},
		"of an issue that had none yet": {func(s *seen) { left(s, stray{side: mapping.Planning}); s.cards[0].id = "c2" }, ""},
		"a title that planning refuses": {func(s *seen) {
			long := strings.Repeat("w9 ", mostTitle)
			person(&s.issues[0].seenItem, mapping.Title, "two", long)
			s.issues[0].now[mapping.Title] = long
		}, ""},
		"an estimate from before a transfer and before the card": {func(s *seen) {
			s.issues[0].crossed = true
			estimated(s, -time.Hour)
		}, ""},
		"the same without a transfer": {func(s *seen) { estimated(s, -time.Hour) }, "lost estimate"},
		"an estimate from before a transfer, of an issue with a card": {func(s *seen) {
			s.issues[0].crossed = true
			estimated(s, time.Hour)
		}, "lost estimate"},
		"a task on the card": {func(s *seen) {
			left(s, stray{side: mapping.GitHub, whole: true})
			s.issues = nil
			s.cards = append(s.cards, seenCard{id: "t1", of: "c1", bucket: bridgetest.Bucket})
		}, ""},
		"a task on a card that was made for an issue that was gone": {func(s *seen) {
			left(s, stray{side: mapping.GitHub})
			s.strays[0].card, s.issues = "", nil
			s.cards = append(s.cards, seenCard{id: "t1", of: "c1", bucket: bridgetest.Bucket})
		}, ""},
		"an issue for a task, whose parent is gone":  {func(s *seen) { subTask(s); left(s, stray{side: mapping.GitHub, whole: true}); s.issues = s.issues[1:] }, ""},
		"an issue for a task, whose parent is there": {func(s *seen) { subTask(s) }, "its task is not on the card of its parent"},
		"a card for an issue that is gone":           {func(s *seen) { left(s, stray{side: mapping.GitHub}); s.issues, s.cards[0].id = nil, "c2" }, ""},
	} {
		t.Run(name, func(t *testing.T) { judgeAgreed(t, c.change, c.want) })
	}
}
