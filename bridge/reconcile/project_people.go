package reconcile

import (
	"fmt"
	"slices"
	"strings"
)

// showAssignees assigns the issue to the people who work on the card's tasks in its sprint, as
// far as the user table has them. Other assignees stay; only those that the bridge added are
// removed again. GitHub silently leaves out accounts that cannot be assigned, and they are not
// tried twice.
func (w assigneeProjector) showAssignees() error {
	s := w.link.Shown
	want := w.logins()
	surplus := slices.ContainsFunc(s.Assignees, func(login string) bool { return !containsFold(want, login) })
	if len(want)+len(s.Assigned) == 0 && !surplus || w.issue == nil && slices.Equal(want, s.Assigned) && !surplus {
		return nil
	}
	if !slices.Equal(want, s.Assigned) {
		s.Dropped = slices.DeleteFunc(s.Dropped, func(d string) bool { return !isMilestone(d) }) // somebody has changed them: once more
	}
	s.Assigned = nil // it is not handled until the write succeeds
	var add, remove []string
	err := projector(w).bring(func() bool {
		add, remove = w.assigneesToShow(want)
		return len(add)+len(remove) > 0 || w.issue == nil
	}, func() error { return w.assign(add, remove) })
	if err == nil {
		s.Assigned = want
	}
	return err
}

// assigneesToShow compares the issue's assignees with the wanted ones.
func (w assigneeProjector) assigneesToShow(want []string) (add, remove []string) {
	s := w.link.Shown
	var have []string
	if w.issue != nil {
		have = w.issue.Assignees
	}
	for _, login := range want {
		if !containsFold(have, login) && !containsFold(s.Dropped, login) {
			add = append(add, login)
		}
	}
	for _, login := range s.Assignees {
		if !containsFold(want, login) && containsFold(have, login) {
			remove = append(remove, login)
		}
	}
	s.Assignees = slices.DeleteFunc(s.Assignees, func(login string) bool { return w.issue != nil && !containsFold(have, login) })
	return add, remove
}

func (w assigneeProjector) assign(add, remove []string) error {
	s := w.link.Shown
	s.Assignees = append(s.Assignees, add...) // should the answer be lost, they are known to be ours
	if err := saver(w).writing(); err != nil {
		return err
	}
	repo, number := w.owner.Issue.Repo, w.owner.Issue.Number
	if len(add) > 0 {
		issue, err := do(w, Assign{repo, number, add})
		if err != nil {
			return onGitHub(fmt.Errorf("assign %q: %w", add, err))
		}
		reader(w).issueIs(&issue)
		for _, login := range add {
			if !containsFold(issue.Assignees, login) {
				s.Dropped = append(s.Dropped, login)
			}
		}
	}
	if len(remove) > 0 {
		issue, err := do(w, Unassign{repo, number, remove})
		if err != nil {
			return onGitHub(fmt.Errorf("unassign %q: %w", remove, err))
		}
		reader(w).issueIs(&issue)
	}
	s.Assignees = slices.DeleteFunc(s.Assignees, func(login string) bool { return !containsFold(w.issue.Assignees, login) })
	projector(w).noteShown("assignees", changedNames(add, remove))
	return nil
}

// logins are the GitHub logins of the people who work on the card in its sprint, sorted, by
// the user table read backwards. Where a person has several logins, the first one counts.
func (w assigneeProjector) logins() []string {
	s := w.link.Shown
	if s.Sprint == "" || len(w.set.Users) == 0 {
		return nil
	}
	var out []string
	for _, user := range s.Users {
		best := ""
		for login, username := range w.set.Users {
			if username == user && (best == "" || login < best) && !w.Stranger(login) {
				best = login
			}
		}
		if best != "" && !slices.Contains(out, best) {
			out = append(out, best)
		}
	}
	slices.Sort(out)
	return out
}

// isMilestone recognises milestones in the list of names that GitHub dropped.
func isMilestone(dropped string) bool { return strings.HasPrefix(dropped, "#") }
