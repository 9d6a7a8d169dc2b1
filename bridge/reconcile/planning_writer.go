package reconcile

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// refuseUser records that planning refuses a person's username.
func (w planningWriter) refuseUser(user string, why error) {
	w.count(CountUserRefused, w.link.Route)
	w.log.Warn("planning refuses a user; the route's user writes instead", "username", user, "err", why)
}

// releaseSlot gives the slot at the services to another key once planning has answered, and before a
// save. Handling and storing the answer needs no slot. Only between a read of GitHub and the write
// that follows it is the slot kept: that write runs over people's edits since the read.
func (w planningWriter) releaseSlot() {
	if !w.fresh {
		send(w, Rise{})
	}
}

// username is the planning user who writes: the person who edited or opened the issue, where
// the user table has them, else the route's. A read does not say who edited.
func (w planningWriter) username() string {
	if w.issue == nil {
		return w.route.Username
	}
	who := w.issue.Editor
	if who == "" && w.pair.State == mapping.Creating {
		who = w.issue.Author
	}
	if user, ok := w.set.Users[strings.ToLower(who)]; ok && who != "" && !w.Stranger(who) {
		return user
	}
	return w.route.Username
}

// write carries out the plan's writes to planning: one PUT for the card, one for its tracking
// task. It reports whether planning changed meanwhile, so that everything has to be decided
// anew.
func (w planningWriter) write(plan mapping.Plan) (moved bool, err error) {
	var own, tracked []mapping.Decision
	for _, d := range plan.Decisions {
		switch {
		case d.Planning == nil:
		case d.Attribute.Spec().Tracked && !w.pair.IsTask():
			tracked = append(tracked, d)
		default:
			own = append(own, d)
		}
	}
	if moved, err = w.put(w.pair.Partner(), own); moved || err != nil {
		return moved, err
	}
	if child := w.trackingPair(); child != nil {
		return w.put(mapping.TaskRef(child.Card.ID), tracked)
	}
	return false, nil
}

// put sends one PUT between its pending records; none where nothing changes.
func (w planningWriter) put(item mapping.Ref, ds []mapping.Decision) (moved bool, err error) {
	if len(ds) == 0 {
		return false, nil
	}
	set := map[mapping.Attribute]mapping.Versioned{}
	for _, d := range ds {
		v := mapping.Versioned{Value: d.Planning.To, Version: d.Planning.Version}
		if d.Attribute.Spec().Form == mapping.FormMarkdown {
			v.Value = signer(w).cardText(v.Value)
		}
		set[d.Attribute] = v
	}
	saver(w).pend(mapping.Planning, item, ds)
	if err := saver(w).writing(); err != nil {
		saver(w).unpend(mapping.Planning, item)
		return false, err
	}
	user := w.username()
	up, err := do(w, Update{item, user, w.route.Images, set})
	if refused := (*mapping.Rejection)(nil); errors.As(err, &refused) && user != w.route.Username && !isAttribute(refused.Field) {
		w.refuseUser(user, refused)
		up, err = do(w, Update{item, w.route.Username, w.route.Images, set})
	}
	w.releaseSlot()
	if err != nil {
		return w.putFailed(item, ds, err)
	}
	if up, err = w.readUnshown(item, ds, up); err != nil {
		return false, onPlanning(err)
	}
	sent := saver(w).unpend(mapping.Planning, item)
	if up.Plain != "" {
		w.log.Warn("planning shows the summary as plain paragraphs", "why", up.Plain)
	}
	w.owner.Unfinished = true
	for _, d := range ds {
		if w.heldBack(d, up, len(ds) > 1) {
			w.dropUndoneBase(sent, d.Attribute)
			moved = true
			continue
		}
		w.written(d, up)
	}
	if item == w.pair.Partner() {
		w.pair.Card.Version = max(w.pair.Card.Version, up.Version)
		w.rememberText(up)
	}
	if slices.ContainsFunc(ds, func(d mapping.Decision) bool { return d.Attribute.Spec().Tracked }) {
		// The state change moves the card's counters by one: a poll shows somebody else's changes
		// beyond that.
		w.link.Card.CountersVersion++
	}
	saver(w).observeLag(mapping.Planning)
	return moved, nil
}

