package webhook

import (
	"context"
	"slices"
	"strconv"

	"planbridge/mapping"
)

// family stores a `sub_issues` event. GitHub sends two for each change: one in the parent's
// repository and one in the sub-issue's.
//
//	sub_issue_added, parent_issue_added       a sub-issue without a link comes to its parent's link
//	sub_issue_removed, parent_issue_removed   its link becomes due
func (in *Intake) family(ctx context.Context, d *delivery, ev Event) (verdict, error) {
	child, parent := ev.SubIssue, ev.Parent
	added := ev.Action == "sub_issue_added" || ev.Action == "parent_issue_added"
	switch {
	case !added && ev.Action != "sub_issue_removed" && ev.Action != "parent_issue_removed":
		return verdict{result: ignored, why: "the action is not known"}, nil
	case child == nil || parent == nil || child.ID <= 0 || parent.ID <= 0 || child.Repo == "" || child.UpdatedAt.IsZero():
		return verdict{result: ignored, why: "it does not show both issues"}, nil
	}
	child.Delivery = d.key
	s := issueObservation{
		delivery: d.key, issue: child, away: !added,
		public: func() (bool, error) { return !ev.Private, nil },
		edit:   &mapping.IssueEvent{Item: mapping.IssueRef(child.ID), Parent: &mapping.Parent{ID: mapping.NoParentID}, Delivery: d.key},
	}
	s.covers = d.covers()
	switch {
	case ev.parentLess:
		s.edit = nil
	case added:
		s.parent = parent
		*s.edit.Parent = mapping.Parent{ID: parent.ID, Name: parent.Repo + "#" + strconv.Itoa(parent.Number)}
	}
	return in.store(ctx, d, s)
}

// viaParent finds the route of a sub-issue that no route takes by itself, as filters are not
// about sub-issues. The reconcile finds out whether an issue above it has a card.
func (in *Intake) viaParent(s issueObservation, near []*mapping.Route) (*mapping.Route, error) {
	isPart := s.parent != nil || s.issue.Parent != "" && s.issue.Parent != mapping.NoParent
	ignored := mapping.Route{}
	ok, _ := ignored.Accepts(s.issue, in.o.Settings.Scheme())
	i := slices.IndexFunc(near, func(r *mapping.Route) bool {
		return r.Tasks == mapping.TasksSubIssues && r.Direction != mapping.ToGitHub
	})
	if !isPart || !ok || i < 0 || s.issue.State != "open" || s.issue.PullRequest || in.made(s.issue) {
		return nil, nil
	}
	waits := near[i].Quarantines(s.issue, true) && !in.released(s)
	if !near[i].AllowPublic || waits {
		if public, err := s.public(); public || err != nil {
			return nil, err
		}
	}
	return near[i], nil
}
