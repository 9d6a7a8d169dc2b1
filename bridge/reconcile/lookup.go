package reconcile

import (
	"errors"
	"fmt"
	"slices"

	"planbridge/mapping"
	"planbridge/store"
)

// This file reads what the store has beside the key's own record.

// findLink is the link that has an item; "": there is none.
func (w exclusivity) findLink(project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error) {
	key, err := w.find(FindLink{Project: project, Ref: ref})
	return key.Link, err
}

func (w exclusivity) find(f FindLink) (store.Key, error) {
	key, err := do(w, f)
	if errors.Is(err, store.ErrNotFound) {
		return store.Key{}, nil
	}
	if err != nil {
		return store.Key{}, fmt.Errorf("find %s in project %s: %w", f.Ref, f.Project, err)
	}
	return key, nil
}

// linkOf is findLink with the record. The record is nil where the link has just been removed.
func (w exclusivity) linkOf(project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, *mapping.Link, error) {
	id, err := w.findLink(project, ref)
	if id == "" || err != nil {
		return "", nil, err
	}
	link, err := w.recordOf(store.Key{Project: project, Link: id})
	return id, link, err
}

// recordOf is readLink, but returns the current record for the link at work.
func (w exclusivity) recordOf(key store.Key) (*mapping.Link, error) {
	if key.Project == w.link.Project && key.Link == w.link.ID {
		return w.link, nil
	}
	return w.readLink(key)
}

// readLink reads a link's record; nil: it has just been removed.
func (w exclusivity) readLink(key store.Key) (*mapping.Link, error) {
	link, err := do(w, ReadLink{key})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, fmt.Errorf("read link %s: %w", key, err)
	}
	return link, nil
}

// ledgerEntry reads an entry of the conflict ledger.
func (w ledger) ledgerEntry(id string) (c mapping.Conflict, known bool, err error) {
	c, err = do(w, ReadConflict{w.link.Project, id})
	if errors.Is(err, store.ErrNotFound) {
		return mapping.Conflict{}, false, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("read conflict %s: %w", id, err)
	}
	return c, true, nil
}

// keepEntry writes an entry of the conflict ledger.
func (w ledger) keepEntry(c mapping.Conflict) error {
	if err := done(w, PutConflict{c}); err != nil {
		return fmt.Errorf("keep conflict %s: %w", c.ID, err)
	}
	return nil
}

// isTaken reports whether a link of another project has an issue of the repository, so that it does
// not enter here.
func (w exclusivity) isTaken(issue mapping.Ref) (bool, error) {
	for _, project := range w.otherProjects() {
		_, l, err := w.linkOf(project, issue)
		if err != nil || l != nil && l.State != mapping.Entering && !l.Moving.HandsOver() {
			return err == nil, err
		}
	}
	return false, nil
}

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
