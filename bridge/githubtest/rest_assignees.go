package githubtest

import (
	"slices"
	"strings"
)

type assigneesRequest struct {
	Assignees []string `json:"assignees"`
}

// addAssignees adds those who can be assigned and, as GitHub does, silently drops the others.
func addAssignees(c *call) reply {
	var q assigneesRequest
	if bad := c.decode(&q); bad != nil {
		return *bad
	}
	now := slices.Clone(c.issue.assignees)
	for _, login := range q.Assignees {
		if c.s.canPush(c.who, c.repo) && c.repo.assignable(login) && !slices.Contains(now, c.s.user(login).login) {
			now = append(now, c.s.user(login).login)
		}
	}
	c.issue.setAssignees(c.by(), now)
	return created(c.wireIssue(c.issue))
}

func removeAssignees(c *call) reply {
	var q assigneesRequest
	if bad := c.decode(&q); bad != nil {
		return *bad
	}
	if c.s.canPush(c.who, c.repo) {
		c.issue.setAssignees(c.by(), slices.DeleteFunc(slices.Clone(c.issue.assignees), func(have string) bool {
			return slices.ContainsFunc(q.Assignees, func(login string) bool { return strings.EqualFold(login, have) })
		}))
	}
	return ok(c.wireIssue(c.issue))
}

// assignable reports whether a person may be assigned in the repository.
func (r *Repo) assignable(login string) bool {
	return !slices.ContainsFunc(r.strangers, func(s string) bool { return strings.EqualFold(s, login) })
}

// Exclude makes people whom nobody can assign in this repository.
func (r *Repo) Exclude(logins ...string) {
	r.s.locked(func() { r.strangers = append(r.strangers, logins...) })
}
