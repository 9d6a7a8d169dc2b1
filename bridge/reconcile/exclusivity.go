package reconcile

import (
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// A store that is new, was replaced, or is an old copy of itself does not know
// all that was made: neither which partners there are, nor which tasks and
// comments. Its epoch is another one then. Under a new epoch nothing is made
// before everything marked has been seen (requireAdoption), and nothing beside a pair of
// an earlier epoch before it was looked for (mayLackItems).

// requireAdoption reports, as an error, that nothing may be made yet: not everything
// marked has been seen for the store's epoch, or the claim is older than that and
// may lack what was seen.
func (w exclusivity) requireAdoption() error {
	if w.epoch != "" {
		return nil
	}
	now, err := w.readAdoption(w.link.Project)
	if err != nil {
		return err
	}
	if !now.Done {
		return &blockedOn{ServiceAdoption, "nothing is created before the first full poll of the project"}
	}
	if claimed := w.claim.Until.Add(-w.LeaseTTL()); !claimed.After(now.Since) {
		return later(time.Millisecond, "everything marked was seen after it was claimed")
	}
	w.epoch = mapping.DigestText(now.Epoch)
	return nil
}

// readAdoption reports whether everything marked in a project has been seen for the
// store's epoch, and that epoch.
func (w exclusivity) readAdoption(project mapping.ObjectID) (Adoption, error) {
	a, err := do(w, ReadAdoption{project})
	if err != nil {
		return a, fmt.Errorf("read adoption: %w", err)
	}
	return a, nil
}

// mayLackItems reports whether more may have been made for the pair than the store
// knows, as the pair was not made under its epoch. An error says that nothing
// may be made yet.
func (w exclusivity) mayLackItems() (bool, error) {
	if err := w.requireAdoption(); err != nil {
		return false, err
	}
	return w.link.Epoch != w.epoch, nil
}

// noteFoundBy takes in the text by whose marker the pair's partner was found. A marker of
// another link tells of an earlier epoch: what adopted this one did not see everything.
func (w exclusivity) noteFoundBy(text string) {
	_, marks := w.set.Keys.Body(text)
	if !w.pair.IsTask() && !slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Link == w.link.ID }) {
		w.link.Epoch = ""
	}
}

// An issue has one partner in all projects together. Within a project the index of
// the store sees to that; links of two projects are in two parts of the store (a
// Cluster has them on two servers), and no operation touches both. Where the
// routes of a repository lead to several projects, deliveries, listings, imports and
// operators that look everywhere and find nothing in the same moment can so make a
// link in each. That does no harm yet, as a link that is entering can still go.
// Before the first request that makes the partner, each link does this:
//
//  1. It is saved as creating, with an intent that is not sent: it is announced.
//  2. The other projects' links of the issue are read. One that is announced, or
//     beyond that, keeps this one from going on; one that is entering does not.
//  3. Where none keeps it, the link is decided (Intent.ExclusiveFor). That is saved with
//     the intent as sent, before the request, or when the claim ends.
//
// Two links of one issue are never both decided. Else each would have read the
// other before that was announced (for the last time before it was decided): X
// was announced, read Y's, Y was announced, read X's, X was announced, each before
// the next. This needs no clock and no lock: the store answers with what was saved
// last, and both the announcement and the intent as sent are saved under the lease
// of the link's key, so that who lost that sends nothing. A process may die
// anywhere: before 1 the link is entering as it was; between 1 and 3 whoever has
// the key next reads again; after 3 it is a create that may have been sent.
//
// Nor do they wait for each other. A link that meets one that is not decided goes
// back to entering and reads the issue: where that leads to the other's project
// now, it goes there. So only one of them waits, for one that goes or is decided
// within a claim or two. A link that meets a decided one hands over what it knows
// of the issue and goes; but no link goes to which something came meanwhile, so
// that of two which give way to each other one stays.
//
// A part, an issue that gets a task, is announced as soon as it is in its root's
// record, and a pair that an operator or an import joined as soon as it has a link.
// What enters by itself gives way to these, so that they only have to wait; of
// two of them the one in the project with the lower id stands.
//
// Which projects are asked the routes tell that this process has: replicas with
// different ones can miss each other.

// competitorWait is when a link of another project that is announced is looked at again,
// and competitorMost that when it takes long.
const competitorWait, competitorMost = 200 * time.Millisecond, 5 * time.Second

