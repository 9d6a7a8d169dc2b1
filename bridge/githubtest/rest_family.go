package githubtest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

func (c *call) wireEvent(e *event) fields { return c.s.wireEvent(c.issue, e) }

// listEvents leaves out the entries that only the timeline has.
func listEvents(c *call) reply {
	list := slices.DeleteFunc(slices.Clone(c.issue.events), func(e *event) bool {
		return strings.Contains(e.kind, "sub_issue") || strings.Contains(e.kind, "parent_issue")
	})
	return paged(c, list, c.wireEvent)
}

// listTimeline answers events and comments in order of time.
func listTimeline(c *call) reply {
	entries := wireAll(c.issue.events, c.wireEvent)
	for _, m := range c.issue.comments {
		e := maps.Clone(c.s.wireComment(c.issue, m))
		e["event"], e["actor"] = "commented", e["user"]
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b fields) int {
		return strings.Compare(a["created_at"].(string), b["created_at"].(string))
	})
	return paged(c, entries, func(e fields) fields { return e })
}

// noFamily answers 404 where this GitHub knows no sub-issues.
func (c *call) noFamily() bool { return c.s.traits.NoSubIssues }

func listSubIssues(c *call) reply {
	if c.noFamily() {
		return notFound
	}
	return paged(c, c.issue.subs, c.wireIssue)
}

func getParent(c *call) reply {
	if c.noFamily() || c.issue.parent == nil {
		return notFound
	}
	return ok(c.wireIssue(c.issue.parent))
}

// child reads sub_issue_id, which is a database id, and finds the issue.
func (c *call) child() (i *issue, replace bool, refused *reply) {
	var q struct {
		ID      int64 `json:"sub_issue_id"`
		Replace bool  `json:"replace_parent"`
	}
	if bad := c.decode(&q); bad != nil {
		return nil, false, bad
	}
	for _, r := range c.s.repos {
		for _, i := range r.all() {
			if i.id == q.ID && c.s.canRead(c.who, r) {
				return i, q.Replace, nil
			}
		}
	}
	return nil, false, &notFound
}

// depth is how many levels hang below i, itself included.
func (i *issue) depth() int {
	deepest := 0
	for _, c := range i.subs {
		deepest = max(deepest, c.depth())
	}
	return deepest + 1
}

// level is how deep i hangs: 1 without a parent.
func (i *issue) level() int {
	n := 1
	for p := i.parent; p != nil; p = p.parent {
		n++
	}
	return n
}

func addSubIssue(c *call) reply {
	if c.noFamily() {
		return notFound
	}
	if no := c.mayLabel(); no != nil {
		return *no
	}
	child, replace, bad := c.child()
	if bad != nil {
		return *bad
	}
	if words := c.issue.refuseChild(child, replace); words != "" {
		return fail(http.StatusUnprocessableEntity, "An error occurred while adding the sub-issue to the parent issue. "+words)
	}
	c.issue.link(c.by(), child)
	return created(c.wireIssue(c.issue))
}

// refuseChild says why child cannot become a sub-issue, "" where it can.
func (i *issue) refuseChild(child *issue, replace bool) string {
	for p := i; p != nil; p = p.parent {
		if p == child {
			return "Sub issue may not create a circular dependency"
		}
	}
	switch {
	case child.parent == i:
		return "Issue may not contain duplicate sub-issues"
	case child.parent != nil && !replace:
		return "Sub issue may only have one parent"
	case len(i.subs) >= maxChildren:
		return "Parent cannot have more than 100 sub-issues"
	case i.level()+child.depth() > maxLevels:
		return "Sub issue exceeds the maximum depth of 8 levels"
	}
	return ""
}

func removeSubIssue(c *call) reply {
	if c.noFamily() {
		return notFound
	}
	if no := c.mayLabel(); no != nil {
		return *no
	}
	child, _, bad := c.child()
	if bad != nil {
		return *bad
	}
	if child.parent != c.issue {
		return notFound
	}
	c.issue.unlink(c.by(), child)
	return ok(c.wireIssue(c.issue))
}
