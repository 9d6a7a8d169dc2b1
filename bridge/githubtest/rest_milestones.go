package githubtest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

func (c *call) wireMilestone(m *milestone) fields { return c.s.wireMilestone(c.repo, m) }

// listMilestones answers by due date, those without one last.
func listMilestones(c *call) reply {
	state := cmp.Or(c.query.Get("state"), "open")
	var list []*milestone
	for _, m := range c.repo.milestones {
		if state == "all" || state == m.state {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *milestone) int {
		if (a.due == nil) != (b.due == nil) {
			return cmp.Compare(b2i(a.due == nil), b2i(b.due == nil))
		}
		if a.due == nil {
			return 0
		}
		return a.due.Compare(*b.due)
	})
	if c.query.Get("direction") == "desc" {
		slices.Reverse(list)
	}
	return paged(c, list, c.wireMilestone)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

type milestoneRequest struct {
	Title       *string         `json:"title"`
	Description *string         `json:"description"`
	State       *string         `json:"state"`
	Due         json.RawMessage `json:"due_on"` // null clears
}

// refuse says why the milestone m (nil: a new one) cannot be made so.
func (q milestoneRequest) refuse(r *Repo, m *milestone) *reply {
	out := reply{}
	switch {
	case m == nil && q.Title == nil, q.Title != nil && *q.Title == "":
		out = invalid("Milestone", "title", "missing_field", "")
	case q.Title != nil && slices.ContainsFunc(r.milestones, func(o *milestone) bool { return o != m && o.title == *q.Title }):
		out = invalid("Milestone", "title", "already_exists", "")
	case q.State != nil && *q.State != "open" && *q.State != "closed":
		out = invalid("Milestone", "state", "invalid", "")
	default:
		if _, err := q.due(); err == nil {
			return nil
		}
		out = invalid("Milestone", "due_on", "invalid", "")
	}
	return &out
}

// due is the due date as GitHub keeps it: a day of Pacific time.
func (q milestoneRequest) due() (*time.Time, error) {
	if q.Due == nil || string(q.Due) == "null" {
		return nil, nil
	}
	var t time.Time
	if err := json.Unmarshal(q.Due, &t); err != nil {
		return nil, err
	}
	t = floorPacific(t)
	return &t, nil
}

// fill changes the milestone and returns the action for webhooks.
func (q milestoneRequest) fill(m *milestone, now time.Time) (action string, changes fields) {
	action, changes = "edited", fields{}
	if q.Title != nil && *q.Title != m.title {
		changes["title"] = fields{"from": m.title}
		m.title = *q.Title
	}
	if q.Description != nil && *q.Description != m.description {
		changes["description"] = fields{"from": m.description}
		m.description = *q.Description
	}
	if q.Due != nil {
		changes["due_on"] = fields{"from": stampOrNull(m.due)}
		m.due, _ = q.due()
	}
	m.updated = now
	if q.State != nil && *q.State != m.state {
		m.state, action, m.closed = *q.State, "opened", nil
		if m.state == "closed" {
			action, m.closed = "closed", &m.updated
		}
	}
	return action, changes
}

func (r *Repo) addMilestone(by actor, q milestoneRequest) *milestone {
	r.lastStone++
	m := &milestone{id: r.s.nextID(), number: r.lastStone, state: "open", creator: by.login, created: r.s.now()}
	r.milestones = append(r.milestones, m)
	q.fill(m, r.s.now())
	r.send("milestone", "created", by, fields{"milestone": r.s.wireMilestone(r, m)})
	return m
}

func createMilestone(c *call) reply {
	var q milestoneRequest
	if bad := c.decode(&q); bad != nil {
		return *bad
	}
	if no := c.mayLabel(); no != nil {
		return *no
	}
	if bad := q.refuse(c.repo, nil); bad != nil {
		return *bad
	}
	m := c.repo.addMilestone(c.by(), q)
	return created(c.wireMilestone(m))
}

// milestone finds the milestone that the path names.
func (c *call) milestone() *milestone {
	number, _ := strconv.Atoi(c.params["milestone"])
	return c.repo.milestone(number)
}

func getMilestone(c *call) reply {
	if m := c.milestone(); m != nil {
		return ok(c.wireMilestone(m))
	}
	return notFound
}

func patchMilestone(c *call) reply {
	m := c.milestone()
	if m == nil {
		return notFound
	}
	var q milestoneRequest
	if bad := c.decode(&q); bad != nil {
		return *bad
	}
	if no := c.mayLabel(); no != nil {
		return *no
	}
	if bad := q.refuse(c.repo, m); bad != nil {
		return *bad
	}
	action, changes := q.fill(m, c.s.now())
	c.repo.send("milestone", action, c.by(), fields{"milestone": c.wireMilestone(m), "changes": changes})
	return ok(c.wireMilestone(m))
}

func deleteMilestone(c *call) reply {
	m := c.milestone()
	if m == nil {
		return notFound
	}
	if no := c.mayLabel(); no != nil {
		return *no
	}
	for _, i := range c.repo.all() {
		if i.milestone == m {
			i.setMilestone(c.by(), nil)
		}
	}
	c.repo.milestones = slices.DeleteFunc(c.repo.milestones, func(o *milestone) bool { return o == m })
	c.repo.send("milestone", "deleted", c.by(), fields{"milestone": c.wireMilestone(m)})
	return noContent()
}
