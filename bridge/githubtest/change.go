package githubtest

import (
	"slices"
	"strings"
	"time"
)

// actor is the author of a change: a person, or a token through the API.
type actor struct {
	login string
	api   bool
}

// newIssue has the checked values of a new issue.
type newIssue struct {
	title, body string
	labels      []string
	assignees   []string
	milestone   *milestone
	pull        bool
}

// create makes an issue or pull request and sends GitHub's events: opened, then one for each label,
// assignee and the milestone.
func (r *Repo) create(by actor, n newIssue) *issue {
	s := r.s
	r.last++
	i := &issue{
		repo: r, id: s.nextID(), number: r.last, author: by.login, created: s.now(),
		born: s.age(), pull: n.pull, history: map[string][]Value{},
	}
	s.user(by.login)
	i.facts = facts{title: n.title, body: n.body, state: "open", updated: i.created, milestone: n.milestone}
	for _, name := range n.labels {
		if l := r.ensureLabel(name); !i.has(l) {
			i.labels = append(i.labels, l)
		}
	}
	for _, login := range n.assignees {
		i.assignees = append(i.assignees, s.user(login).login)
	}
	r.issues[i.number] = i
	i.remember("title", i.title, by)
	i.remember("body", i.body, by)
	i.remember("state", "open", by)
	i.remember("labels", strings.Join(i.labelNames(), ","), by)
	i.announceOpened(by, nil)
	for _, l := range i.labels {
		i.happened("labeled", by).label = l
		i.send("labeled", by, fields{"label": s.wireLabel(r, l)})
	}
	for _, login := range i.assignees {
		i.happened("assigned", by).assignee = login
		i.send("assigned", by, fields{"assignee": s.wireUser(login)})
	}
	if m := n.milestone; m != nil {
		i.happened("milestoned", by).milestone = m.title
		i.send("milestoned", by, fields{"milestone": s.wireMilestone(r, m)})
	}
	return i
}

// announceOpened sends opened, which does not always have the labels.
func (i *issue) announceOpened(by actor, extra fields) {
	labels := i.labels
	if i.repo.s.traits.OpenedBare {
		i.labels = nil
	}
	i.send("opened", by, extra)
	i.labels = labels
}

// setTexts changes title and body where they are given and differ.
func (i *issue) setTexts(by actor, title, body *string) {
	changes := fields{}
	if title != nil && *title != i.title {
		changes["title"] = fields{"from": i.title}
	}
	if body != nil && *body != i.body {
		changes["body"] = fields{"from": i.body}
	}
	if len(changes) == 0 {
		return
	}
	i.touch()
	if _, ok := changes["title"]; ok {
		e := i.happened("renamed", by)
		e.from, e.to = i.title, *title
		i.title = *title
		i.remember("title", *title, by)
	}
	if _, ok := changes["body"]; ok {
		i.body = *body
		i.remember("body", *body, by)
	}
	if i.repo.s.traits.SplitEdits && len(changes) == 2 {
		i.send("edited", by, fields{"changes": fields{"title": changes["title"]}})
		delete(changes, "title")
	}
	i.send("edited", by, fields{"changes": changes})
}

// setState closes or reopens. The reason counts only where the state changes.
func (i *issue) setState(by actor, state, reason string) {
	if state == i.state {
		return
	}
	i.touch()
	i.state = state
	action := "reopened"
	if state == "closed" {
		if reason == "" || reason == "reopened" {
			reason = "completed"
		}
		at := i.repo.s.now()
		i.closed, i.closedBy, action = &at, by.login, "closed"
		i.remember("state", "closed/"+reason, by)
	} else {
		reason = "reopened"
		i.closed, i.closedBy = nil, ""
		i.remember("state", "open", by)
	}
	i.reason = reason
	i.happened(action, by).reason = reason
	i.send(action, by, nil)
}

func (i *issue) addLabels(by actor, names ...string) {
	for _, name := range names {
		l := i.repo.ensureLabel(name)
		if i.has(l) {
			continue
		}
		i.touch()
		i.labels = append(slices.Clone(i.labels), l)
		i.happened("labeled", by).label = l
		i.remember("labels", strings.Join(i.labelNames(), ","), by)
		i.send("labeled", by, fields{"label": i.repo.s.wireLabel(i.repo, l)})
	}
}

// removeLabel takes a label off. The event names it, unless it was deleted.
func (i *issue) removeLabel(by actor, l *label, deleted bool) {
	at := slices.Index(i.labels, l)
	if at < 0 {
		return
	}
	i.touch()
	i.labels = slices.Delete(slices.Clone(i.labels), at, at+1)
	i.happened("unlabeled", by).label = l
	i.remember("labels", strings.Join(i.labelNames(), ","), by)
	var extra fields
	if !deleted {
		extra = fields{"label": i.repo.s.wireLabel(i.repo, l)}
	}
	i.send("unlabeled", by, extra)
}

// setLabels replaces the set, as labels in a PATCH does.
func (i *issue) setLabels(by actor, names []string) {
	for _, l := range slices.Clone(i.labels) {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, l.name) }) {
			i.removeLabel(by, l, false)
		}
	}
	i.addLabels(by, names...)
}

