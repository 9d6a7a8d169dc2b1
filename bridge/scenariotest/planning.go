package scenariotest

import (
	"fmt"
	"strconv"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
)

// planning has the events in the planning service:
//
//	card WHO BUCKET TITLE [summary=] [estimate=]   edit CARD WHO [title=] [summary=] [estimate=]
//	move CARD BUCKET                               delete|undelete CARD   delete-task CARD
//	task CARD WHO [state=] [title=]                sprint CARD…: plan cards into a sprint of this week
//	move-task CARD TO: CARD's first task is now one of card TO
//	down|up                                        secret revoke|restore
//	expel WHO: no member any more                  latency DURATION: each answer takes so long
//	fault OP KIND [times=] [delay=] [status=] [n=]      traits [WORD…] [NAME=VALUE…]
//	new-task CARD WHO TITLE [state=] [summary=] [hours=]   set-task CARD TITLE WHO [title=] [state=] [summary=] [hours=]
//	drop-task CARD TITLE                           copy-task CARD TITLE NEW: make a task NEW with a task's whole summary
//	copy-marker CARD WHO BUCKET TITLE: make a card with a card's whole summary
func (s *Scene) planning(l *line) error {
	if err := s.ensure(); err != nil {
		return err
	}
	verb := l.next()
	if verb == "elsewhere" {
		defer s.elsewhere()()
		verb = l.next()
	}
	if known, err := s.planningShows(verb, l); known || err != nil {
		return err
	}
	switch verb {
	case "card", "edit", "task", "move", "delete", "undelete", "delete-task", "sprint", "copy-marker", "new-task", "set-task", "drop-task", "copy-task":
		return s.planningPerson(verb, l)
	case "down", "up":
		s.Planning.Down(verb == "down")
		return nil
	case "move-task":
		from, to := l.number(), l.number()
		s.Project.MoveTask(s.task(from), s.card(to))
		return nil
	case "secret":
		return s.secret(l.next())
	case "latency":
		d, err := time.ParseDuration(l.next())
		s.Planning.SetLatency(d)
		return err
	case "expel":
		s.Project.RemoveMember(l.next())
		return nil
	case "fault":
		s.Planning.Fault(planningtest.Fault{
			Op: l.next(), Kind: planningtest.FaultKind(l.next()), Times: l.int("times"),
			Delay: l.duration("delay"), Status: l.int("status"), N: l.int("n"),
		})
		return nil
	case "traits":
		var err error
		s.Planning.SetTraits(func(t *planningtest.Traits) { err = setTraits(t, l) })
		return err
	default:
		return fmt.Errorf("planning %s: nobody knows how to do that", verb)
	}
}

// planningPerson has people's acts in the service's pages.
func (s *Scene) planningPerson(verb string, l *line) error {
	if verb == "card" {
		who, bucket, spec := l.next(), l.next(), planningtest.CardSpec{Title: l.next()}
		l.fill(&spec)
		s.Project.NewCard(bucket, who, spec)
		return nil
	}
	if verb == "sprint" {
		now := time.Now()
		sprint := s.Project.NewSprint(planningtest.SprintSpec{Title: "This week", Start: now.Add(-24 * time.Hour), End: now.Add(144 * time.Hour)})
		for n := l.number(); n > 0; n = l.number() {
			s.Project.MoveToSprint(s.card(n), sprint)
		}
		return nil
	}
	n := l.number()
	id := s.card(n)
	if id == "" {
		return fmt.Errorf("there is no card %d", n)
	}
	switch verb {
	case "new-task", "set-task", "drop-task", "copy-task":
		return s.planningTask(verb, id, l)
	case "edit":
		s.Project.EditCard(id, l.next(), l.fill)
	case "move":
		s.Project.MoveCard(id, l.next())
	case "delete":
		s.Project.DeleteCard(id)
	case "undelete":
		s.Project.RestoreCard(id)
	case "delete-task":
		s.Project.DeleteTask(s.task(n))
	case "copy-marker":
		who, bucket := l.next(), l.next()
		s.Project.NewCard(bucket, who, planningtest.CardSpec{Title: l.next(), Summary: s.Project.Card(id).Summary})
	case "task":
		task := s.task(n)
		if task == "" {
			return fmt.Errorf("card %d has no task", n)
		}
		s.Project.EditTask(task, l.next(), func(e *planningtest.TaskEdit) {
			l.set("state", &e.State)
			l.set("title", &e.Title)
		})
	}
	return nil
}

// fill gives a card the values of the line. A footer of ours below the visible text stays where it
// is.
func (l *line) fill(e *planningtest.CardEdit) {
	l.set("title", &e.Title)
	if text, ok := l.get("summary"); ok {
		_, mark := bridgetest.SplitMarker(e.Summary)
		e.Summary = text + mark
	}
	if text, ok := l.get("estimate"); ok {
		e.Estimate = nil
		if points, err := strconv.ParseFloat(text, 64); err == nil {
			e.Estimate = &points
		}
	}
}

// secret takes the project's secret away, or gives it back.
func (s *Scene) secret(what string) error {
	switch what {
	case "revoke":
		s.revoked = s.Project.Secret()
		s.Project.RevokeSecret()
	case "restore":
		s.Project.AddSecret(s.revoked)
	default:
		return fmt.Errorf("secret %s: want revoke or restore", what)
	}
	return nil
}