// otherProjects are those, beside its own, that may have a link of the issue.
func (w exclusivity) otherProjects() []mapping.ObjectID {
	var out []mapping.ObjectID
	for _, r := range w.set.Routes.ForRepo(w.owner.Issue.Repo) {
		if r.Project != w.link.Project && !slices.Contains(out, r.Project) {
			out = append(out, r.Project)
		}
	}
	return out
}

// ensureExclusive returns nil once no other project can have a partner of the issue, which
// may be made then. An error says that it may not: not yet, or never.
func (w exclusivity) ensureExclusive() error {
	others := w.otherProjects()
	if len(others) == 0 || w.pair.Intent.ExclusiveFor == w.owner.Issue.ID {
		return nil
	}
	if err := saver(w).save(); err != nil {
		return err
	}
	for _, project := range others {
		if err := w.requireAdoptionOf(project); err != nil {
			return err
		}
		_, competitor, err := w.linkOf(project, mapping.IssueRef(w.owner.Issue.ID))
		if err != nil {
			return err
		}
		if competitor != nil { // what came since was announced after this link, and finds it
			if err := w.resolveCompetitor(competitor); err != nil {
				return err
			}
		}
	}
	w.pair.Intent.ExclusiveFor = w.owner.Issue.ID
	return nil
}

// resolveCompetitor returns nil where a link of another project does not keep this one
// from going on.
func (w exclusivity) resolveCompetitor(competitor *mapping.Link) error {
	id := w.owner.Issue.ID
	its := &competitor.Pair
	if part := competitor.Part(mapping.IssueRef(id)); part != nil {
		its = part
	}
	announced := its.State == mapping.Creating && its.Intent != nil && !its.Intent.Sent && its.Intent.ExclusiveFor != id
	decided := its.Issue.ID != id || its.State != mapping.Entering && !announced
	givesUp := competitor.Moving.HandsOver()
	givesWay := hasPriority(its) && (!hasPriority(w.pair) || competitor.Project < w.link.Project)
	switch {
	case givesUp:
		return nil
	case decided || givesWay:
		return w.yieldTo(competitor)
	case !hasPriority(w.pair) && !w.fresh:
		w.happens(mapping.EventReconsidered)
		w.pair.Intent, w.owner.Unfinished = nil, true
		return later(0, "project %s is about to take it, too: what it is now decides", competitor.Project)
	case announced:
		wait := min(max(competitorWait, w.since(w.pair.Created)/8), competitorMost)
		return later(wait, "project %s may have taken it", competitor.Project)
	}
	return nil
}

// hasPriority reports whether a pair that is not decided does not give way to one that
// enters by itself: a part, or a pair that people's items were joined to.
func hasPriority(p *mapping.Pair) bool { return p.IsTask() || p.Card.ID != "" }

// yieldTo leaves the issue to a link of another project.
func (w exclusivity) yieldTo(competitor *mapping.Link) error {
	if err := reader(w).needIssue(); err != nil {
		return err
	}
	if err := entrant(w).handOverWithEvents(competitor.Project, mapping.IssueRef(w.owner.Issue.ID)); err != nil {
		return err
	}
	w.count(CountPrevented, "project")
	why := fmt.Sprintf("link %s of project %s has it", competitor.ID, competitor.Project)
	if w.pair.IsTask() {
		w.note(mapping.Planning, "", "sub-issue", where(w.owner)+" becomes no task: "+why)
	}
	return entrant(w).decline(why)
}

// requireAdoptionOf is requireAdoption for another project: what it lost with the store may be the
// partner of this issue.
func (w exclusivity) requireAdoptionOf(project mapping.ObjectID) error {
	a, err := w.readAdoption(project)
	if err == nil && !a.Done {
		err = inTurn(adoptionWait+w.jitter(adoptionWait), "nothing is created before the first full poll of project %s", project)
	}
	return err
}

// adoptionWait is when another project is asked again.
const adoptionWait = 2 * time.Second

// isFree reports whether what was found by its marker is free to be the link's,
// and says so where it is not. What another link is only about to take in may yet
// be given back.
func (w exclusivity) isFree(ref mapping.Ref) (bool, error) {
	id, other, err := w.linkOf(w.link.Project, ref)
	switch {
	case err != nil:
		return false, err
	case id == "" || id == w.link.ID:
		return true, nil
	case other == nil || other.State == mapping.Entering && w.since(other.Created) < parentFor:
		return false, later(lookupGap, "%s is between two links", ref)
	}
	w.note("", "", "left", fmt.Sprintf("%s carries its marker and belongs to another link, %s: it stays there", ref, id))
	return false, nil
}
