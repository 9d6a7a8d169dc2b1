package randomtest_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// The observations of a run with two planning projects.

// partnersNamed are those that the markers in the bridge's texts of an item ever named. A person's
// text may be a copy of another item's.
func partnersNamed(keys mapping.Keys, texts []write) map[string]bool {
	all := map[string]bool{}
	for _, text := range texts {
		if text.person {
			continue
		}
		_, marks := keys.Body(text.to)
		for _, m := range marks {
			all[m.Partner] = true
		}
	}
	return all
}

// ofProject are the calls that concern a project.
func ofProject(calls []planningtest.Call, project string) []planningtest.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(call planningtest.Call) bool { return !strings.Contains(call.Path, project) })
}

// lookAtProjects adds what there is to know of the two projects.
func (c *chaos) lookAtProjects(s *seen) {
	p := c.other
	if p == nil || p.kind == byRepository {
		return
	}
	first, other, polls := c.Project.ID(), p.project.ID(), c.sim.witness.polls(c.Planning.Journal())
	away := map[string][]span{other: taken(p.spells, ofProject(polls, other))}
	if p.kind == byMove {
		away[first] = slices.Concat(p.led, unpolled(p.led, ofProject(polls, first)))
		away[other] = taken([]span{{to: p.led[0].from}}, ofProject(polls, other))
		if s.named = map[string]map[string]bool{}; p.moved {
			s.moved = other
		}
	}
	for n := range s.cards {
		card := &s.cards[n]
		card.away = away[card.project]
		if s.named != nil {
			s.named[card.id] = partnersNamed(c.keys, planWrites(c.people.project(card.id).History(card.id, "summary"), whole))
		}
	}
	for n := range s.issues {
		c.lookAtLeads(s, &s.issues[n], other)
	}
}

// lookAtLeads adds where an issue leads, by its labels, and which cards it named.
func (c *chaos) lookAtLeads(s *seen, i *seenIssue, other string) {
	if s.named != nil {
		s.named[strconv.Itoa(i.number)] = partnersNamed(c.keys, hubWrites(c.Repo.History(i.number, "body"), whole))
		return
	}
	led := slices.ContainsFunc(c.Repo.History(i.number, "labels"), func(v githubtest.Value) bool {
		return slices.Contains(strings.Split(v.Value, ","), otherName)
	})
	i.unsure = led && len(c.other.spells) > 0
	alone := !slices.ContainsFunc(s.cards, func(card seenCard) bool { return joined(i, &card) })
	for n := range s.cards {
		card := &s.cards[n]
		if card.of != "" || i.leads == (card.project == other) {
			continue
		}
		if alone {
			c.recallMarks(i, card)
		}
		if joined(i, card) {
			s.apart[i.number] = card.id // the link is left
		}
	}
}

// recallMarks gives an issue and a card the markers that a person removed while their link was
// left, where the bridge puts none back.
func (c *chaos) recallMarks(i *seenIssue, card *seenCard) {
	was, had := *i, *card
	was.marks = lastMarks(c.keys, values(c.Repo.History(i.number, "body"), func(v githubtest.Value) string { return v.Value }))
	had.marks = lastMarks(c.keys, values(c.people.project(card.id).History(card.id, "summary"), func(v planningtest.Value) string { return v.Value }))
	if joined(&was, &had) {
		i.marks, card.marks = was.marks, had.marks
	}
}

// lastMarks are the markers of the last text that has some.
func lastMarks(keys mapping.Keys, texts []string) []mapping.Marker {
	for _, text := range slices.Backward(texts) {
		if _, marks := keys.Body(text); len(marks) > 0 {
			return marks
		}
	}
	return nil
}

func whole(text string) string { return text }

func values[T any](all []T, of func(T) string) (texts []string) {
	for _, v := range all {
		texts = append(texts, of(v))
	}
	return texts
}

// taken are the times without a route for a maker of cards. The first poll of a route that is new,
// or back, records the existing cards.
func taken(spells []span, calls []planningtest.Call) (all []span) {
	for _, s := range spells {
		if !s.to.IsZero() {
			s.to = secondPoll(calls, s.to)
		}
		all = append(all, s)
	}
	return all
}

// lookBeside is what there is to see of the other repository and its project; nil: there is
// none.
func (c *chaos) lookBeside(ledger []met) *seen {
	p := c.other
	if p == nil || p.people == nil {
		return nil
	}
	s := look(p.people.w, p.people.projects, c.keys, p.people.lists)
	s.decides, s.way, s.forgotten, s.apart = true, directionOf(c.route), c.sim.forgotten, map[int]string{}
	s.away = taken(p.spells, ofProject(c.sim.witness.polls(c.Planning.Journal()), p.project.ID()))
	s.ledger = ledger
	c.markUnanswered(s.cards)
	if s.forgotten {
		c.untold(s.cards)
	}
	return &s
}

// whileWithdrawn complains of what was written while no bridge had the other project.
func (c *chaos) whileWithdrawn() (all []complaint) {
	if c.other == nil {
		return nil
	}
	for _, call := range ofProject(c.Planning.Journal(), c.other.project.ID()) {
		in := func(s span) bool { s.from = s.from.Add(reloadKnown); return s.from.Before(s.to) && s.has(call.Time) }
		if slices.Contains(planningWrites, call.Op) && slices.ContainsFunc(c.other.spells, in) {
			all = append(all, complaint{what: "written in a project that is not configured: " + call.Op + " " + call.Path})
		}
	}
	return all
}

// judge says what is wrong with the run's world.
func (c *chaos) judge() (complaints []complaint, err error) {
	s := c.look()
	if s.ledger, err = c.ledger(bridgetest.RepoName); err != nil {
		return nil, err
	}
	complaints = judge(s)
	if c.other != nil && c.other.people != nil {
		ledger, err := c.ledger(otherRepo)
		if err != nil {
			return nil, err
		}
		complaints = append(complaints, judge(*c.lookBeside(ledger))...)
	}
	return complaints, nil
}

// inAll is how many planning projects there are.
func (c *chaos) inAll() int {
	if c.other == nil {
		return 1
	}
	return 2
}

// quiet lets polls pass; a write of the bridge is an echo that goes on.
func (c *chaos) quiet() []complaint {
	hub, plan := c.GitHub.Writes(), len(c.Planning.Journal())
	before := c.Writes()
	ctx, cancel := context.WithTimeout(c.t.Context(), bridgetest.Patience)
	defer cancel()
	until := c.Planning.Calls(planningtest.OpBacklogItems) + bridgetest.QuietPolls*c.inAll()
	err := c.Planning.Wait(ctx, func(s *planningtest.Server) bool { return s.Calls(planningtest.OpBacklogItems) >= until })
	if err != nil {
		return []complaint{{what: err.Error()}}
	}
	if n := c.Writes() - before; n > 0 {
		return []complaint{{what: fmt.Sprintf("%d writes after all was at rest (%d on GitHub); planning: %+v", n, c.GitHub.Writes()-hub, c.Planning.Journal()[plan:])}}
	}
	return nil
}
