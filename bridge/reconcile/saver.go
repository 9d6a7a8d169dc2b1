package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
	"planbridge/store"
)

// save stores the link under the lease; ErrLeaseLost: the lease has ended. Another key may use
// the slot meanwhile.
func (w saver) save() error {
	if err := w.brokenBy(); err != nil {
		return err
	}
	planningWriter(w).releaseSlot()
	root := w.link
	err := done(w, Save{root})
	if isTooLarge(err) && dropVerified(root) {
		err = done(w, Save{root})
	}
	if err != nil {
		return fmt.Errorf("save link: %w", w.tooLarge(root, err))
	}
	return nil
}

// writing saves the link, which checks the lease, and makes sure that one external write may
// be made.
func (w saver) writing() error {
	if err := w.save(); err != nil {
		return err
	}
	if err := done(w, BeginWrite{}); err != nil {
		return later(0, "%v", err)
	}
	return nil
}

// pend adds pending records of writes. They are saved, under the lease, before the first of
// the writes goes out (see writing).
func (w saver) pend(side mapping.Side, item mapping.Ref, ds []mapping.Decision) {
	for _, d := range ds {
		edited := freshness(w).editedInPlanning(d.Attribute)
		w.pair.Pending = append(w.pair.Pending, w.book().Record(w.draw(), side, item, d, edited))
	}
	if side == mapping.GitHub && slices.ContainsFunc(ds, func(d mapping.Decision) bool { return d.Attribute.Spec().Carrier == mapping.CarrierBody }) {
		lister(w).pendItems()
	}
}

// unpend removes the unanswered records of an item, as their outcome is known, and returns
// them.
func (w saver) unpend(side mapping.Side, item mapping.Ref) (removed []mapping.Pending) {
	removed = journal.Close(&w.pair.Journal, side, item)
	if side == mapping.GitHub {
		for _, c := range w.items() {
			lister(w).forgetItem(c)
		}
	}
	return removed
}

// writeFailed handles a write that did not succeed. Each attribute is then written alone, so
// that a refused value does not block the others. It reports whether the side changed
// meanwhile.
func (w saver) writeFailed(side mapping.Side, item mapping.Ref, ds []mapping.Decision, err error, alone func(mapping.Decision) (bool, error)) (moved bool, _ error) {
	if Certain(err) {
		w.unpend(side, item)
	}
	var refused *mapping.Rejection
	switch {
	case errors.As(err, &refused) && len(ds) > 1:
		for _, d := range ds {
			if moved, err := alone(d); moved || err != nil {
				return moved, err
			}
		}
		return false, nil
	case errors.As(err, &refused) && ds[0].Action == mapping.RestoreMarker: // the text goes on without
		signer(w).noteMarkerRestored(ds[0])
		w.note(side, ds[0].Attribute, "refused", "its text with its marker: "+refused.Error())
		return false, nil
	case errors.As(err, &refused):
		write := ds[0].Planning
		if side == mapping.GitHub {
			write = ds[0].GitHub
		}
		w.refuseValue(side, ds[0].Attribute, write.To, refused)
		return false, nil
	case IsGone(err):
		return true, absences(w).missing(side, err)
	}
	return false, onSide(side, err)
}

// refuseValue blocks one value of one attribute until it changes, and reports that once.
func (w saver) refuseValue(side mapping.Side, a mapping.Attribute, value string, why *mapping.Rejection) {
	if w.pair.Refused == nil {
		w.pair.Refused = map[mapping.Attribute]mapping.Refusal{}
	}
	w.pair.Refused[a] = mapping.Refusal{Side: side, Value: mapping.DigestText(value), Message: why.Message, At: w.Now().UTC()}
	w.note(side, a, "refused", why.Error())
}

// reserve takes a write from GitHub's budget before its reads, so that a key that waits for
// its turn reads nothing meanwhile.
func (w saver) reserve(class WriteClass) error { return w.reserves(Reserve{Class: class}) }

