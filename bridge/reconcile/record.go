package reconcile

import (
	"errors"
	"slices"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
	"planbridge/store"
)

// The store bounds the size of a record. A claim that would exceed it makes no further
// write, since each write has to be on record before it is made. What the claim found
// out is not stored, as after a crash. While writes of ours wait for their echo, the record is too
// large for a while only: the key is tried again. Else it is parked.

// invariantRecord is the invariant that a record stays within its bound.
const invariantRecord = "record"

// isTooLarge reports that the store refused a record because of its size.
func isTooLarge(err error) bool { return errors.As(err, new(*store.SizeError)) }

// saveRecord saves the root link under the claim.
func (w *work) saveRecord() error {
	root := w.link
	err := done(w, Save{root})
	if isTooLarge(err) && dropVerified(root) {
		err = done(w, Save{root})
	}
	return w.tooLarge(root, err)
}

// tooLarge is the error for a record that the store refused; any other error stays as it is.
func (w *work) tooLarge(root *mapping.Link, err error) error {
	if !isTooLarge(err) || awaitsEcho(root) {
		return err
	}
	w.breaks(&mapping.BrokenError{Invariant: invariantRecord, Err: err})
	return w.brokenBy()
}

// dropVerified drops the records of writes whose echoes were dealt with, and reports
// whether there were any.
func dropVerified(root *mapping.Link) (dropped bool) {
	for _, p := range root.Issues() {
		dropped = journal.DropVerified(&p.Journal) || dropped
	}
	return dropped
}

// awaitsEcho reports whether a write of ours is on record until its echo comes.
func awaitsEcho(root *mapping.Link) bool {
	return slices.ContainsFunc(root.Issues(), func(p *mapping.Pair) bool { return journal.AwaitsEcho(&p.Journal) })
}
