package reconcile

import (
	"fmt"
	"time"

	"planbridge/mapping"
)

// An issue has one partner in all projects together. Within a project the store's index
// guarantees that. The links of two projects are in two parts of the store, on two servers of
// a Cluster, and no operation touches both. Where a repository's routes lead to several projects,
// deliveries, listings, imports and operators may search everywhere at one moment. They may find
// nothing, and make a link in each project. That does no harm yet, as a link that is entering can
// still be removed. Before the first request that makes the partner, each link does this:
//
//  1. It is saved as creating, with an intent that is not sent: it is announced.
//  2. It reads the issue's links in the other projects. A link that is announced, or further on,
//     keeps this one from going on. A link that is entering does not.
//  3. Where none keeps it, the link is decided (Intent.ExclusiveFor). That is saved with the intent
//     as sent, before the request, or at the end of the claim.
//
// Two links of one issue are never both decided. Otherwise each would have read the other one
// before that was announced, in its last read before it was decided. Then X was announced, X
// read Y, Y was announced, Y read X, and X was announced, each before the next, which is a
// contradiction. The proof needs no clock and no lock. The store returns what was saved last.
// Announcements and intents are saved under the lease of the link's key, so that a process
// without the lease sends nothing. A process may die anywhere. Before 1 the link is entering
// as before. Between 1 and 3 the next owner of the key reads again. After 3 it is a create
// that may have been sent.
//
// They do not block each other either. A link that meets an undecided one returns to entering
// and reads the issue. Where that leads to the other project now, it goes there. So only one
// of them waits, and the other one leaves or is decided within a claim or two. A link that
// meets a decided one hands over what it knows of the issue, and is removed. A link is not
// removed once something new has come for it, so that of two links that yield to each other
// one stays.
//
// A part (an issue that gets a task) is announced as soon as it is in its root's record. A
// pair that an operator or an import joined is announced as soon as it has a link. A link that
// enters by itself yields to these, so that they only have to wait. Of two of them, the one in
// the project with the lower id has priority.
//
// This process's routes say which projects are asked, so that replicas with different routes
// can miss each other.

// competitorWait is when an announced link of another project is read again, and
// competitorMost that of one that takes long.
const competitorWait, competitorMost = 200 * time.Millisecond, 5 * time.Second

// ensureExclusive returns nil once no other project can have a partner of the issue, so that
// it may be made. An error says that it may not be made, now or ever.
func (w exclusivity) ensureExclusive() error {
	others := w.otherProjects()
	if len(others) == 0 || w.pair.Intent.ExclusiveFor == w.owner.Issue.ID {
		return nil
	}
	for _, project := range others { // before the save, so that a waiting key does not save each time
		if err := w.requireAdoptionOf(project); err != nil {
			return err
		}
	}
	if err := saver(w).save(); err != nil {
		return err
	}
	for _, project := range others {
		_, competitor, err := w.linkOf(project, mapping.IssueRef(w.owner.Issue.ID))
		if err != nil {
			return err
		}
		if competitor != nil { // a later link was announced after this one, and finds it
			if err := w.resolveCompetitor(competitor); err != nil {
				return err
			}
		}
	}
	w.pair.Intent.ExclusiveFor = w.owner.Issue.ID
	return nil
}

// resolveCompetitor returns nil where a link of another project does not keep this one from
// going on.
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

// hasPriority reports whether an undecided pair does not yield to a link that enters by
// itself: a part, or a pair that people joined.
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

// isFree reports whether an item that was found by its marker may become the link's, and
// records why not. Another link that is only about to enter may still give the item back.
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
