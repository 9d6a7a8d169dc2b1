package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

func (w entrant) enterIssue() error {
	if err := reader(w).takeIssue(w.mustRead || freshness(w).cameLate()); err != nil {
		return err
	}
	if w.link.Before == nil && w.bridgeMade(w.issue) {
		return w.decline("the bridge made it")
	}
	if handed, err := w.returnToCreator(); handed || err != nil {
		return err
	}
	// An item that was linked when the store was lost is linked again, even if it would not enter
	// today.
	if found, err := w.adoptLost(mapping.Planning); found || err != nil {
		return err
	}
	route, why := w.set.Routes.ForIssue(w.issue, w.set.Scheme)
	switch {
	case !w.issue.Lasted(w.set.EnterDelay) && w.link.Import != mapping.ImportAll:
		return w.decline("it was closed as soon as it was opened")
	case route == nil:
		return parents(w).orPart(why)
	case route.Direction == mapping.ToGitHub:
		return w.decline("its route only goes to_github")
	case route.Project != w.link.Project:
		return w.moveProject(route)
	}
	if err := w.handToPredecessor(); err != nil {
		return err
	}
	// A listing that an import made tells which issues are no sub-issues. An issue that had a card
	// of its own gets one.
	if w.link.Before == nil && route.Tasks == mapping.TasksSubIssues && !(w.link.Import != "" && w.issue.Parent == mapping.NoParent) {
		if handed, err := parents(w).toParent(); handed || err != nil {
			return err
		}
	}
	w.route, w.link.Route = route, route.Name
	reader(w).setIssue(w.issue) // by the rules of that route
	return w.beginCreate(mapping.Planning)
}

func (w entrant) enterCard() error {
	if err := reader(w).takeCard(w.mustRead); err != nil {
		return err
	}
	if w.card.Placeholder {
		return w.decline("it is a placeholder")
	}
	if w.owner.Issue.Number == 0 {
		w.owner.Issue.Repo = w.route.NewCardsIn
	}
	defer func() {
		if w.pair.Intent == nil && w.owner.Issue.Number == 0 { // another route may take the card yet
			w.owner.Issue.Repo, w.owner.Issue.RepoID = "", 0
		}
	}()
	if found, err := w.adoptLost(mapping.GitHub); found || err != nil {
		return err
	}
	if may, err := visibility(w).mayShow(w.route, w.route.NewCardsIn); err != nil {
		return err
	} else if !may {
		return w.decline("the repository is public and the route does not say allow_public")
	}
	if why, err := w.hadIssue(); err != nil {
		return err
	} else if why != "" {
		return w.decline(why)
	}
	return w.beginCreate(mapping.GitHub)
}

// hadIssue returns why the card gets no other issue than the one that the footer of a task of it
// names; "": no footer names one, or that one is found otherwise. A card of a person has no marker of
// its own. After a loss of the store only its tasks show that it has, or had, an issue.
func (w entrant) hadIssue() (why string, err error) {
	if w.link.Copied || w.card.CountersVersion == 0 { // no task was ever made on it
		return "", nil
	}
	tasks, err := cardTasks(w).askTasks()
	if err != nil {
		return "", err
	}
	asked := map[string]bool{}
	for _, t := range tasks {
		for _, m := range signer(w).marks(t.Summary.Value, mapping.MarkTask) {
			repo, number := w.set.Keys.FooterIssue(t.Summary.Value, m)
			own := m.Partner == trackingPartner || m.Partner == itemPartner // of no sub-issue
			question := fmt.Sprint(m.Link, repo, number, own)
			if repo == "" || asked[question] {
				continue
			}
			asked[question] = true
			link, err := exclusivity(w).recordOf(store.Key{Project: w.link.Project, Link: m.Link})
			if err != nil || link != nil && link.Card.ID != w.pair.Card.ID { // people copied that card with its tasks
				return "", err
			}
			if why, err = w.notFound(repo, number, own); why != "" || err != nil {
				return why, err
			}
		}
	}
	return "", nil
}

// notFound returns why nothing finds the issue that a footer names; "": its marker shows it. own: it is
// the card's issue, and no sub-issue.
func (w entrant) notFound(repo string, number int, own bool) (string, error) {
	now, err := do(w, Locate{Repo: repo})
	if err != nil && !mapping.Refused(err) {
		return "", onGitHub(err)
	}
	if repo = cmp.Or(now, repo); len(w.set.Routes.ForRepo(repo)) == 0 {
		return "its tasks name " + issueName(repo, number) + " as its issue, in a repository without a route", nil
	}
	if !own {
		return "", nil
	}
	_, err = do(w, ReadIssue{repo, number})
	var moved *mapping.MovedError
	there := err == nil || errors.As(err, &moved) && moved.Issue != nil && len(w.set.Routes.ForRepo(moved.Issue.Repo)) > 0
	switch {
	case there:
		w.pair.GoneSince = time.Time{}
		return "", nil
	case !IsGone(err) && !errors.Is(err, mapping.ErrMoved):
		return "", onGitHub(err)
	}
	if w.pair.GoneSince.IsZero() {
		w.pair.GoneSince = w.Now().UTC()
	}
	w.owner.Issue.Repo = repo
	err = absences(w).checkRepository()
	if err == nil {
		err = absences(w).doubtAbsence(mapping.GitHub, Absence{}, w.pair.GoneSince)
	}
	if err != nil {
		return "", err
	}
	return "its tasks name " + issueName(repo, number) + " as its issue, which is gone", nil
}

