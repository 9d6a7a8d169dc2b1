package githubtest

import (
	"slices"
	"time"
)

// Value is one value that an attribute of an issue held. State values are
// open and closed/REASON; labels are joined by commas, in order of attaching.
type Value struct {
	Value string
	User  string // its author
	Time  time.Time
	ByAPI bool  // through the API, not in the web interface
	Order int64 // rises with every value, whichever attribute it is of
}

// IssueState is the present state of an issue or pull request.
type IssueState struct {
	ID          int64
	NodeID      string
	Repo        string // owner/name
	Number      int    // 0: there is no such issue (any more)
	Title, Body string
	State       string // open or closed
	StateReason string
	Labels      []string
	Assignees   []string
	Milestone   int // number; 0: none
	Author      string
	Comments    []CommentState
	Parent      int   // number; 0: none
	SubIssues   []int // numbers, in order
	Locked      bool
	PullRequest bool
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// CommentState is one comment.
type CommentState struct {
	ID                   int64
	Author, Body         string
	CreatedAt, UpdatedAt time.Time
}

// LabelState is one label of a repository.
type LabelState struct{ Name, Color, Description string }

// MilestoneState is one milestone of a repository.
type MilestoneState struct {
	Number                    int
	Title, Description, State string
	DueOn                     time.Time // zero: none
}

// ID is the repository's database id.
func (r *Repo) ID() int64 { return r.id }

// Name is the repository's present owner/name.
func (r *Repo) Name() string {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.fullName()
}

// Issue is the issue or pull request with that number; its Number is 0 where
// there is none, or it was deleted or transferred.
func (r *Repo) Issue(n int) IssueState {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if i := r.open(n); i != nil {
		return i.snapshot()
	}
	return IssueState{}
}

// Issues are all issues and pull requests by number.
func (r *Repo) Issues() []IssueState {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	var out []IssueState
	for _, i := range r.all() {
		out = append(out, i.snapshot())
	}
	return out
}

func (i *issue) snapshot() IssueState {
	st := IssueState{
		ID: i.id, NodeID: nodeID("I", i.id), Repo: i.repo.fullName(), Number: i.number,
		Title: i.title, Body: i.body, State: i.state, StateReason: i.reason, Labels: i.labelNames(),
		Assignees: slices.Clone(i.assignees), Author: i.author, Locked: i.locked, PullRequest: i.pull,
		CreatedAt: i.created, UpdatedAt: i.updated,
	}
	if i.milestone != nil {
		st.Milestone = i.milestone.number
	}
	if i.parent != nil {
		st.Parent = i.parent.number
	}
	for _, c := range i.subs {
		st.SubIssues = append(st.SubIssues, c.number)
	}
	for _, c := range i.comments {
		st.Comments = append(st.Comments, CommentState{c.id, c.author, c.body, c.created, c.updated})
	}
	return st
}

// Labels are the repository's labels, oldest first.
func (r *Repo) Labels() []LabelState {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	var out []LabelState
	for _, l := range r.labels {
		out = append(out, LabelState{l.name, l.color, l.description})
	}
	return out
}

// Milestones are the repository's milestones by number.
func (r *Repo) Milestones() []MilestoneState {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	var out []MilestoneState
	for _, m := range r.milestones {
		st := MilestoneState{Number: m.number, Title: m.title, Description: m.description, State: m.state}
		if m.due != nil {
			st.DueOn = *m.due
		}
		out = append(out, st)
	}
	return out
}

// History is every value that an attribute (title, body, state or labels) of an issue ever had,
// oldest first. Deleted and transferred issues have it too.
func (r *Repo) History(n int, attribute string) []Value {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if i := r.issues[n]; i != nil {
		return slices.Clone(i.history[attribute])
	}
	return nil
}
