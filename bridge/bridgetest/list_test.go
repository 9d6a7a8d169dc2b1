package bridgetest_test

import (
	"fmt"
	"slices"
	"strings"

	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// The acts and facts of checklists.

// tick clicks a box in an issue's page.
func (s *scene) tick(n int, who, text string, checked bool) error {
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

// itemFacts are the items of a body, each as its box shows it.
func itemFacts(body string) string {
	var out []string
	for _, item := range mapping.Items(body) {
		box := "[ ] "
		if item.Checked {
			box = "[x] "
		}
		out = append(out, box+item.Text)
	}
	return strings.Join(out, ", ")
}

// listFacts are the tasks of a card without its tracking task.
func listFacts(tasks []planningtest.TaskState) string {
	var out []string
	for _, t := range tasks {
		if !strings.HasPrefix(t.Title, "GitHub acme/") {
			out = append(out, t.State+" "+t.Title)
		}
	}
	return strings.Join(out, ", ")
}

// planningTask is what people do with the tasks of a card, which go by their
// titles.
func (s *scene) planningTask(verb, card string, l *line) error {
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
			_, mark := parts(e.Summary)
			e.Summary = text + mark
		}
		e.Estimate = l.hours(e.Estimate)
	})
	return nil
}
