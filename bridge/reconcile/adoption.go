package reconcile

import (
	"fmt"
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
