package importer

import (
	"context"
	"errors"
	"time"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// keyStatus is the result of a key in hand.
type keyStatus int

const (
	underWay keyStatus = iota
	done
	handed  // its issue belongs to another link: that of its parent
	dropped // its link is gone, as its item is no longer imported
	failed  // given up
)

// child is a sub-issue whose key is in hand, and the time when that was first gone.
type child struct {
	issue mapping.Ref
	gone  time.Time
}

// handover is how long the link of a parent may take to make a part of an issue that was
// handed to it. An earlier walk would take the issue for a new one.
const handover = 10 * time.Second

// takeChild records a link whose issue may be handed to its parent.
func (im *run) takeChild(link mapping.LinkID, issue *mapping.Issue) {
	if isChild(issue) {
		im.children[link] = child{issue: mapping.IssueRef(issue.ID)}
	}
}

// statusOf reads the result of a key; a key that was given up is listed.
func (im *run) statusOf(ctx context.Context, key store.Key, parked map[store.Key]string) (keyStatus, error) {
	l, err := im.Store.Link(ctx, key)
	reason, gaveUp := parked[key]
	switch {
	case errors.Is(err, store.ErrNotFound):
		return im.goneTo(ctx, key)
	case err != nil:
		return underWay, err
	case gaveUp:
		im.list(status.ImportItem{Where: l.Where(), Route: l.Route, What: "failed", Why: reason})
		return failed, nil
	case isUnderWay(l):
		return underWay, nil
	}
	return done, nil
}

// isUnderWay reports whether a link has not brought its two items to agreement yet.
func isUnderWay(l *mapping.Link) bool {
	return l.State == mapping.Entering || l.State == mapping.Creating || l.State == mapping.Linked && l.Synced.IsZero()
}

// countExisting counts a link that existed before. A link without a partner, which another import or
// the service is making, is awaited like the links of this import.
func (im *run) countExisting(ctx context.Context, key store.Key) error {
	l, err := im.Store.Link(ctx, key)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && !isUnderWay(l), im.met[key]:
		return nil
	case err != nil:
		return err
	}
	im.met[key] = true
	if !im.ask.DryRun {
		im.waiting = append(im.waiting, key)
	}
	im.count(func(r *status.ImportResult) { r.UnderWay++ })
	return nil
}

// goneTo separates a sub-issue that its parent's link has taken from a link that was dropped.
func (im *run) goneTo(ctx context.Context, key store.Key) (keyStatus, error) {
	c, ok := im.children[key.Link]
	if !ok {
		return dropped, nil
	}
	_, known, err := im.Inventory.Known(ctx, c.issue)
	switch {
	case err != nil:
		return underWay, err
	case known:
		return handed, nil
	case c.gone.IsZero():
		c.gone = im.Clock.Now()
		im.children[key.Link] = c
	case im.Clock.Now().Sub(c.gone) > handover:
		return dropped, nil
	}
	return underWay, nil
}