func (w saver) reserves(r Reserve) error {
	if w.set.DryRun {
		return nil
	}
	r.Keep = w.fresh
	return onGitHub(done(w, r))
}

// A brake bounds the creates or closes of a route in a minute, over all replicas. So a fault on one
// side does not flood the other before somebody looks. The rest waits, and is reported.

// brake takes n acts of a kind from the route's allowance, or fewer where it has fewer. Each
// author of the route's issues gets a fair part of it.
func (w saver) brake(kind string, perMinute, n int) (given int, err error) {
	if perMinute <= 0 {
		return n, nil
	}
	b := store.Budget{Name: "brake:" + kind + ":" + w.link.Route, PerMinute: perMinute, Burst: perMinute}
	author := authorOf(w.pair)
	grant, err := do(w, Take{b, store.Ask{Items: n, Route: author}})
	if err != nil {
		return 0, fmt.Errorf("brake on %s: %w", kind, err)
	}
	if grant.Items == 0 {
		if !slices.Contains(w.braked, kind) { // a later round asks again
			w.braked = append(w.braked, kind)
			w.count(CountBraked, w.link.Route, kind)
			w.log.Warn("braked", "kind", kind, "per_minute", perMinute, "author", author, "wait", grant.Wait)
		}
		if kind == "creates" { // their requests are shared
			grant.Wait = w.untilShared(grant.Wait)
		}
		return 0, inTurn(grant.Wait, "the route's brake on %s holds", kind)
	}
	return grant.Items, nil
}

// sharesEvery is the time between two moments at which keys come again that wait for their share
// of something. Keys that come together share requests. Keys with turns of their own never meet.
const sharesEvery = 5 * time.Second

// untilShared returns the time until the first such moment after a wait.
func (t *claimState) untilShared(wait time.Duration) time.Duration {
	now := t.Now()
	return now.Add(wait + sharesEvery - 1).Truncate(sharesEvery).Sub(now)
}

// brakeClose applies the brake to closing one issue.
func (w saver) brakeClose() error {
	_, err := w.brake("closes", w.set.Brakes.ClosesPerMinute, 1)
	return err
}

// The store bounds the size of a record. A claim that would exceed the bound makes no further
// write, since each write has to be on record first. As after a crash, the findings of the
// claim are not stored. While writes of ours wait for their echo, the record is too large for
// a while only, and the key is tried again. Otherwise it is parked.

// tooLarge turns the store's refusal of a large record into a broken invariant. Any other
// error stays as it is.
func (w saver) tooLarge(root *mapping.Link, err error) error {
	if !isTooLarge(err) || awaitsEcho(root) {
		return err
	}
	w.breaks(&mapping.BrokenError{Invariant: invariantRecord, Err: err})
	return w.brokenBy()
}

// dropVerified drops the records of writes whose echoes have been handled, and reports whether
// there were any.
func dropVerified(root *mapping.Link) (dropped bool) {
	for _, p := range root.Issues() {
		dropped = journal.DropVerified(&p.Journal) || dropped
	}
	return dropped
}

// awaitsEcho reports whether a record of a write waits for its echo.
func awaitsEcho(root *mapping.Link) bool {
	return slices.ContainsFunc(root.Issues(), func(p *mapping.Pair) bool { return journal.AwaitsEcho(&p.Journal) })
}

// observeLag measures the time from the first sight of a change to its write. A difference that an
// import finds is no change, until its pair has agreed once.
func (w saver) observeLag(to mapping.Side) {
	if w.link.Import != "" && w.link.Synced.IsZero() {
		return
	}
	if took, known := w.sinceFirstSeen(); known {
		send(w, Lagged{"to_" + string(to), took})
	}
}

// brokenBy is the invariant that the claim broke, or that the record breaks which is about to
// be stored; nil: none.
func (w saver) brokenBy() error {
	if w.broken == nil {
		if b := w.claim.Link.Broken(); b != nil {
			w.breaks(b)
		}
	}
	if w.broken != nil {
		return w.broken
	}
	return nil
}
