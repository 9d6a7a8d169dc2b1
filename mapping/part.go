package mapping

import (
	"slices"
	"time"
)

// Family is what is remembered of an issue's sub-issues and a card's tasks.
type Family struct {
	// Tasks is the route's tasks setting under which the link's tasks are
	// kept; "" where nobody has looked yet which of them are older than that.
	Tasks string `json:"tasks,omitempty"`
	// Old are the tasks that were on the card before: like a card that was
	// there before its route began, they stay what they are.
	Old []ObjectID `json:"old,omitempty"`
	// Forgotten are the tasks of lines that were removed so long ago that nothing else is
	// kept of them (see [MaxRemovedLines]), those of the oldest first.
	Forgotten []ObjectID `json:"forgotten,omitempty"`
	// Listed: the issue's sub-issues were listed once, so that none that was
	// there before is missed.
	Listed bool `json:"listed,omitempty"`
	// Lines are, for the bodies that are still needed, the checklist lines that
	// stand for tasks; none: all lines do. They are kept from the moment when the
	// card had as many tasks as it may have. See [Link.TaskLines].
	Lines []Lines `json:"lines,omitempty"`
	// Full: an operator was told that the card has as many tasks as it may have.
	Full bool `json:"full,omitempty"`
	// Join: the part's issue was made by the bridge and is still to be added
	// to its parent.
	Join bool `json:"join,omitempty"`
	// Parent is the database id of the parent that GitHub last told of, 0 where
	// it told of none yet, NoParentID where it said that there is none any more.
	Parent int64 `json:"parent,omitempty"`
}

// NoParentID is the Family.Parent of an issue that was taken out of its parent.
const NoParentID = -1

// Staying are the tasks of the card that stay what they are: they were there before, or
// their lines were removed.
func (f *Family) Staying() map[ObjectID]bool {
	staying := make(map[ObjectID]bool, len(f.Old)+len(f.Forgotten))
	for _, tasks := range [][]ObjectID{f.Old, f.Forgotten} {
		for _, task := range tasks {
			staying[task] = true
		}
	}
	return staying
}

// Forget notes tasks whose lines were removed, the latest first. Beyond
// [MaxForgottenTasks] the oldest give way.
func (f *Family) Forget(tasks []ObjectID) {
	all := slices.Clone(f.Forgotten)
	for _, task := range slices.Backward(tasks) {
		all = append(all, task)
	}
	f.Forgotten = all[max(0, len(all)-MaxForgottenTasks):]
}

// Recall takes a forgotten task back: a line stands for it again.
func (f *Family) Recall(task ObjectID) {
	f.Forgotten = slices.DeleteFunc(slices.Clone(f.Forgotten), func(id ObjectID) bool { return id == task })
}

// Parent names an issue that has another one as a sub-issue.
type Parent struct {
	ID   int64  `json:"id"` // NoParentID: there is none
	Name string `json:"name"`
}

// Partner names what the issue's partner is in planning: a card, or, of a
// part, a task.
func (l *Link) Partner() Ref {
	if l.Task {
		return TaskRef(l.Card.ID)
	}
	return CardRef(l.Card.ID)
}

// Part returns the part that an item belongs to, by the [Ref] of its issue or
// its task, or nil.
func (l *Link) Part(ref Ref) *Link {
	for _, p := range l.Parts {
		if p.Issue.ID != 0 && IssueRef(p.Issue.ID) == ref || p.Card.ID != "" && p.Partner() == ref {
			return p
		}
	}
	return nil
}

// NewPart makes a part of a root link under a fresh nonce (see [NonceIn]); at is now. Its
// partner is to be made on the side other than origin.
func (l *Link) NewPart(origin Side, nonce string, at time.Time) *Link {
	p := l.part(EventWanted, origin, nonce, at)
	p.Intent = &Intent{Side: origin.Other(), Nonce: p.Nonce, At: at}
	return p
}

// FoundPart makes a part of a root link both of whose items exist; at is now. The
// bridge made the one that carries the nonce.
func (l *Link) FoundPart(origin Side, nonce string, at time.Time) *Link {
	return l.part(EventFound, origin, nonce, at)
}

func (l *Link) part(e PairEvent, origin Side, nonce string, at time.Time) *Link {
	return &Link{
		ID: l.ID, Project: l.Project, Route: l.Route, State: born(e), Origin: origin, Nonce: nonce, Task: true, Created: at,
	}
}
