package mapping

import "slices"

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
	// Listed: the sub-issues were listed once, so that none that was
	// there before is missed.
	Listed bool `json:"listed,omitempty"`
	// Lines are, for the bodies that are still needed, the checklist lines that
	// stand for tasks; none: all lines do. They are kept from the moment when the
	// card had as many tasks as it may have. See [Link.TaskLines].
	Lines []Lines `json:"lines,omitempty"`
	// Full: an operator was told that the card has as many tasks as it may have.
	Full bool `json:"full,omitempty"`
}

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
