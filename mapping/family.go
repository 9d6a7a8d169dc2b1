package mapping

import "slices"

// Family is the state of an issue's sub-issues and a card's tasks as a whole.
type Family struct {
	// Tasks is the route's tasks setting under which the link's tasks are kept; "": the card's
	// older tasks have not been recorded yet.
	Tasks string `json:"tasks,omitempty"`
	// Old are the tasks that the card had before. Like cards from before the first run, they
	// stay plain tasks.
	Old []ObjectID `json:"old,omitempty"`
	// Forgotten are the tasks of lines that were removed so long ago that only the task's id
	// is kept (see [MaxRemovedLines]), the oldest first.
	Forgotten []ObjectID `json:"forgotten,omitempty"`
	// Listed: the sub-issues were listed once, so that none from before is missed.
	Listed bool `json:"listed,omitempty"`
	// Lines are the checklist lines that are tasks, for each body that is still needed; none: all
	// lines are. They are recorded once the card has had as many tasks as it may have. See
	// [Link.TaskLines].
	Lines []Lines `json:"lines,omitempty"`
	// Full: an operator was warned that the card has as many tasks as it may have.
	Full bool `json:"full,omitempty"`
}

// Staying are the tasks of the card that stay plain tasks: older ones, and those whose lines
// were removed.
func (f *Family) Staying() map[ObjectID]bool {
	staying := make(map[ObjectID]bool, len(f.Old)+len(f.Forgotten))
	for _, tasks := range [][]ObjectID{f.Old, f.Forgotten} {
		for _, task := range tasks {
			staying[task] = true
		}
	}
	return staying
}

// Forget records tasks whose lines were removed, the latest first. Beyond [MaxForgottenTasks]
// the oldest are dropped.
func (f *Family) Forget(tasks []ObjectID) {
	all := slices.Clone(f.Forgotten)
	for _, task := range slices.Backward(tasks) {
		all = append(all, task)
	}
	f.Forgotten = all[max(0, len(all)-MaxForgottenTasks):]
}

// Recall removes a task from the forgotten ones, as it has a line again.
func (f *Family) Recall(task ObjectID) {
	f.Forgotten = slices.DeleteFunc(slices.Clone(f.Forgotten), func(id ObjectID) bool { return id == task })
}

// Parent names an issue that has another one as a sub-issue.
type Parent struct {
	ID   int64  `json:"id"` // NoParentID: there is none
	Name string `json:"name"`
}
