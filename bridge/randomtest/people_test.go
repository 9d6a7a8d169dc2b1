package randomtest_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// people are several persons who work on both sides.
type people struct {
	w    *bridgetest.World
	keys mapping.Keys
	// projects are those whose cards people work on, and newCards those of them that get new ones.
	projects, newCards []*planningtest.Project
	beside             []*planningtest.Project // where others make cards
	lists              bool                    // tasks stand for items of checklists
	careful            bool                    // they leave footers alone, without which a lost store is not made good
	label              string                  // that some of the issues get; "": none
	most               int                     // issues and cards that they make; and sub-issues and tasks
	grows              int                     // see size

	*diary
	mu sync.Mutex

	sprints []string // ids
	old     old

	made  atomic.Int64
	parts atomic.Int64
}

// actor is one of the people in one turn. Each text of an actor is unique, so that it can be found
// again.
type actor struct {
	*people
	*turn
}

func newPeople(w *bridgetest.World, keys mapping.Keys, lists bool, of size) *people {
	return &people{w: w, keys: keys, projects: []*planningtest.Project{w.Project}, newCards: []*planningtest.Project{w.Project}, lists: lists, most: of.items, grows: of.grows, diary: &diary{}}
}

// points is an estimate unlike any other.
func (p actor) points() *float64 {
	n := float64(p.number())
	return &n
}

// act is one thing that somebody does.
func (p actor) act() {
	issues, cards := p.issues(), p.cards()
	if n := p.made.Load(); n < 4 || n < int64(p.most) && p.chance(p.grows) {
		p.made.Add(1)
		p.begin(n%2 == 0)
		return
	}
	switch {
	case len(issues) > 0 && p.chance(50):
		p.onGitHub(issues[p.IntN(len(issues))])
	case len(cards) > 0:
		p.inPlanning(cards[p.IntN(len(cards))])
	}
}

// begin makes an issue or a card.
func (p actor) begin(issue bool) {
	if issue {
		p.openIssue("title " + p.word())
		return
	}
	p.makeCard("title " + p.word())
}

func (p actor) openIssue(title string) int {
	text := p.text()
	if p.lists {
		text += "\n\n- [ ] item " + p.word() + "\n- [x] item " + p.word() + "\n"
	}
	spec := githubtest.IssueSpec{Title: title, Body: text}
	if p.chance(50) {
		spec.Labels = []string{"bug", chaosScheme.EstimateLabel(strconv.Itoa(int(*p.points())))}
	}
	if p.people.label != "" && p.chance(40) {
		spec.Labels = append(spec.Labels, p.people.label)
	}
	n := p.w.Repo.Open("octocat", spec)
	p.did(do("github", "open", "octocat", title).with(spec.Labels...).and("body", text), "octocat opens issue %d %q", n, title)
	return n
}

func (p actor) makeCard(title string) string {
	spec := planningtest.CardSpec{Title: title, Summary: p.text()}
	if p.chance(50) {
		spec.Estimate = p.points()
	}
	id := p.newCardsIn().NewCard(bridgetest.Bucket, "alice", spec)
	p.did(do("planning", "card", "alice", bridgetest.Bucket, title).and("summary", spec.Summary).and("estimate", number(spec.Estimate)), "alice makes card %d %q", p.card(id), title)
	return id
}

func (p actor) text() string {
	var lines []string
	for range 8 {
		lines = append(lines, p.line())
	}
	return strings.Join(lines, "\n")
}

// line is a line of Markdown that can be found again.
func (p actor) line() string {
	forms := []string{"line %s", "line %s", "* item %s", "a **bold** %s", "ask @octocat about %s, see #12", "%s: 1 < 2 & [a link](https://example.com)"}
	return fmt.Sprintf(forms[p.IntN(len(forms))], p.word())
}

// edited is a text after somebody worked on it, line by line or wholly. The bridge's part below it
// mostly stays.
func (p actor) edited(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	written, mark := bridgetest.SplitMarker(text)
	lines := strings.Split(written, "\n")
	at := p.IntN(len(lines))
	switch p.IntN(10) {
	case 0, 1, 2, 3:
		lines[at] = p.line()
	case 4, 5:
		lines = append(lines, p.line())
	case 6:
		lines = append([]string{p.line()}, lines...)
	case 7:
		if len(lines) > 3 {
			lines = append(lines[:at], lines[at+1:]...)
		}
	case 8:
		lines = append(lines, "", p.line())
	default:
		lines = nil
		for range 3 + p.IntN(5) {
			lines = append(lines, p.line())
		}
		if p.chance(20) && !p.careful {
			mark = ""
		}
	}
	return strings.Join(lines, "\n") + mark
}

func (p actor) onGitHub(i githubtest.IssueState) {
	repo, n, who := p.w.Repo, i.Number, []string{"octocat", "hubot"}[p.IntN(2)]
	if p.chance(6) {
		p.meddle(i, who)
		return
	}
	switch {
	case p.lists && p.chance(25):
		p.tickOff(n, who)
		return
	case !p.lists && i.Parent == 0 && p.chance(8) && p.startPart():
		p.openSub(i, who)
		return
	}
	switch p.IntN(12) {
	case 0, 1, 2, 3, 4:
		p.editIssue(n, who)
	case 5, 6:
		p.relabel(n, who)
	case 7:
		p.did(do("github", "close", n, who), "%s closes issue %d", who, n)
		repo.Close(n, who, "")
	case 8:
		p.did(do("github", "reopen", n, who), "%s reopens issue %d", who, n)
		repo.Reopen(n, who)
	case 9:
		p.label(n, who, chaosScheme.InProgress)
	case 10:
		p.unlabel(n, who, chaosScheme.InProgress)
	default:
		p.sort(n, who)
		says := "I say " + p.word()
		p.did(do("github", "comment", n, who, says), "%s comments on issue %d: %q", who, n, says)
		repo.Comment(n, who, says)
	}
}

