package scenariotest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
)

// planningShows has people's acts in planning that GitHub only shows:
//
//	new-sprint TITLE [summary=] [start=] [end=]      start and end are moments, or durations from now
//	edit-sprint SPRINT [title=] [summary=] [start=] [end=]
//	into CARD SPRINT                                 0: out of its sprint
//	review CARD [VERDICT]                            none takes it back
//	assign|unassign CARD WHO…                        on the card's first task
//	rename-bucket FROM TO
//
// Sprints go by the order in which they were made.
func (s *Scene) planningShows(verb string, l *line) (known bool, err error) {
	switch verb {
	case "new-sprint":
		now := time.Now()
		spec := planningtest.SprintSpec{Title: l.next(), Start: now.Add(-24 * time.Hour), End: now.Add(144 * time.Hour)}
		l.fillSprint(&spec)
		s.sprints = append(s.sprints, s.Project.NewSprint(spec))
	case "edit-sprint":
		s.Project.EditSprint(s.sprints[l.number()-1], l.fillSprint)
	case "into":
		card, sprint := s.card(l.number()), ""
		if n := l.number(); n > 0 {
			sprint = s.sprints[n-1]
		}
		s.Project.MoveToSprint(card, sprint)
	case "review":
		s.Project.Review(s.card(l.number()), l.next())
	case "assign":
		s.Project.Assign(s.task(l.number()), l.words...)
	case "unassign":
		task := s.task(l.number())
		for _, who := range l.words {
			s.Project.Unassign(task, who)
		}
	case "rename-bucket":
		s.Project.RenameBucket(l.next(), l.next())
	default:
		return false, nil
	}
	return true, nil
}

func (l *line) fillSprint(e *planningtest.SprintSpec) {
	l.set("title", &e.Title)
	l.set("summary", &e.Summary)
	for name, to := range map[string]*time.Time{"start": &e.Start, "end": &e.End} {
		text, ok := l.get(name)
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			*to = at
		} else if ok {
			*to = time.Now().Add(l.duration(name))
		}
	}
}

// githubShows has people's acts on GitHub on planning's projections:
//
//	new-milestone WHO TITLE        set-milestone N WHO MILESTONE (0: none)
//	delete-milestone MILESTONE     assign N WHO LOGIN… (none: nobody)
//	exclude LOGIN…: nobody can assign them
func (s *Scene) githubShows(verb string, l *line) (known bool) {
	switch verb {
	case "new-milestone":
		s.Repo.NewMilestone(l.next(), l.next())
	case "set-milestone":
		s.Repo.SetMilestone(l.number(), l.next(), l.number())
	case "delete-milestone":
		s.Repo.DeleteMilestone(l.number())
	case "assign":
		s.Repo.Assign(l.number(), l.next(), l.words...)
	case "exclude":
		s.Repo.Exclude(l.words...)
	default:
		return false
	}
	return true
}

func (s *Scene) milestoneFacts(n int) facts {
	for _, m := range s.Repo.Milestones() {
		if m.Number == n {
			text, _ := bridgetest.SplitMarker(m.Description)
			f := facts{"there": "yes", "title": m.Title, "text": text, "state": m.State, "due": ""}
			if !m.DueOn.IsZero() {
				f["due"] = m.DueOn.Format(time.DateOnly)
			}
			return f
		}
	}
	return facts{"there": "no"}
}

// colors are the repository's labels that somebody gave a description, with
// their colours.
func (s *Scene) colors() string {
	var out []string
	for _, l := range s.Repo.Labels() {
		if l.Description != "" {
			out = append(out, fmt.Sprintf("%s=%s", l.Name, l.Color))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}
