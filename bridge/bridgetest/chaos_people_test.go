package bridgetest_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// people are several persons who work on both sides.
type people struct {
	w       *bridgetest.World
	keys    mapping.Keys
	lists   bool // tasks stand for items of checklists
	careful bool // they leave footers alone, without which a lost store is not made good
	most    int  // issues and cards that they make; and sub-issues and tasks

	mu    sync.Mutex
	diary []string

	sprints []string // ids
	old     old

	made  atomic.Int64
	parts atomic.Int64
}

// actor is one of the people in one turn. Whatever an actor writes is unlike anything
// written before, so that it can be found again.
type actor struct {
	*people
	*turn
}

func newPeople(w *bridgetest.World, keys mapping.Keys, lists bool) *people {
	return &people{w: w, keys: keys, lists: lists, most: 8}
}

func (p *people) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.diary = append(p.diary, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// points is an estimate unlike any other.
func (p actor) points() *float64 {
	n := float64(p.number())
	return &n
}

// act is one thing that somebody does.
func (p actor) act() {
	issues, cards := p.issues(), p.cards()
	if n := p.made.Load(); n < 4 || n < int64(p.most) && p.chance(4) {
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
	n := p.w.Repo.Open("octocat", spec)
	p.note("opens issue %d %q", n, title)
	return n
}

func (p actor) makeCard(title string) string {
	spec := planningtest.CardSpec{Title: title, Summary: p.text()}
	if p.chance(50) {
		spec.Estimate = p.points()
	}
	id := p.w.Project.NewCard(bridgetest.Bucket, "alice", spec)
	p.note("makes card %s %q", id, title)
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

// edited is a text after somebody worked on it, line by line or wholly. What
// the bridge put below it stays, mostly.
func (p actor) edited(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	written, mark := parts(text)
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
		p.note("%s closes issue %d", who, n)
		repo.Close(n, who, "")
	case 8:
		p.note("%s reopens issue %d", who, n)
		repo.Reopen(n, who)
	case 9:
		p.note("%s puts issue %d in progress", who, n)
		repo.Label(n, who, chaosScheme.InProgress)
	case 10:
		p.note("%s takes issue %d out of progress", who, n)
		repo.Unlabel(n, who, chaosScheme.InProgress)
	default:
		p.sort(n, who)
		repo.Comment(n, who, "I say "+p.word())
	}
}

// interrupt is what somebody does now and then between another's read and write.
func (p actor) interrupt(n int) {
	switch {
	case p.chance(70):
	case p.chance(50):
		p.sort(n, "hubot")
	default:
		p.editIssue(n, "hubot")
	}
}

// tidy is what somebody who sorts does now and then at that moment.
func (p actor) tidy(n int) {
	if p.chance(30) {
		p.sort(n, "hubot")
	}
}

// sort puts a label that means nothing to the bridge on an issue, or takes it
// off.
func (p actor) sort(n int, who string) {
	label := []string{"bug", "help wanted"}[p.IntN(2)]
	p.note("%s sorts issue %d: %s", who, n, label)
	if slices.Contains(p.w.Repo.Issue(n).Labels, label) {
		p.w.Repo.Unlabel(n, who, label)
		return
	}
	p.w.Repo.Label(n, who, label)
}

// editIssue saves an issue's title, its body or both.
func (p actor) editIssue(n int, who string) {
	what, crlf := p.IntN(3), p.chance(30)
	title := "title " + p.word()
	p.w.Repo.Edit(n, who, func(e *githubtest.IssueEdit) {
		if what != 0 {
			e.Body = p.edited(e.Body)
			e.CRLF = e.CRLF || crlf
		}
		if what != 1 {
			e.Title = title
		}
	})
	p.note("%s edits issue %d (0 title, 1 body, 2 both: %d) %q", who, n, what, title)
}

// relabel exchanges the estimate labels, or a sub-issue's hours, for another one.
func (p actor) relabel(n int, who string) {
	i, scheme := p.w.Repo.Issue(n), chaosScheme
	if i.Parent != 0 {
		scheme = hoursScheme
	}
	label := scheme.EstimateLabel(strconv.Itoa(int(*p.points())))
	p.note("%s puts %s on issue %d", who, label, n)
	_, all := scheme.EstimateOf(i.Labels, "")
	if p.chance(80) {
		for _, l := range all {
			p.w.Repo.Unlabel(n, who, l)
		}
	}
	p.w.Repo.Label(n, who, label)
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
	title, points := "title "+p.word(), p.points()
	p.w.Project.EditCard(c.ID, who, func(e *planningtest.CardEdit) {
		if what&1 != 0 {
			e.Summary = p.edited(e.Summary)
		}
		if what&2 != 0 {
			e.Title = title
		}
		if what&4 != 0 {
			e.Estimate = points
		}
	})
	p.note("%s edits card %s (1 summary, 2 title, 4 estimate: %d) %q %v", who, c.ID, what, title, *points)
}

// estimate changes nothing but a card's estimate, so that nothing but labels
// changes on its issue.
func (p actor) estimate(c planningtest.CardState) {
	points := p.points()
	p.w.Project.EditCard(c.ID, "alice", func(e *planningtest.CardEdit) { e.Estimate = points })
	p.note("alice estimates card %s %v", c.ID, *points)
}