// rememberText takes in the whole text of the card, with its footer, that planning answered to a write.
// No poll has seen it, so that its time is not known.
func (w planningWriter) rememberText(up Updated) {
	text, shown := up.Values[mapping.Summary]
	if !shown || w.card == nil {
		return
	}
	card := *w.card
	card.Summary, card.Times = text, map[mapping.Attribute]mapping.Interval{}
	for _, a := range mapping.Attributes {
		if a != mapping.Summary {
			card.Times[a] = w.card.Edited(a)
		}
	}
	w.card = &card
}

// readUnshown reads the item where the answer to a write lacks an attribute that was sent: its
// value is unknown. After an error the pending records stay, and the next claim finds out the
// outcome of the write.
func (w planningWriter) readUnshown(item mapping.Ref, ds []mapping.Decision, up Updated) (Updated, error) {
	unshown := func(d mapping.Decision) bool { _, ok := up.Values[d.Attribute]; return !ok }
	if !slices.ContainsFunc(ds, unshown) {
		return up, nil
	}
	now, err := reader(w).askPlanning(item)
	if err != nil {
		return up, err
	}
	view := now.Values()
	view[mapping.State] = now.State // of a task
	maps.Copy(view, up.Values)
	return Updated{Version: max(up.Version, now.Version), Values: view}, nil
}

// heldBack reports whether a successful answer has another value than the one sent, and
// records it. It may be a version conflict (their status is not documented, planning-api.md
// part 7), or the service's own rewriting. Both are decided anew against the old base, so that
// no value is lost. Among others, a text without its marker, under the version sent, was not
// written either.
func (w planningWriter) heldBack(d mapping.Decision, up Updated, among bool) bool {
	shown := up.Values[d.Attribute]
	now := w.bare(d.Attribute, shown)
	unsigned := among && d.Attribute.Spec().Form == mapping.FormMarkdown && shown.Version == d.Planning.Version &&
		signer(w).marksItem(mapping.Planning) && !signer(w).signed(mapping.Planning, shown.Value)
	if w.agrees(d.Attribute, d.Planning.To, now.Value) && !unsigned || d.Planning.Version == mapping.ForceVersion || w.rewrites(d, now) {
		return false
	}
	w.held[w.heldKey(d)], w.p[d.Attribute] = heldValue{d.Planning.To, now}, now
	return true
}

// dropUndoneBase drops the base of an attribute that has again the value from before a
// successful write (one of sent): see [journal.WentBack].
func (w planningWriter) dropUndoneBase(sent []mapping.Pending, a mapping.Attribute) {
	if slices.ContainsFunc(sent, func(p mapping.Pending) bool { return p.Attribute == a && journal.WentBack(p, w.p[a]) }) {
		delete(w.pair.Base, a)
		w.note(mapping.Planning, a, "recover", "a write, or another one, was undone")
	}
}

// rewrites reports whether planning's answer is its own rewriting of the value: the same
// answer came twice, under a version above the one sent. A person's edit in between would give
// another value, and a write that was refused for another attribute would keep the version.
func (w planningWriter) rewrites(d mapping.Decision, now mapping.Versioned) bool {
	was, held := w.held[w.heldKey(d)]
	return held && was.sent == d.Planning.To && mapping.Same(d.Attribute, was.answered.Value, now.Value) && now.Version > d.Planning.Version
}

func (w planningWriter) heldKey(d mapping.Decision) heldKey {
	return heldKey{w.pair.Partner(), d.Attribute}
}

// bare is a value of planning without the bridge's footer.
func (w planningWriter) bare(a mapping.Attribute, v mapping.Versioned) mapping.Versioned {
	if a.Spec().Form == mapping.FormMarkdown {
		v.Value = w.strip(v.Value)
	}
	return v
}

// agrees reports whether planning has the value that was sent, or its normalisation.
func (w planningWriter) agrees(a mapping.Attribute, sent, now string) bool {
	return mapping.Same(a, sent, now) || a.Spec().Form == mapping.FormMarkdown && w.SameRendering(sent, now)
}

