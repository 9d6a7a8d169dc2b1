package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"planbridge/mapping"
)

// showMilestone gives the issue the milestone of its card's sprint. A card that leaves its
// sprint loses the milestone of a sprint, whoever set it. Other milestones belong to people,
// and stay on an issue whose card has no sprint.
func (w milestoneProjector) showMilestone() error {
	s := w.link.Shown
	want := 0
	if s.Sprint != "" {
		var err error
		if want, err = w.sprintMilestone(s.Sprint, 0); err != nil || want == 0 {
			return err
		}
	}
	return projector(w).bring(func() bool { return w.milestoneDue(want) }, func() error { return w.setMilestone(want) })
}

// setMilestone sets the issue's milestone.
func (w milestoneProjector) setMilestone(want int) error {
	if err := saver(w).writing(); err != nil {
		return err
	}
	issue, err := do(w, EditIssue{w.owner.Issue.Repo, w.owner.Issue.Number, IssueEdit{Milestone: &want}, false})
	if errors.Is(err, mapping.ErrRejected) && want != 0 {
		// It may not be there any more: somebody has deleted it.
		now, lookup := w.sprintMilestone(w.link.Shown.Sprint, want)
		switch {
		case lookup != nil:
			return lookup
		case now != want:
			return later(MilestonesWait, "milestone %d is gone, it is %d now", want, now)
		}
	}
	if err != nil {
		return onGitHub(fmt.Errorf("set milestone %d: %w", want, err))
	}
	reader(w).issueIs(&issue)
	s := w.link.Shown
	if s.Milestone = want; issue.Milestone != want {
		s.Milestone = issue.Milestone
		s.Dropped = append(s.Dropped, milestoneName(want))
	}
	projector(w).noteShown("milestone", milestoneName(want))
	return nil
}

// milestoneDue reports whether the issue needs the milestone want (0: none). It records the
// issue's current one.
func (w milestoneProjector) milestoneDue(want int) bool {
	s := w.link.Shown
	has := s.Milestone
	if w.issue != nil {
		if has = w.issue.Milestone; want != 0 && has != s.Milestone {
			s.Milestone = 0 // somebody took ours off
		}
	}
	if has == want || want == 0 && has != s.Milestone && !mapping.ShowsSprint(w.issue, w.set.Keys) { // the issue has it, or has a person's own milestone
		s.Milestone = want
		return false
	}
	return want == 0 || !slices.Contains(s.Dropped, milestoneName(want))
}

// milestoneName names a milestone in the list of names that GitHub dropped.
func milestoneName(number int) string { return "#" + strconv.Itoa(number) }

// milestoneAlong is the milestone that goes along with an edit: one whose number is known, or
// nil.
func (w milestoneProjector) milestoneAlong() *int {
	s := projector(w).shown()
	if s == nil || w.issue == nil || w.link.Cleaning || w.pair.State != mapping.Linked {
		return nil
	}
	want := 0
	if s.Sprint != "" {
		var err error
		if want, err = do(w, KnownMilestone{w.link.Project, w.owner.Issue.Repo, s.Sprint}); err != nil || want == 0 {
			return nil // the projection handles it
		}
	}
	if !w.milestoneDue(want) {
		return nil
	}
	return &want
}

// sprintMilestone is the number of a sprint's milestone in the issue's repository; 0: the sprint is
// not known yet. It creates a missing milestone. Where GitHub did not accept the number refused,
// the milestone is looked up again.
func (w milestoneProjector) sprintMilestone(sprint mapping.ObjectID, refused int) (int, error) {
	project, repo := w.link.Project, w.owner.Issue.Repo
	known, err := do(w, KnownMilestone{project, repo, sprint})
	if err != nil || known != 0 && known != refused {
		return known, err
	}
	listed, err := do(w, ReadSprint{project, sprint})
	if err != nil {
		return 0, err
	}
	if listed == nil {
		w.awaitSprint(sprint)
		return 0, nil
	}
	send(w, PauseOver{"sprint " + string(sprint)})
	if err := visibility(w).there(repo); err != nil {
		return 0, onGitHub(err)
	}
	if err := visibility(w).public(repo, true); err != nil {
		return 0, err
	}
	return do(w, EnsureMilestone{project, repo, *listed, refused})
}

// awaitSprint makes the key due again for a sprint that no listing has. The card was polled
// after the sprints, a listing lacked the sprint, or it is gone. All keys of the sprint share
// the pause, which grows once for all of them.
func (w milestoneProjector) awaitSprint(sprint mapping.ObjectID) {
	name := "sprint " + string(sprint)
	if !pauses(w).isPaused(name) {
		why := "milestone: no listing has " + name
		p := get(w, PauseAfter{name, why, brokenFirst, brokenMost})
		pauses(w).revisitAfter(p.Wait+w.jitter(p.Wait/4), why)
	}
}
