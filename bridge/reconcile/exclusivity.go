package reconcile

import (
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// A store that is new, was replaced, or was rolled back does not know everything that was
// made: partners, tasks, comments. It has another epoch then. Under a new epoch nothing is
// made before every marked item has been seen (requireAdoption). Beside a pair of an earlier epoch,
// an item is made only after a search for it (mayLackItems).

// requireAdoption returns an error while nothing may be made. Either not every marked item has been
// seen under the store's epoch, or the claim is older than that and may lack a snapshot.
func (w exclusivity) requireAdoption() error {
	if w.epoch != "" {
		return nil
	}
	now, err := w.readAdoption(w.link.Project)
	if err != nil {
		return err
	}
	if !now.Done {
		return &blockedOn{ServiceAdoption, "nothing is created before all marked items of both sides were seen once"}
	}
	if claimed := w.claim.Until.Add(-w.LeaseTTL()); !claimed.After(now.Since) {
		return quietly(time.Millisecond, "everything marked was seen after it was claimed")
	}
	w.epoch = mapping.DigestText(now.Epoch)
	return nil
}

// requireListed returns an error until the repository's issues were looked through under the store's
// epoch. One that got its route after the project was adopted was not: an issue of this pair may be
// among them. A sub-issue goes where its parent is, which need not be listed at all.
func (w exclusivity) requireListed(repo string) error {
	if w.pair.IsTask() {
		return nil
	}
	listed, err := do(w, ReadListed{w.link.Project, repo})
	switch {
	case err != nil:
		return fmt.Errorf("read whether %s was listed: %w", repo, err)
	case !listed:
		return &blockedOn{ServiceListing(repo), fmt.Sprintf("no issue is made in %s before its issues were looked through once", repo)}
	}
	return nil
}

// readAdoption reads whether a project is adopted, and the store's epoch.
func (w exclusivity) readAdoption(project mapping.ObjectID) (Adoption, error) {
	a, err := do(w, ReadAdoption{project})
	if err != nil {
		return a, fmt.Errorf("read adoption: %w", err)
	}
	return a, nil
}

// mayLackItems reports whether the store may lack existing items, as the pair was not made under
// its epoch. An error says that nothing may be made yet.
func (w exclusivity) mayLackItems() (bool, error) {
	if err := w.requireAdoption(); err != nil {
		return false, err
	}
	return w.link.Epoch != w.epoch, nil
}

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

// otherProjects are the other projects that may have a link of the issue. A route of its repository
// leads to them, or no route does, as one led there before.
func (w exclusivity) otherProjects() []mapping.ObjectID {
	lead := func(project mapping.ObjectID) bool {
		return slices.ContainsFunc(w.set.Routes.ForRepo(w.owner.Issue.Repo), func(r *mapping.Route) bool { return r.Project == project })
	}
	return slices.DeleteFunc(w.set.Routes.Projects(), func(project mapping.ObjectID) bool {
		return project == w.link.Project || !lead(project) && len(w.set.Routes.In(project)) > 0
	})
}

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

// requireAdoptionOf is requireAdoption for another project. The partner of this issue may be
// among the items that it lost with the store.
func (w exclusivity) requireAdoptionOf(project mapping.ObjectID) error {
	a, err := w.readAdoption(project)
	if err == nil && !a.Done {
		err = inTurn(adoptionWait+w.jitter(adoptionWait), "nothing is created before all marked items of project %s and its repositories were seen once", project)
	}
	return err
}

// adoptionWait is when the other project's adoption is read again.
const adoptionWait = 2 * time.Second

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
