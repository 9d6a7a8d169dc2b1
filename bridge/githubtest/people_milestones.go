package githubtest

import "slices"

// SetMilestone gives an issue a milestone, or takes it off where that is 0.
func (r *Repo) SetMilestone(n int, user string, milestone int) {
	r.s.locked(func() { r.must(n).setMilestone(person(user), r.milestone(milestone)) })
}

// DeleteMilestone deletes a milestone, and takes it off all issues.
func (r *Repo) DeleteMilestone(number int) {
	r.s.locked(func() {
		m := r.milestone(number)
		for _, i := range r.all() {
			if i.milestone == m {
				i.setMilestone(person(maintainer), nil)
			}
		}
		r.milestones = slices.DeleteFunc(r.milestones, func(o *milestone) bool { return o == m })
	})
}
