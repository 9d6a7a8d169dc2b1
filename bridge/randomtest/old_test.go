package randomtest_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// Items older than the bridge in the random run, and the law for them.

// oldAge is how much older it is, by GitHub's clock.
const oldAge = 24 * time.Hour

// old are the items from before the first run. They are made before anybody
// asks.
type old struct {
	issues map[int]oldItem
	cards  map[string]oldItem
}

type oldItem struct {
	asleep bool   // nobody touches it
	closed bool   // at the first run
	twin   string // a card that has the same title as this issue, and no other one has
	apart  bool   // its title says nothing clear
}

func (o old) hasCard(id string) bool { _, ok := o.cards[id]; return ok }

// issues and cards are those that people work on.
func (p *people) issues() []githubtest.IssueState {
	return slices.DeleteFunc(p.w.Repo.Issues(), func(i githubtest.IssueState) bool { return p.old.issues[i.Number].asleep })
}

func (p *people) cards() []planningtest.CardState {
	return slices.DeleteFunc(p.allCards(), func(c planningtest.CardState) bool { return p.old.cards[c.ID].asleep })
}

// past makes items that are older than the bridge. These are issues, of which some are closed, some
// have sub-issues and some a card of the same title, and a few cards. Nobody touches most of them.
func (c *chaos) past(m *operators, r *rand.Rand) {
	c.imports, c.fate.imports, c.fate.honest = m, true, m.matching()
	if r.IntN(3) == 0 {
		c.Planning.SetTraits(func(t *planningtest.Traits) { t.MaxBatch = 3 })
	}
	p := c.actor("old")
	p.old = old{issues: map[int]oldItem{}, cards: map[string]oldItem{}}
	for n := range 10 {
		asleep := n%3 != 0
		number := p.oldIssue(oldItem{asleep: asleep}, r.IntN(3) == 0)
		if r.IntN(4) == 0 { // a family is as one
			for range 1 + r.IntN(2) {
				p.w.Repo.AddSubIssue(number, p.oldIssue(oldItem{asleep: asleep}, r.IntN(3) == 0))
			}
		}
	}
	for n := range 3 {
		p.oldPair(n != 0)
	}
	for n := range 2 {
		p.oldCard("title "+p.word(), oldItem{asleep: n != 0})
	}
	if m.matching() {
		unclear := oldItem{asleep: true, apart: true}
		title := p.w.Repo.Issue(p.oldIssue(unclear, false)).Title
		p.old.issues[p.openIssue(title)] = unclear
		p.oldCard(title, unclear)
	}
}

func (p actor) oldIssue(i oldItem, closed bool) int {
	n := p.openIssue("title " + p.word())
	if closed {
		p.w.Repo.Close(n, "octocat", "")
	}
	i.closed = closed
	p.old.issues[n] = i
	return n
}

func (p actor) oldCard(title string, i oldItem) string {
	id := p.makeCard(title)
	p.old.cards[id] = i
	return id
}

// oldPair is an issue and a card of the same title.
func (p actor) oldPair(asleep bool) {
	n := p.oldIssue(oldItem{}, false)
	card := p.oldCard(p.w.Repo.Issue(n).Title, oldItem{asleep: asleep})
	i := oldItem{asleep: asleep}
	if asleep {
		i.twin = card
	}
	p.old.issues[n] = i
}

// takenIn is what operators imported: the most that was begun, and the most
// that ended; "": nothing.
type takenIn struct {
	begun, ended string
	matching     bool // all looked for partners
}

func more(a, b string) string {
	if a == mapping.ImportAll || b == "" {
		return a
	}
	return b
}

func (d *takenIn) begins(state string) { d.begun = more(d.begun, state) }
func (d *takenIn) ends(state string)   { d.ended = more(d.ended, state) }