// interrupt is what somebody does now and then between another's read and write.
func (p actor) interrupt(n int) {
	switch {
	case p.w.Repo.Issue(n).Number == 0: // it was deleted
	case p.chance(70):
	case p.chance(50):
		p.sort(n, "hubot")
	default:
		p.editIssue(n, "hubot")
	}
}

// tidy is what somebody who sorts does now and then at that moment.
func (p actor) tidy(n int) {
	if p.w.Repo.Issue(n).Number != 0 && p.chance(30) {
		p.sort(n, "hubot")
	}
}

// sort puts a label that means nothing to the bridge on an issue, or takes it
// off.
func (p actor) sort(n int, who string) {
	label := []string{"bug", "help wanted"}[p.IntN(2)]
	if slices.Contains(p.w.Repo.Issue(n).Labels, label) {
		p.unlabel(n, who, label)
		return
	}
	p.label(n, who, label)
}

func (p actor) label(n int, who, label string) {
	p.did(do("github", "label", n, who, label), "%s puts the label %s on issue %d", who, label, n)
	p.w.Repo.Label(n, who, label)
}

func (p actor) unlabel(n int, who, label string) {
	p.did(do("github", "unlabel", n, who, label), "%s takes the label %s off issue %d", who, label, n)
	p.w.Repo.Unlabel(n, who, label)
}

// editIssue saves an issue's title, its body or both.
func (p actor) editIssue(n int, who string) {
	what, crlf := p.IntN(3), p.chance(30)
	title, did := "title "+p.word(), do("github", "edit", n, who)
	var changed []string
	p.w.Repo.Edit(n, who, func(e *githubtest.IssueEdit) {
		if what != 1 {
			e.Title = title
			did, changed = did.and("title", title), append(changed, fmt.Sprintf("the title, to %q", title))
		}
		if what != 0 {
			was := e.Body
			e.Body = p.edited(e.Body)
			e.CRLF = e.CRLF || crlf
			written, _ := bridgetest.SplitMarker(e.Body)
			did, changed = did.and("body", written), append(changed, "the body, "+difference(was, e.Body))
			if crlf {
				did = did.with("crlf")
			}
		}
	})
	p.did(did, "%s edits of issue %d %s", who, n, strings.Join(changed, ", and "))
}

// relabel exchanges the estimate labels, or a sub-issue's hours, for another one.
func (p actor) relabel(n int, who string) {
	i, scheme := p.w.Repo.Issue(n), chaosScheme
	if i.Parent != 0 {
		scheme = hoursScheme
	}
	label := scheme.EstimateLabel(strconv.Itoa(int(*p.points())))
	_, all := scheme.EstimateOf(i.Labels, "")
	if p.chance(80) {
		for _, l := range all {
			p.unlabel(n, who, l)
		}
	}
	p.label(n, who, label)
}

func (p actor) inPlanning(c planningtest.CardState) {
	const who = "alice"
	known := slices.ContainsFunc(c.Tasks, p.isTracking)
	switch {
	case known && p.chance(6): // the bridge has seen it in its bucket, which a sprint does not tell
		p.plan(c)
		return
	case len(c.Tasks) > 0 && p.chance(40):
		p.editTask(c.Tasks[p.IntN(len(c.Tasks))], who)
		return
	case (known || !p.old.hasCard(c.ID)) && p.chance(6) && p.startPart():
		p.makeTask(c, who)
		return
	}
	what := 1 + p.IntN(7)
	title, points, did := "title "+p.word(), p.points(), do("planning", "edit", p.card(c.ID), who)
	var changed []string
	p.project(c.ID).EditCard(c.ID, who, func(e *planningtest.CardEdit) {
		if what&1 != 0 {
			was := e.Summary
			e.Summary = p.edited(e.Summary)
			written, _ := bridgetest.SplitMarker(e.Summary)
			did, changed = did.and("summary", written), append(changed, "the summary, "+difference(was, e.Summary))
		}
		if what&2 != 0 {
			e.Title = title
			did, changed = did.and("title", title), append(changed, fmt.Sprintf("the title, to %q", title))
		}
		if what&4 != 0 {
			e.Estimate = points
			did, changed = did.and("estimate", number(points)), append(changed, "the estimate, to "+number(points))
		}
	})
	p.did(did, "%s edits of card %d %s", who, p.card(c.ID), strings.Join(changed, ", and "))
}

// estimate changes nothing but a card's estimate, so that nothing but labels
// changes on its issue.
func (p actor) estimate(c planningtest.CardState) {
	points := p.points()
	p.project(c.ID).EditCard(c.ID, "alice", func(e *planningtest.CardEdit) { e.Estimate = points })
	p.did(do("planning", "edit", p.card(c.ID), "alice").and("estimate", number(points)), "alice estimates card %d at %s", p.card(c.ID), number(points))
}
