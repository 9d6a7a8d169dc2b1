package scenariotest

import (
	"fmt"
	"slices"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// This file has the acts and facts of checklists.

// tick clicks a box in an issue's page.
func (s *Scene) tick(n int, who, text string, checked bool) error {
	body := s.Repo.Issue(n).Body
	for _, item := range mapping.Items(body) {
		if item.Text == text {
			item.Checked = checked
			s.Repo.Edit(n, who, func(e *githubtest.IssueEdit) { e.Body = mapping.SetItems(body, []mapping.Item{item}) })
			return nil
		}
	}
	return fmt.Errorf("issue %d has no item %q", n, text)
}

// planningTask has people's acts on the tasks of a card, which go by their titles.
func (s *Scene) planningTask(verb, card string, l *line) error {
	if verb == "new-task" {
		spec := planningtest.TaskSpec{}
		who := l.next()
		spec.Title = l.next()
		l.set("title", &spec.Title)
		l.set("state", &spec.State)
		l.set("summary", &spec.Summary)
		spec.Estimate = l.hours(spec.Estimate)
		s.Project.NewTask(card, who, spec)
		return nil
	}
	title := l.next()
	tasks := s.Project.Tasks(card)
	i := slices.IndexFunc(tasks, func(t planningtest.TaskState) bool { return t.Title == title })
	if i < 0 {
		return fmt.Errorf("the card has no task %q", title)
	}
	if verb == "drop-task" {
		s.Project.DeleteTask(tasks[i].ID)
		return nil
	}
	if verb == "copy-task" {
		s.Project.NewTask(card, "alice", planningtest.TaskSpec{Title: l.next(), Summary: tasks[i].Summary})
		return nil
	}
	s.Project.EditTask(tasks[i].ID, l.next(), func(e *planningtest.TaskEdit) {
		l.set("title", &e.Title)
		l.set("state", &e.State)
		if text, ok := l.get("summary"); ok {
			_, mark := bridgetest.SplitMarker(e.Summary)
			e.Summary = text + mark
		}
		e.Estimate = l.hours(e.Estimate)
	})
	return nil
}
