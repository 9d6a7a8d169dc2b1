package bridgetest_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// team are people who open, edit and close things on both sides of a world, and know what they
// wrote. Each thing has a tag in its title that identifies its two sides. It is only written on the
// side that it was made on, so that the last value of each can be found at the end.
type team struct {
	w     *world
	repo  *githubtest.Repo
	board *planningtest.Project

	mu     sync.Mutex
	prefix string
	acts   int
	births bool // things are made, too
	things []*thing
}

type thing struct {
	tag         string
	issue       int    // where it was made on GitHub
	card        string // where it was made in planning
	title, text string // the last written text
}

func newTeam(w *world, prefix string) *team {
	return &team{w: w, repo: w.Repo, board: w.Project, prefix: prefix, births: true}
}

// make makes n things on each side.
func (p *team) make(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range n {
		p.open()
		p.plan()
	}
}

func (p *team) open() {
	t := p.thing()
	t.issue = p.repo.Open("octocat", githubtest.IssueSpec{Title: t.title, Body: t.text})
}

func (p *team) plan() {
	t := p.thing()
	t.card = p.board.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: t.title, Summary: t.text})
}

func (p *team) thing() *thing {
	t := &thing{tag: fmt.Sprintf("%s%03d:", p.prefix, len(p.things))}
	t.title, t.text = t.tag+" made", "Text of "+t.tag+" as it was made."
	p.things = append(p.things, t)
	return t
}

// act does the next thing that people do.
func (p *team) act() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acts++
	if p.births && p.acts%7 == 0 {
		if p.acts%2 == 0 {
			p.open()
		} else {
			p.plan()
		}
		return
	}
	t := p.things[p.acts%len(p.things)]
	switch p.acts % 3 {
	case 0:
		t.text = fmt.Sprintf("Text of %s as of act %d.", t.tag, p.acts)
	default:
		t.title = fmt.Sprintf("%s act %d", t.tag, p.acts)
	}
	if t.card != "" {
		p.board.EditCard(t.card, "alice", func(e *planningtest.CardEdit) {
			_, mark := bridgetest.SplitMarker(e.Summary)
			e.Title, e.Summary = t.title, t.text+mark
		})
		return
	}
	p.repo.Edit(t.issue, "octocat", func(e *githubtest.IssueEdit) {
		_, mark := bridgetest.SplitMarker(e.Body)
		e.Title, e.Body = t.title, t.text+mark
	})
}

// busy lets people act every few milliseconds until the function that it
// returns is called.
func (p *team) busy(every time.Duration) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				p.act()
			}
		}
	}()
	return sync.OnceFunc(func() { close(quit); <-done })
}

// go on until people have acted n more times.
func (p *team) on(n int) {
	p.w.T.Helper()
	count := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.acts
	}
	until := count() + n
	p.w.Await("people act", func() bool { return count() >= until })
}

// whole waits until all things are whole and nothing is left to do. It waits as long as something
// still moves, as a machine may be slow.
func (p *team) whole() {
	p.w.T.Helper()
	faults, moved := p.faults(), time.Now()
	err := p.w.Until(p.w.T.Context(), func() bool {
		if now := p.faults(); !slices.Equal(now, faults) {
			faults, moved = now, time.Now()
		}
		return len(faults) == 0 || time.Since(moved) > bridgetest.Patience
	})
	if err != nil || len(faults) > 0 {
		p.w.T.Fatalf("not whole:\n%s", strings.Join(faults, "\n"))
	}
	p.w.AwaitSettled()
	if faults = p.faults(); len(faults) > 0 {
		p.w.T.Fatalf("whole no more:\n%s", strings.Join(faults, "\n"))
	}
}

// faults lists the differences from the required end. Each thing is one issue and one card with one
// tracking task, and they agree. The last text is on both or kept in a comment, and no comment is
// there twice.
func (p *team) faults() (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	issues, cards := p.repo.Issues(), p.board.Cards()
	for _, t := range p.things {
		i := keep(issues, func(i githubtest.IssueState) bool { return strings.HasPrefix(i.Title, t.tag) })
		c := keep(cards, func(c planningtest.CardState) bool { return strings.HasPrefix(c.Title, t.tag) })
		if len(i) != 1 || len(c) != 1 {
			out = append(out, fmt.Sprintf("%s %d issues and %d cards", t.tag, len(i), len(c)))
			continue
		}
		for _, fault := range t.faults(i[0], c[0]) {
			out = append(out, fmt.Sprintf("%s (issue %d, card %s) %s", t.tag, i[0].Number, c[0].ID, fault))
		}
	}
	if n := len(p.things); p.prefix == "" && (len(issues) != n || len(cards) != n) {
		out = append(out, fmt.Sprintf("%d issues and %d cards of %d things", len(issues), len(cards), n))
	}
	return out
}

func (t *thing) faults(i githubtest.IssueState, c planningtest.CardState) (out []string) {
	body, _ := bridgetest.SplitMarker(i.Body)
	summary, _ := bridgetest.SplitMarker(c.Summary)
	if i.Title != c.Title || body != summary {
		out = append(out, fmt.Sprintf("is %q, %q on GitHub and %q, %q in planning", i.Title, body, c.Title, summary))
	}
	if len(c.Tasks) != 1 {
		out = append(out, fmt.Sprintf("has %d tasks", len(c.Tasks)))
	}
	comments := ""
	seen := map[string]bool{}
	for _, one := range i.Comments {
		said := marker.ReplaceAllString(one.Body, "")
		if seen[said] {
			out = append(out, fmt.Sprintf("has a comment twice: %q", said))
		}
		seen[said] = true
		comments += said + "\n"
	}
	for _, written := range []string{t.title, t.text} {
		if written != i.Title && written != body && !strings.Contains(comments, written) {
			out = append(out, fmt.Sprintf("lost %q; it is %q, %q with %d comments", written, i.Title, body, len(i.Comments)))
		}
	}
	return out
}

func keep[T any](all []T, ok func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !ok(one) })
}

var marker = regexp.MustCompile(`planbridge-1\.[A-Za-z0-9.-]+`)

// everyAct is how often people act.
const everyAct = 25 * time.Millisecond

// busyTeam is a world with things on both sides, and people at work in it.
func busyTeam(t *testing.T, o bridgetest.Options) (p *team, stop func()) {
	p = newTeam(start(t, o), "")
	// Cards that are there at the first poll are old.
	p.w.Await("the first polls", func() bool { return p.w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	p.make(3)
	p.whole()
	stop = p.busy(everyAct)
	t.Cleanup(stop)
	return p, stop
}