func (i *issue) setAssignees(by actor, logins []string) {
	s := i.repo.s
	old := i.assignees
	var now []string
	for _, login := range logins {
		now = append(now, s.user(login).login)
	}
	if slices.Equal(old, now) {
		return
	}
	i.touch()
	i.assignees = now
	changed := func(kind string, in, notIn []string) {
		for _, login := range in {
			if !slices.Contains(notIn, login) {
				i.happened(kind, by).assignee = login
				i.send(kind, by, fields{"assignee": s.wireUser(login)})
			}
		}
	}
	changed("unassigned", old, now)
	changed("assigned", now, old)
}

func (i *issue) setMilestone(by actor, m *milestone) {
	old := i.milestone
	if old == m {
		return
	}
	i.touch()
	i.milestone = m
	say := func(kind string, m *milestone) {
		if m != nil {
			i.happened(kind, by).milestone = m.title
			i.send(kind, by, fields{"milestone": i.repo.s.wireMilestone(i.repo, m)})
		}
	}
	say("demilestoned", old)
	say("milestoned", m)
}

func (i *issue) setLock(by actor, locked bool) {
	if i.locked == locked {
		return
	}
	i.touch()
	i.locked = locked
	action := "unlocked"
	if locked {
		action = "locked"
	}
	i.happened(action, by)
	i.send(action, by, nil)
}

func (i *issue) addComment(by actor, body string) *comment {
	s := i.repo.s
	s.user(by.login)
	i.touch()
	c := &comment{id: s.nextID(), author: by.login, body: body, created: s.now(), updated: s.now()}
	i.comments = append(i.comments, c)
	i.facts.comments++
	i.sendComment("created", by, c, nil)
	return c
}

func (i *issue) editComment(by actor, c *comment, body string) {
	if body == c.body {
		return
	}
	i.touch()
	from := c.body
	c.body, c.updated = body, i.repo.s.now()
	i.sendComment("edited", by, c, fields{"changes": fields{"body": fields{"from": from}}})
}

func (i *issue) deleteComment(by actor, c *comment) {
	i.touch()
	i.comments = slices.DeleteFunc(i.comments, func(o *comment) bool { return o == c })
	i.facts.comments--
	i.sendComment("deleted", by, c, nil)
}

// link makes child a sub-issue of i, taking it from another one.
func (i *issue) link(by actor, child *issue) {
	if child.parent != nil {
		child.parent.unlink(by, child)
	}
	child.parent = i
	i.subs = append(i.subs, child)
	i.happened("sub_issue_added", by).other = child
	child.happened("parent_issue_added", by).other = i
	sendRelation("added", by, i, child)
}

func (i *issue) unlink(by actor, child *issue) {
	child.parent = nil
	i.subs = slices.DeleteFunc(i.subs, func(o *issue) bool { return o == child })
	i.happened("sub_issue_removed", by).other = child
	child.happened("parent_issue_removed", by).other = i
	sendRelation("removed", by, i, child)
}

// remove deletes the issue: its number answers 410 from now on.
func (i *issue) remove(by actor) {
	i.leaveFamily()
	i.deleted = true
	i.send("deleted", by, nil)
}

func (i *issue) leaveFamily() {
	if p := i.parent; p != nil {
		p.subs = slices.DeleteFunc(p.subs, func(o *issue) bool { return o == i })
		i.parent = nil
	}
	for _, c := range i.subs {
		c.parent = nil
	}
	i.subs = nil
}

// transfer moves the issue to another repository, where it gets a new id, node id and number.
// Labels that the target knows by name go with it.
func (i *issue) transfer(by actor, to *Repo) *issue {
	s := to.s
	to.last++
	n := *i
	n.repo, n.id, n.number, n.born = to, s.nextID(), to.last, s.age()
	n.past, n.events, n.milestone, n.labels, n.stale = nil, slices.Clone(i.events), nil, nil, 0
	for _, l := range i.labels {
		if same := to.label(l.name); same != nil {
			n.labels = append(n.labels, same)
		}
	}
	n.history = map[string][]Value{}
	for k, v := range i.history {
		n.history[k] = slices.Clone(v)
	}
	n.updated = s.now()
	i.leaveFamily()
	n.parent, n.subs = nil, nil
	to.issues[n.number] = &n
	n.happened("transferred", by)
	i.send("transferred", by, fields{"changes": fields{
		"new_issue": s.wireIssue(&n, n.facts), "new_repository": s.wireRepo(to, identity{}),
	}})
	i.movedTo = &n
	n.announceOpened(by, fields{"changes": fields{
		"old_issue": s.wireIssue(i, i.facts), "old_repository": s.wireRepo(i.repo, identity{}),
	}})
	return &n
}

// floorPacific is GitHub's stored form of a milestone's due_on: the beginning of that day in
// Pacific time.
func floorPacific(t time.Time) time.Time {
	y, m, d := t.In(pacific).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, pacific).UTC()
}
