package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// The world's families: sub-issues on GitHub, tasks beside the tracking task in
// planning.

func (h *hub) Parent(_ context.Context, _ string, number int) (*mapping.Issue, error) {
	i, err := h.at(number)
	if err != nil || i.parent == nil {
		return nil, err
	}
	parent := i.parent.snapshot("")
	return &parent, nil
}

func (h *hub) SubIssues(_ context.Context, _ string, number int) ([]mapping.Issue, error) {
	i, err := h.at(number)
	if err != nil {
		return nil, err
	}
	var out []mapping.Issue
	for _, s := range i.subs {
		out = append(out, s.snapshot(""))
	}
	return out, nil
}

func (h *hub) AddSubIssue(_ context.Context, _ string, number int, sub int64) error {
	i, err := h.at(number)
	if err != nil {
		return err
	}
	for _, s := range h.issues {
		switch {
		case s.ID != sub:
		case s.parent == i:
			return &mapping.Rejection{Status: 422, Message: "Issue may not contain duplicate sub-issues"}
		case s.parent != nil:
			return &mapping.Rejection{Status: 422, Message: "Sub issue may only have one parent"}
		case len(i.subs) >= 100:
			return &mapping.Rejection{Status: 422, Message: "Parent cannot have more than 100 sub-issues"}
		default:
			h.writes++
			h.adopt(i, s)
			return nil
		}
	}
	return fmt.Errorf("sub-issue %d: %w", sub, mapping.ErrNotFound)
}

// adopt makes an issue a sub-issue, whoever does it, and tells of it.
func (h *hub) adopt(parent, child *ghIssue) {
	child.parent = parent
	parent.subs = append(parent.subs, child)
	for range 2 { // one event in each repository
		h.deliveries++
		lag := 500 * time.Millisecond
		if h.lag != nil {
			lag = h.lag(h.deliveries)
		}
		if lag < 0 {
			continue
		}
		issue, ref := child.snapshot(""), mapping.IssueRef(child.ID)
		obs := store.Observation{
			Delivery: fmt.Sprint("d", h.deliveries), Refs: []mapping.Ref{ref, mapping.IssueRef(parent.ID)}, Item: ref,
			At: issue.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&issue), Data: encode(issue),
			Event: encode(mapping.IssueEvent{Item: ref, Parent: &mapping.Parent{ID: parent.ID, Name: fmt.Sprintf("%s#%d", repo, parent.Number)}}),
		}
		h.w.after(lag, func() { h.w.observe(obs, nil) })
	}
}

func (h *faultyHub) Parent(ctx context.Context, repo string, number int) (*mapping.Issue, error) {
	return call(h.f, "read", "Parent", func() (*mapping.Issue, error) { return h.hub.Parent(ctx, repo, number) })
}

func (h *faultyHub) SubIssues(ctx context.Context, repo string, number int) ([]mapping.Issue, error) {
	return call(h.f, "read", "SubIssues", func() ([]mapping.Issue, error) { return h.hub.SubIssues(ctx, repo, number) })
}

func (h *faultyHub) AddSubIssue(ctx context.Context, repo string, number int, sub int64) error {
	return act(h.f, "write", "AddSubIssue", func() error { return h.hub.AddSubIssue(ctx, repo, number, sub) })
}

// pollTasks shows every task that differs from what was shown, to its link or
// else to that of its card.
func (w *world) pollTasks() (news bool) {
	if !w.route.HasTasks() {
		return false
	}
	for _, t := range w.plan.tasks {
		ref, digest := mapping.TaskRef(t.ID), mapping.DigestTask(t)
		if w.polled[ref] == digest {
			continue
		}
		w.polled[ref], news = digest, true
		w.observe(store.Observation{
			Refs: []mapping.Ref{ref, mapping.CardRef(t.Owner)}, Item: ref, At: t.Version, Digest: digest, Data: encode(t),
		}, nil)
	}
	return news
}

// openSub is a person who opens an issue below the nth one.
func (w *world) openSub(n int, title, body string, labels ...string) *ghIssue {
	i := w.hub.open(dev, reconcile.NewIssue{Title: title, Body: body, Labels: labels})
	w.hub.adopt(w.hub.issues[n], i)
	return i
}

// addTask is a person who adds a task to the first card.
func (w *world) addTask(title, hours string) *mapping.Task {
	made, err := w.plan.CreateTask(context.Background(), w.card().ID, "alice", reconcile.NewItem{Title: title, Estimate: hours})
	w.check(err)
	t, err := w.plan.task(made.ID)
	w.check(err)
	w.plan.writes--
	return t
}

// editTask is a person who edits a task.
func (w *world) editTask(t *mapping.Task, edit func(*mapping.Task)) {
	was := *t
	edit(t)
	for to, from := range map[*mapping.Versioned]mapping.Versioned{&t.Title: was.Title, &t.Summary: was.Summary, &t.Estimate: was.Estimate, &t.State: was.State} {
		if to.Value != from.Value {
			to.Version++
		}
	}
	t.Version++
	if t.State.Value != was.State.Value {
		c, err := w.plan.card(t.Owner)
		w.check(err)
		c.CountersVersion++
		c.Version++
	}
}

