package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"planbridge/mapping"
	"planbridge/store"
)

// An operator moves the issue of a pair to another project, where its route leads by now.
// Planning moves no card between projects, so a new card is made. The order is:
//
//  1. Both items are read and brought to agreement, with the whole family, by the usual rules. An open
//     question, or a value that GitHub refused, keeps the pair in its project.
//  2. The markers and footers are removed. Labels and the milestone go along with the issue.
//  3. When a claim finds both sides in agreement and no mark left, it records the id of the link that
//     takes the issue over. From then on this link is not synchronised.
//  4. That link is made in its project's part of the store, with the sub-issues. This link forwards
//     their news to it. Until then deliveries find this link, as no other one has the issue.
//  5. This link keeps its card alone. A delivery that still reaches it is forwarded.
//
// Each step may be repeated: 1 and 2 follow from the items. Step 4 follows from the fact that an
// issue has one link in a project.

// handOver hands the issue, with all news of it, to the link that the record names. That link
// may already have been removed, once it was made, and the news with it.
func handOver(w work) (verdict, error) {
	if !w.link.Moving.HandsOver() {
		return pass, nil
	}
	obs, err := relocator(w).forwarded(), error(nil)
	if !w.link.HandedOver() {
		obs, err = relocator(w).withSuccessor(obs)
	}
	if err == nil && len(obs) > 0 {
		var got []store.Observed
		got, err = do(w, Observe{w.link.Moving.Project, obs})
		for _, g := range got {
			err = errors.Join(err, g.Err)
		}
	}
	switch {
	case err != nil:
		return end, fmt.Errorf("hand over to project %s: %w", w.set.Routes.ProjectName(w.link.Moving.Project), err)
	case w.link.HandedOver():
		return end, nil
	}
	return end, w.link.GiveUpIssue()
}

// withSuccessor puts the creation of the link that takes the issue over before other
// observations. It includes the sub-issues with tasks, so that their news reaches it, too.
func (w relocator) withSuccessor(obs []store.Observation) ([]store.Observation, error) {
	m, at := w.link.Moving, w.Now().UTC()
	next := w.link.Successor(at)
	for _, p := range w.link.SubLinks {
		if p.Issue.ID == 0 || p.State != mapping.Linked {
			continue
		}
		held, err := exclusivity(w).findLink(m.Project, mapping.IssueRef(p.Issue.ID))
		if err != nil {
			return nil, err
		}
		if held == "" || held == m.Link {
			part := mapping.NewPart(mapping.GitHub, w.newNonce(m.Project), at)
			part.Issue, part.Parent, part.Join = p.Issue.Bare(), p.Parent, p.Join
			next.SubLinks = append(next.SubLinks, part)
		}
	}
	event := store.Encode(mapping.IssueEvent{Look: mapping.LookMoved})
	return slices.Concat([]store.Observation{{Refs: next.Refs(), Create: next, Event: event, Bulk: true}}, obs), nil
}

// forwarded has the news of the issue and its sub-issues that deliveries brought, for the
// other link. An issue with a snapshot is read there.
func (w relocator) forwarded() (out []store.Observation) {
	root := mapping.IssueRef(w.link.Moving.Issue)
	for i, e := range w.events {
		refs := []mapping.Ref{root}
		if e.Item != "" && e.Item != root {
			refs = []mapping.Ref{e.Item, root}
		}
		out = append(out, store.Observation{Refs: refs, Event: w.claim.Events[i], Own: e.Step != nil})
	}
	for _, i := range allSeen[mapping.Issue](w.claimState) {
		ref := mapping.IssueRef(i.ID)
		event := store.Encode(mapping.IssueEvent{Look: mapping.LookMoved, Item: ref})
		out = append(out, store.Observation{Refs: []mapping.Ref{ref, root}, Event: event})
	}
	return out
}

// depart goes on with a pair whose sides agree, and whose issue moves.
func (w relocator) depart() error {
	if w.set.DryRun {
		return parks("its issue is to move, and a dry run moves nothing")
	}
	if why := w.stays(); why != "" {
		w.link.Moving, w.owner.Unfinished = nil, true
		w.note("", "", mapping.Stayed, why)
		return nil
	}
	if w.link.AwaitsAnswer() != "" { // which takes it up again
		return nil
	}
	route, why := w.destination()
	if why = cmp.Or(why, w.hindrance()); why != "" {
		return parks("it cannot be moved: %s", why)
	}
	took, err := w.bare()
	switch {
	case err != nil:
		return err
	case took:
		return inTurn(0, "what planbridge made is taken off: both sides are looked at once more")
	}
	return w.decide(route)
}

// stays is why a move does not concern a pair; "": it does.
func (w relocator) stays() string {
	switch own := w.set.Routes.ByName(w.link.Route); {
	case w.link.Parted:
		return "an operator parted it"
	case w.pair.State != mapping.Linked:
		return fmt.Sprintf("it is %s: %s", w.pair.State, w.pair.Why)
	case own != nil && own.Project == w.link.Project:
		return "its route leads to project " + own.ProjectName + " still"
	}
	return ""
}

// destination is the route by which the issue enters another project, or the reason why there
// is none.
func (w relocator) destination() (*mapping.Route, string) {
	if w.issue == nil || w.card == nil {
		return nil, "one of its items is gone"
	}
	route, why := w.set.Routes.ForIssue(w.issue, w.set.Scheme)
	switch {
	case route == nil:
		return nil, why
	case route.Project == w.link.Project:
		return nil, "route " + route.Name + " of its own project takes it"
	case route.Direction == mapping.ToGitHub:
		return nil, "route " + route.Name + " only goes to GitHub and makes no cards"
	}
	return route, ""
}

