package reconcile

import (
	"errors"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
)

// What the store knows beside the key's own record.

// findLink is the link that has an item; "": none has.
func (w exclusivity) findLink(project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error) {
	id, err := do(w, FindLink{project, ref})
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find %s in project %s: %w", ref, project, err)
	}
	return id, nil
}

// linkOf is findLink with the record. It is nil where the link has just gone.
func (w exclusivity) linkOf(project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, *mapping.Link, error) {
	id, err := w.findLink(project, ref)
	switch {
	case id == "" || err != nil:
		return "", nil, err
	case id == w.link.ID:
		return id, w.link, nil
	}
	link, err := w.readLink(store.Key{Project: project, Link: id})
	return id, link, err
}

// readLink reads a link's record; nil: it has just gone.
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

// ledgerEntry is an entry of the ledger of conflicts.
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

// keepEntry writes an entry of the ledger of conflicts.
func (w ledger) keepEntry(c mapping.Conflict) error {
	if err := done(w, PutConflict{c}); err != nil {
		return fmt.Errorf("keep conflict %s: %w", c.ID, err)
	}
	return nil
}