// taskOf is the task with a title, issueOf the issue with one; nil: none, or
// several.
func (w *world) taskOf(title string) *mapping.Task {
	return only(w.plan.tasks, func(t *mapping.Task) bool { return t.Title.Value == title })
}

func (w *world) issueOf(title string) *ghIssue {
	return only(w.hub.issues, func(i *ghIssue) bool { return i.Title == title })
}

func only[T any](all []*T, is func(*T) bool) *T {
	found := slices.DeleteFunc(slices.Clone(all), func(x *T) bool { return !is(x) })
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// member is a sub-issue with its task, as both have to be in the end.
type member struct {
	title, body, hours, state string
	orphan                    bool // the issue has no parent
}

// verifyFamily checks that there are exactly these sub-issues of the first issue. The first card
// has exactly these tasks beside the tracking task, in agreement, and nothing is left to do.
func (w *world) verifyFamily(cards int, members ...member) {
	if len(w.errs) > 0 {
		return
	}
	if len(w.hub.issues) != cards+len(members) || len(w.plan.cards) != cards || len(w.plan.tasks) != cards+len(members) {
		w.fail("%d issues, %d cards, %d tasks; want %d, %d and %d", len(w.hub.issues), len(w.plan.cards), len(w.plan.tasks),
			cards+len(members), cards, cards+len(members))
		return
	}
	hours := scheme
	hours.Estimate = hours.Hours
	for _, m := range members {
		i, t := w.issueOf(m.title), w.taskOf(m.title)
		if i == nil || t == nil {
			w.fail("no one sub-issue or task %q", m.title)
			continue
		}
		if !m.orphan && i.parent != w.hub.issues[0] {
			w.fail("%q has another parent", m.title)
		}
		g, extra := mapping.IssueView(&i.Issue, hours, keys, nil)
		p := mapping.TaskItemView(t, keys)
		want := values{mapping.Title: m.title, mapping.Summary: m.body, mapping.Estimate: m.hours, mapping.State: m.state}
		for _, a := range mapping.Attributes {
			if !mapping.Equal(a, g[a].Value, p[a].Value) || !mapping.Same(a, want[a], g[a].Value) {
				w.fail("%s of %q: GitHub %q, planning %q, want %q", a, m.title, g[a].Value, p[a].Value, want[a])
			}
		}
		if len(extra) > 0 {
			w.fail("hours of %q: %v", m.title, i.Labels)
		}
		w.verifyMarked(i, t)
	}
	w.verifyFamilyRest(cards, len(members))
}

// verifyMarked checks that exactly one of two partners says so.
func (w *world) verifyMarked(i *ghIssue, t *mapping.Task) {
	_, marks := keys.Body(i.Body + "\n\n" + t.Summary.Value)
	if len(marks) != 1 || marks[0].Kind == mapping.MarkSubIssue && marks[0].Partner != string(t.ID) ||
		marks[0].Kind == mapping.MarkTask && marks[0].Partner != fmt.Sprint(i.ID) {
		w.fail("markers of %q: %+v", i.Title, marks)
	}
}

func (w *world) verifyFamilyRest(cards, parts int) {
	ctx := context.Background()
	failures, err := w.store.Failures(ctx, project, 10)
	w.check(err)
	for _, f := range failures {
		w.fail("parked: %s", f.Reason)
	}
	links := w.links()
	if len(links) != cards {
		w.fail("%d links, want %d", len(links), cards)
		return
	}
	for _, l := range links {
		for _, p := range l.Issues() {
			if len(p.Pending) > 0 || p.Intent != nil || p.Unfinished {
				w.fail("left over in %s: pending %+v, intent %+v, unfinished %v", p.Issue.Repo, p.Pending, p.Intent, p.Unfinished)
			}
		}
		parts -= len(l.SubLinks)
	}
	if parts != 0 {
		w.fail("%d parts are missing", parts)
	}
	hub, plan := w.hub.writes, w.plan.writes
	for _, l := range links {
		w.look(l, true)
	}
	w.settle()
	if w.hub.writes != hub || w.plan.writes != plan {
		w.fail("looking again wrote %d times to GitHub, %d times to planning", w.hub.writes-hub, w.plan.writes-plan)
	}
}

// links are all links of the project.
func (w *world) links() []*mapping.Link {
	links, _, err := w.store.List(context.Background(), project, "", 10)
	w.check(err)
	return links
}

// says reports whether a link's history has a line with these words.
func (w *world) says(words string) bool {
	for _, l := range w.links() {
		lines, err := w.store.History(context.Background(), store.Key{Project: project, Link: l.ID}, 1000)
		w.check(err)
		for _, e := range lines {
			if strings.Contains(e.What+" "+e.Why, words) {
				return true
			}
		}
	}
	return false
}