// answered is the base after planning's answer to a write: the answer, where it is the value
// sent or its normalisation. Otherwise the base has the value sent, and the answer is a change
// of planning.
func (w planningWriter) answered(a mapping.Attribute, base mapping.Base, sent string, now mapping.Versioned) mapping.Base {
	if w.agrees(a, sent, now.Value) {
		base.Planning, base.Version = now.Value, now.Version
	}
	return base
}

func isAttribute(field string) bool {
	return slices.Contains(mapping.Attributes, mapping.Attribute(field))
}

// written records one attribute of a successful PUT.
func (w planningWriter) written(d mapping.Decision, up Updated) {
	shown := up.Values[d.Attribute]
	signer(w).noteMarkerRestored(d)
	pacer(w).noteWrite(mapping.Planning, d.Attribute)
	if d.Attribute.Spec().Form == mapping.FormMarkdown {
		signer(w).noteMarker(mapping.Planning, shown.Value)
	}
	now := w.bare(d.Attribute, shown)
	if d.Base.Planning == d.Planning.To {
		d.Base = w.answered(d.Attribute, d.Base, d.Planning.To, now)
	}
	if w.rewrites(d, now) {
		d.Base.Planning, d.Base.Version = now.Value, now.Version
	}
	w.pair.Agree(d)
	w.p[d.Attribute] = now
	w.count(CountWrites, w.link.Route, string(mapping.Planning), string(d.Attribute))
	w.noteWrite(mapping.Planning, d)
}

// putFailed handles a PUT that did not succeed.
func (w planningWriter) putFailed(item mapping.Ref, ds []mapping.Decision, err error) (moved bool, _ error) {
	var conflict *mapping.VersionConflict
	var refused *mapping.Rejection
	switch {
	case errors.As(err, &conflict):
		saver(w).unpend(mapping.Planning, item)
		if err := w.takeCurrent(item, ds, conflict.Current); err != nil || !w.pair.HasIssue() || w.hasMoved(ds) {
			return true, err
		}
		err = &mapping.Rejection{Message: conflict.Message} // whatever its status
	case errors.As(err, &refused) && len(ds) == 1 && refused.Message == "":
		// Without a reason it may as well be a version conflict.
		saver(w).unpend(mapping.Planning, item)
		if err := w.takeCurrent(item, nil, nil); err != nil || w.hasMoved(ds) {
			return true, err
		}
	case IsGone(err) && (!w.pair.HasIssue() || item != w.pair.Partner()):
		saver(w).unpend(mapping.Planning, item)
		return true, w.takeCurrent(item, nil, nil)
	}
	return saver(w).writeFailed(mapping.Planning, item, ds, err, func(d mapping.Decision) (bool, error) {
		return w.put(item, []mapping.Decision{d})
	})
}

// hasMoved reports whether planning, as it is known now, has another version of an attribute than was
// sent.
func (w planningWriter) hasMoved(ds []mapping.Decision) bool {
	return slices.ContainsFunc(ds, func(d mapping.Decision) bool {
		return d.Planning.Version != mapping.ForceVersion && w.p[d.Attribute].Version != d.Planning.Version
	})
}

// takeCurrent takes the values that came with a refused PUT. Where none of them explains the
// refusal, the item is read.
func (w planningWriter) takeCurrent(item mapping.Ref, ds []mapping.Decision, current map[mapping.Attribute]mapping.Versioned) error {
	if !w.pair.HasIssue() {
		return nil // its tasks are read anew
	}
	explained := false
	for _, d := range ds {
		v, ok := current[d.Attribute]
		explained = explained || ok && v.Version != d.Planning.Version
	}
	if !explained {
		if child := w.trackingPair(); child != nil && item == mapping.TaskRef(child.Card.ID) {
			return cardTasks(w).readTracking()
		}
		return reader(w).readCard()
	}
	for a, v := range current {
		if a.Spec().Tracked != (item.Kind() == "task") && !w.pair.IsTask() {
			continue // a task's title and text are not the card's
		}
		w.p[a] = w.bare(a, v)
	}
	return nil
}