// hindrance is an open matter that has to be resolved before the pair moves, as it would be lost;
// "": nothing.
func (w relocator) hindrance() string {
	for _, p := range w.link.All() {
		named := p
		if p.Issue.Number == 0 {
			named = w.pair
		}
		for a, r := range mapping.Sorted(p.Refused) {
			if r.Side == mapping.GitHub {
				return fmt.Sprintf("GitHub refuses the %s of %s that planning has: %s", a, where(named), r.Message)
			}
		}
	}
	return ""
}

// pairs are the root and those of its parts that are linked.
func (w relocator) pairs() []work {
	out := []work{work(w)}
	for _, p := range w.link.SubLinks {
		if p.State == mapping.Linked {
			out = append(out, partWorker(w).part(p))
		}
	}
	return out
}

// bare removes the markers and footers, and reports whether there were any. The outcome of
// each of our writes is known before.
func (w relocator) bare() (took bool, err error) {
	for _, pw := range w.pairs() {
		if waits := pw.book().Waits(); len(waits) > 0 {
			return took, inTurn(waits[0].After, "%s", waits[0].Why)
		}
		if pw.card == nil { // a sub-issue of a route that has no tasks any more
			if err := cleaner(pw).readItems(); err != nil {
				return took, err
			}
		}
		its, err := cleaner(pw).takeAllOff()
		if took = took || its; err != nil {
			return took, err
		}
	}
	return took, nil
}

// decide records the link that takes the issue over, and what stays behind.
func (w relocator) decide(route *mapping.Route) error {
	left, err := w.leftBehind(route)
	if err != nil {
		return err
	}
	w.link.Moving = &mapping.Moving{
		Project: route.Project, Route: route.Name, Link: mapping.LinkID(w.draw()), Nonce: w.newNonce(route.Project), Issue: w.pair.Issue.ID,
	}
	for _, s := range left {
		w.note(s.Side, "", mapping.LeftBehind, s.What)
	}
	w.note("", "", mapping.Relocated, fmt.Sprintf("to project %s, by route %s", route.ProjectName, route.Name))
	return inTurn(0, "its issue is handed over to project %s", route.ProjectName)
}

// leftBehind lists what stays in the old project: the card, its sprint, and the tasks that no
// issue shows.
func (w relocator) leftBehind(route *mapping.Route) ([]mapping.CleanStep, error) {
	c := cleaner(w)
	steps := []mapping.CleanStep{c.step(mapping.Planning, "card %s stays in project %s, and the issue gets a card in bucket %s of project %s",
		w.card.ID, w.set.Routes.ProjectName(w.link.Project), route.BucketFor(w.issue), route.ProjectName)}
	if marks := c.milestoneMarks(); len(marks) > 0 && route.Writes(mapping.GitHub) {
		steps = append(steps, c.step(mapping.GitHub, "the milestone %s leaves the issue: its new card is in no sprint", milestoneName(w.issue.Milestone)))
	}
	tasks, err := cardTasks(w).askTasks()
	for _, t := range tasks {
		if !c.madeTask(&t) && w.link.Part(mapping.TaskRef(t.ID)) == nil {
			steps = append(steps, c.step(mapping.Planning, "task %s stays on card %s: no issue shows it", t.ID, w.card.ID))
		}
	}
	return steps, err
}

// BeginRelocation begins to plan the move of the state's link, which it changes. routes are
// the routes that apply after the move.
func BeginRelocation(s State, routes mapping.Routes) *Inspection[mapping.MovePlan] {
	set := *s.Settings
	set.Routes, s.Settings = routes, &set
	s.Claim.Link.Moving = &mapping.Moving{}
	return &Inspection[mapping.MovePlan]{w: newWork(s), run: func(w work) (mapping.MovePlan, error) { return relocator(w).plan() }}
}

func (w relocator) plan() (p mapping.MovePlan, err error) {
	if _, err := reroute(work(w)); err != nil {
		return p, err
	}
	switch {
	case w.link.Parted:
	case w.route == nil || !w.served:
		p.Stays = "no route has it"
		return p, nil
	case w.pair.State == mapping.Dormant:
		w.happens(mapping.EventRouteBack)
	}
	if s := w.pair.State; s == mapping.Entering || s == mapping.Creating {
		p.Steps = []mapping.CleanStep{cleaner(w).step(mapping.Planning, "it has no card yet, and gets one where its route leads")}
		return p, nil
	}
	if p.Stays = w.stays(); p.Stays != "" {
		return p, nil
	}
	var steps []mapping.CleanStep
	for _, pw := range w.pairs() {
		its, err := cleaner(pw).plan()
		if err != nil {
			return p, err
		}
		steps = append(steps, its...)
	}
	route, why := w.destination()
	if unread := slices.IndexFunc(steps, func(s mapping.CleanStep) bool { return s.Unread && s.Where == where(w.pair) }); unread >= 0 {
		why = steps[unread].What
	}
	if p.Hindered = cmp.Or(w.link.AwaitsAnswer(), why, w.hindrance()); p.Hindered != "" {
		return p, nil
	}
	for _, s := range steps {
		if s.Side == mapping.GitHub {
			p.Writes++
		}
	}
	if route.Writes(mapping.GitHub) {
		p.Writes += writesToShow
	}
	left, err := w.leftBehind(route)
	p.Steps = slices.Concat(steps, left)
	if len(cleaner(w).milestoneMarks()) > 0 && route.Writes(mapping.GitHub) {
		p.Writes++
	}
	if err == nil && w.over() {
		err = ErrOver
	}
	return p, err
}

// writesToShow is the number of writes that project another card: one removes the old bucket's
// label, one adds that of the new bucket.
const writesToShow = 2