// look is what there is to see of the run.
func (c *chaos) look() seen {
	s := look(c.World, c.people.projects, c.keys, c.people.lists)
	s.decides = c.sim != nil
	s.way = directionOf(c.route)
	s.against = against(c.World, s.way)
	s.apart, s.parted, s.clean = c.apart(), c.parted(), c.cleaned()
	s.strays, s.reparented = c.lost(), c.reparented()
	for n := range s.issues {
		s.issues[n].crossed = len(c.strays.numbers(s.issues[n].number)) > 1
	}
	c.lookAtProjects(&s)
	c.staff(&s)
	if c.public != nil {
		s.public = c.public.spells
	}
	if c.reloads != nil {
		polls := c.sim.witness.polls(c.Planning.Journal())
		s.away, s.others = taken(c.reloads.spells, polls), c.cardsElsewhere()
		ends := unpolled(c.reloads.spells, polls)
		for n := range s.cards {
			s.cards[n].away = slices.Concat(s.cards[n].away, ends)
		}
	}
	s.forgotten = c.sim != nil && c.sim.forgotten
	c.markUnanswered(s.cards)
	if s.forgotten {
		c.untold(s.cards)
	}
	if c.imports == nil {
		return s
	}
	s.takenIn = c.imports.done
	s.takenIn.matching = c.imports.matching()
	for n := range s.issues {
		if i, ok := c.people.old.issues[s.issues[n].number]; ok {
			s.issues[n].old = &i
		}
	}
	for n := range s.cards {
		if i, ok := c.people.old.cards[s.cards[n].id]; ok {
			s.cards[n].old = &i
		}
	}
	return s
}

// enters says of an issue whether it has to have a partner, and whether it may
// have one. One that is older than the bridge enters when somebody touches it
// while it is open, with its parent, or by an import.
func (s seen) enters(i *seenIssue) (must, may bool) {
	d := s.takenIn
	switch {
	case s.isApart(i), s.untaken(&i.seenItem), s.lostCard(i):
		return false, true
	case s.way == mapping.ToGitHub: // its issues are those of cards, or joined with one by an import
		return i.own, i.own || i.old != nil && d.begun != ""
	case i.old == nil: // an issue that was closed before it entered stays out
		return i.own || !i.closed, true
	case i.old.apart && d.matching:
		return false, false
	case d.ended == mapping.ImportAll, (d.ended != "" || s.touched(i)) && !i.closed:
		return true, true
	case !i.old.asleep: // it was open at times
		return false, true
	}
	return d.ended != "" && !i.old.closed, d.begun == mapping.ImportAll || d.begun != "" && (!i.old.closed || i.parent != 0)
}

// entersCard says the same of a card, which nobody's touch lets in.
func (s seen) entersCard(c *seenCard) (must, may bool) {
	switch {
	case s.isApartCard(c), s.untakenCard(c), s.lostIssue(c):
		return false, true
	case s.way == mapping.ToPlanning: // its cards are those of issues, or joined with one by an import
		return c.own, c.own || c.old != nil && s.takenIn.begun != ""
	case s.way == mapping.ToGitHub && c.old != nil: // one that is joined gets no marker
		return false, s.takenIn.begun != ""
	case c.old == nil:
		return c.own || c.bucket == bridgetest.Bucket, true
	case c.old.apart && s.takenIn.matching:
		return false, false
	}
	return s.takenIn.ended != "" && c.bucket == bridgetest.Bucket, s.takenIn.begun != ""
}

// touched reports whether a person wrote to an old issue since the first run, when that let it
// enter.
func (s seen) touched(i *seenIssue) bool {
	for _, past := range i.past {
		if slices.ContainsFunc(past, func(w write) bool { return w.person && w.at.Sub(past[0].at) > oldAge/2 && !s.untakenAt(w.at) }) {
			return true
		}
	}
	return false
}

// twins complains of an issue that was to be joined with a card and has another
// one.
func (j *judging) twins(s seen, i *seenIssue, c *seenCard) {
	if i.old != nil && i.old.twin != "" && s.takenIn.matching && i.old.twin != c.id && !s.others[i.old.twin] {
		j.complain(i, c, "an import that matches titles did not join it with card %s", i.old.twin)
	}
}