// reconsider makes a card without an issue enter anew.
func (w entrant) reconsider() {
	w.happens(mapping.EventReconsidered)
	w.pair.Intent, w.owner.Issue.Repo, w.owner.Issue.RepoID, w.owner.Unfinished = nil, "", 0, true
}

// beginCreate records the intent to create the partner on a side.
func (w entrant) beginCreate(side mapping.Side) error {
	if side == mapping.GitHub {
		id, err := do(w, ReadRepositoryID{w.owner.Issue.Repo})
		if err != nil {
			return onGitHub(err)
		}
		w.owner.Issue.RepoID = id
	}
	w.happens(mapping.EventBegun)
	w.pair.Intent = &mapping.Intent{Side: side, Nonce: w.pair.Nonce, At: w.Now().UTC()}
	w.link.Epoch = w.epoch
	w.link.Family.Tasks = w.route.Tasks // its tasks are as new as the link
	return nil
}

// adoptLost looks among the snapshots for a partner that was made before the store was lost.
// Where it finds one, nothing is created.
func (w entrant) adoptLost(side mapping.Side) (bool, error) {
	w.pair.Intent = &mapping.Intent{Side: side}
	k := creator(w).wanted()
	err := creator(w).partner().find([]*want{k})
	if !k.done || err != nil {
		w.pair.Intent = nil
	}
	return k.done, err
}

// moveProject hands an issue over to the store's part of another project, where its labels
// lead to that project.
func (w entrant) moveProject(route *mapping.Route) error {
	link := *w.link
	link.Project, link.Route = route.Project, route.Name
	link.ID, link.Nonce = mapping.LinkID(w.draw()), w.newNonce(route.Project)
	if err := w.handOverIssue(w.issue, route.Project, store.Observation{Refs: link.Refs(), Create: &link}); err != nil {
		return fmt.Errorf("hand over to project %s: %w", route.ProjectName, err)
	}
	return w.decline("its route belongs to project " + route.ProjectName)
}

// A person may copy a card or a task of the bridge, footer and all. The link keeps the older
// item, its own. The copy is a new item. It gets an issue of its own, as any new item of its
// bucket or card does. Then its own footer replaces the copied one.

// enterCopies makes links of the cards that are copies of the link's card.
func (w entrant) enterCopies() error {
	unlinked := w.link.Parted && w.pair.State == mapping.Dormant
	if w.pair.Card.ID == "" || w.pair.State != mapping.Linked && w.pair.State != mapping.Left && !unlinked {
		return nil
	}
	for _, c := range allSeen[mapping.Card](w.claimState) {
		if c.ID == w.pair.Card.ID || c.Placeholder || w.pair.Card.CID == 0 || c.CID <= w.pair.Card.CID || !signer(w).hasMarker(c.Summary.Value, mapping.MarkCard) {
			continue
		}
		if err := exclusivity(w).requireAdoption(); err != nil {
			return err
		}
		if err := w.enterCopy(&c); err != nil {
			return err
		}
	}
	return nil
}

// enterCopy makes the link of a copied card where a route makes issues of new cards in its
// bucket. Otherwise it reports the copy once.
func (w entrant) enterCopy(c *mapping.Card) error {
	ref := mapping.CardRef(c.ID)
	if id, err := exclusivity(w).findLink(w.link.Project, ref); id != "" || err != nil {
		return err
	}
	route := w.set.Routes.ForBucket(w.link.Project, c.BucketName, c.Bucket, c.StateID)
	if route == nil {
		if get(w, Remember{"copy " + string(c.ID), 1}) == 0 {
			w.log.Warn("a card is a copy of this one, footer and all, and no route makes issues of its bucket's cards", "copy", c.ID)
			w.note(mapping.Planning, "", "copied", "card "+string(c.ID)+" is a copy and gets no issue: no route makes one of it")
		}
		return nil
	}
	link := route.EnterCard(c, w.Now().UTC())
	link.ID, link.Nonce, link.Copied = mapping.LinkID(w.draw()), w.newNonce(link.Project), true
	if err := w.deliver(w.link.Project, []store.Observation{{
		Refs: []mapping.Ref{ref}, Create: link, Item: ref, At: c.Version, Digest: mapping.DigestCard(c), Data: store.Encode(c),
	}}); err != nil {
		return fmt.Errorf("let the copy %s of its card enter: %w", c.ID, err)
	}
	w.log.Info("a copy of the card is a card of its own", "copy", c.ID)
	w.note(mapping.Planning, "", "copied", "card "+string(c.ID)+" is a copy and a card of its own")
	return nil
}
