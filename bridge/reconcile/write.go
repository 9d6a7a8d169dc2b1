package reconcile

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// writePlanning makes the plan's writes to planning: one PUT for the card, one
// for its tracking task. It reports whether planning moved meanwhile, so that
// everything has to be decided again.
func (w *work) writePlanning(plan mapping.Plan) (moved bool, err error) {
	var card, task []mapping.Decision
	for _, d := range plan.Decisions {
		switch {
		case d.Planning == nil:
		case d.Attribute.Spec().Tracked && !w.pair.IsTask():
			task = append(task, d)
		default:
			card = append(card, d)
		}
	}
	if len(card) > 0 {
		put := func(user string, set map[mapping.Attribute]mapping.Versioned) (Updated, error) {
			if w.pair.IsTask() {
				return do(w, UpdateTask{w.pair.Card.ID, user, w.route.Images, set})
			}
			return do(w, UpdateCard{w.pair.Card.ID, user, w.route.Images, set})
		}
		if moved, err = w.put(w.pair.Partner(), card, put); moved || err != nil {
			return moved, err
		}
	}
	if child := w.trackingPair(); len(task) > 0 && child != nil {
		put := func(user string, set map[mapping.Attribute]mapping.Versioned) (Updated, error) {
			return do(w, UpdateTask{child.Card.ID, user, w.route.Images, set})
		}
		return w.put(mapping.TaskRef(child.Card.ID), task, put)
	}
	return false, nil
}

// toldPlain logs that planning shows a summary as plain paragraphs.
func (w *work) toldPlain(up Updated) {
	if up.Plain != "" {
		w.log.Warn("planning shows the summary as plain paragraphs", "why", up.Plain)
	}
}

type putFunc func(user string, set map[mapping.Attribute]mapping.Versioned) (Updated, error)

// put makes one PUT with its pending records around it.
func (w *work) put(item mapping.Ref, ds []mapping.Decision, put putFunc) (moved bool, err error) {
	set := map[mapping.Attribute]mapping.Versioned{}
	for _, d := range ds {
		v := mapping.Versioned{Value: d.Planning.To, Version: d.Planning.Version}
		if d.Attribute.Spec().Form == mapping.FormMarkdown {
			v.Value = w.cardText(v.Value)
		}
		set[d.Attribute] = v
	}
	w.pend(mapping.Planning, item, ds)
	if err := w.writing(); err != nil {
		w.unpend(mapping.Planning, item)
		return false, err
	}
	user := w.username()
	up, err := put(user, set)
	if refused := (*mapping.Rejection)(nil); errors.As(err, &refused) && user != w.route.Username && !isAttribute(refused.Field) {
		w.refuseUser(user, refused)
		up, err = put(w.route.Username, set)
	}
	w.rise()
	if err != nil {
		return w.putFailed(item, ds, put, err)
	}
	if up, err = w.readUnshown(item, ds, up); err != nil {
		return false, onPlanning(err)
	}
	sent := w.unpend(mapping.Planning, item)
	w.toldPlain(up)
	w.owner.Unfinished = true
	for _, d := range ds {
		if w.heldBack(d, up) {
			w.undone(sent, d.Attribute)
			moved = true
			continue
		}
		w.written(d, up)
	}
	if item == w.pair.Partner() {
		w.pair.Card.Version = max(w.pair.Card.Version, up.Version)
	}
	if slices.ContainsFunc(ds, func(d mapping.Decision) bool { return d.Attribute.Spec().Tracked }) {
		// The state change moves the card's counters by one: what a poll
		// shows beyond that was somebody else.
		w.home().pair.Card.CountersVersion++
	}
	w.lag(mapping.Planning)
	return moved, nil
}

// readUnshown reads the item where the answer to a write leaves out an attribute
// that was sent: what an answer does not show is unknown. After an error the
// pending records stay, and the next claim finds out what became of the write.
func (w *work) readUnshown(item mapping.Ref, ds []mapping.Decision, up Updated) (Updated, error) {
	unshown := func(d mapping.Decision) bool { _, ok := up.Values[d.Attribute]; return !ok }
	if !slices.ContainsFunc(ds, unshown) {
		return up, nil
	}
	view, version, err := w.readItem(item)
	if err != nil {
		return up, err
	}
	maps.Copy(view, up.Values)
	return Updated{Version: max(up.Version, version), Values: view}, nil
}

// readItem reads the values of a card or a task as planning shows them, and the
// version of the item.
func (w *work) readItem(item mapping.Ref) (mapping.View, int64, error) {
	if item.Kind() == "task" {
		task, err := do(w, ReadTask{mapping.ObjectID(item.ID())})
		return task.Values(), task.Version, err
	}
	card, err := do(w, ReadCard{w.pair.Card.ID})
	return card.Values(), card.Version, err
}

// heldKey names an attribute of a card or a task.
type heldKey struct {
	item      mapping.Ref
	attribute mapping.Attribute
}

// heldValue is what planning answered to a write with another value than the
// one that was sent.
type heldValue struct {
	sent     string
	answered mapping.Versioned
}

// heldBack reports whether a successful answer shows something else than what
// was sent, and takes that in. It may be a version conflict (no status of one
// is documented, planning-api.md part 7) or the service's own rewriting; both
// are decided anew against the old base, so that no value goes unkept.
func (w *work) heldBack(d mapping.Decision, up Updated) bool {
	now := w.bare(d.Attribute, up.Values[d.Attribute])
	if w.agrees(d.Attribute, d.Planning.To, now.Value) || d.Planning.Version == mapping.ForceVersion || w.rewrites(d, now) {
		return false
	}
	w.held[w.heldKey(d)], w.p[d.Attribute] = heldValue{d.Planning.To, now}, now
	return true
}

// undone drops the base of an attribute that holds again what it held before a write
// (of sent) that answered well: see [journal.WentBack].
func (w *work) undone(sent []mapping.Pending, a mapping.Attribute) {
	if slices.ContainsFunc(sent, func(p mapping.Pending) bool { return p.Attribute == a && journal.WentBack(p, w.p[a]) }) {
		delete(w.pair.Base, a)
		w.note(mapping.Planning, a, "recover", "a write, or another one, was undone")
	}
}

// rewrites reports whether what planning answers to a write is its own rewriting
// of the value: the same answer came twice, under a version above the one that
// was sent. Of people who edit meanwhile the answer shows another value, and a
// write that was refused for another attribute leaves the version.
func (w *work) rewrites(d mapping.Decision, now mapping.Versioned) bool {
	was, held := w.held[w.heldKey(d)]
	return held && was.sent == d.Planning.To && mapping.Same(d.Attribute, was.answered.Value, now.Value) && now.Version > d.Planning.Version
}

func (w *work) heldKey(d mapping.Decision) heldKey { return heldKey{w.pair.Partner(), d.Attribute} }

// bare is a value of planning without what the bridge adds to it.
func (w *work) bare(a mapping.Attribute, v mapping.Versioned) mapping.Versioned {
	if a.Spec().Form == mapping.FormMarkdown {
		v.Value = w.strip(v.Value)
	}
	return v
}

// agrees reports whether planning holds what was sent, or its normalisation.
func (w *work) agrees(a mapping.Attribute, sent, now string) bool {
	return mapping.Same(a, sent, now) || w.rendersAlike(a, sent, now)
}

// rendersAlike reports whether planning shows two of its values as the same.
func (w *work) rendersAlike(a mapping.Attribute, x, y string) bool {
	return a.Spec().Form == mapping.FormMarkdown && w.SameRendering(x, y)
}

func isAttribute(field string) bool {
	return slices.Contains(mapping.Attributes, mapping.Attribute(field))
}

// written takes in one attribute of a successful PUT.
func (w *work) written(d mapping.Decision, up Updated) {
	shown := up.Values[d.Attribute]
	w.remarked(d)
	w.wroteTo(mapping.Planning, d.Attribute)
	if d.Attribute.Spec().Form == mapping.FormMarkdown {
		w.marked(mapping.Planning, shown.Value)
	}
	now, base := w.bare(d.Attribute, shown), d.Base
	if base.Planning == d.Planning.To {
		base = w.answered(d.Attribute, base, d.Planning.To, now)
	}
	if w.rewrites(d, now) {
		base.Planning, base.Version = now.Value, now.Version
	}
	w.setBase(d.Attribute, base)
	w.p[d.Attribute] = now
	w.count(CountWrites, w.link.Route, string(mapping.Planning), string(d.Attribute))
	w.note(mapping.Planning, d.Attribute, "write", d.Why)
}

// putFailed sorts out a PUT that did not succeed.
func (w *work) putFailed(item mapping.Ref, ds []mapping.Decision, put putFunc, err error) (moved bool, _ error) {
	var conflict *mapping.VersionConflict
	var refused *mapping.Rejection
	switch {
	case errors.As(err, &conflict):
		w.unpend(mapping.Planning, item)
		return true, w.takeCurrent(item, ds, conflict.Current)
	case errors.As(err, &refused) && len(ds) > 1:
		// One refused value must not keep the others: each on its own.
		w.unpend(mapping.Planning, item)
		for _, d := range ds {
			if moved, err := w.put(item, []mapping.Decision{d}, put); moved || err != nil {
				return moved, err
			}
		}
		return false, nil
	case errors.As(err, &refused):
		w.unpend(mapping.Planning, item)
		if refused.Words == "" {
			// Without a word it may as well be a version conflict.
			if err := w.takeCurrent(item, nil, nil); err != nil {
				return false, err
			}
			if sent := ds[0].Planning.Version; sent != mapping.ForceVersion && w.p[ds[0].Attribute].Version != sent {
				return true, nil
			}
		}
		w.refuseValue(mapping.Planning, ds[0].Attribute, ds[0].Planning.To, refused)
		return false, nil
	case IsGone(err):
		w.unpend(mapping.Planning, item)
		if !w.pair.HasIssue() {
			return true, nil // its tasks are read anew
		}
		if child := w.trackingPair(); child != nil && item == mapping.TaskRef(child.Card.ID) {
			return true, w.readTracking(child)
		}
		return true, w.missing(mapping.Planning, err)
	case Certain(err):
		w.unpend(mapping.Planning, item)
	}
	return false, onPlanning(err)
}

// takeCurrent takes the values that came with a refused PUT. Where none of
// them explains the refusal, the item is read.
func (w *work) takeCurrent(item mapping.Ref, ds []mapping.Decision, current map[mapping.Attribute]mapping.Versioned) error {
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
			return w.readTracking(child)
		}
		return w.readCard()
	}
	for a, v := range current {
		if a.Spec().Tracked != (item.Kind() == "task") && !w.pair.IsTask() {
			continue // a task's title and text are not the card's
		}
		w.p[a] = w.bare(a, v)
	}
	return nil
}

// writeGitHub makes the plan's writes to GitHub: single labels, and one PATCH.
// The set of labels is never replaced: other people's labels are theirs. Labels
// come first: on a closed issue nobody can tell that the in-progress label was
// changed before the issue is opened.
func (w *work) writeGitHub(plan mapping.Plan) error {
	var patch []mapping.Decision
	var edit IssueEdit
	var barred []mapping.Decision // whose labels we may not set
	var why error
	for _, d := range plan.Decisions {
		if d.GitHub == nil {
			continue
		}
		spec := d.Attribute.Spec()
		byLabel := spec.Carrier == mapping.CarrierLabels || spec.Carrier == mapping.CarrierState && !w.opensOrCloses(d)
		if spec.Relabel != nil {
			if !mapping.Same(d.Attribute, w.g[d.Attribute].Value, d.GitHub.From) {
				continue // a label's answer shows another one since: to be decided anew
			}
			switch ok, err := w.labelled(d); {
			case errors.Is(err, mapping.ErrForbidden) && byLabel:
				barred, why = append(barred, d), err
			case err != nil:
				return err
			case ok && byLabel:
				w.wroteGitHub(d, nil)
			}
		}
		if !byLabel {
			patch = append(patch, d)
			w.fill(&edit, d)
		}
	}
	if len(patch) == 0 {
		return why
	}
	if err := w.patch(patch, edit); err != nil {
		return err
	}
	for _, d := range barred { // the issue can be written, its labels cannot
		w.refuseLabel(d.Attribute, d.GitHub.To)
	}
	return nil
}

// refuseLabel blocks a value that only a label can carry.
func (w *work) refuseLabel(a mapping.Attribute, value string) {
	w.refuseValue(mapping.GitHub, a, value, &mapping.Rejection{Words: "GitHub does not take the label: the token has no right to set labels"})
}

// dropExtra removes the estimate labels that lost against another one, before
// the winner is written to planning: which of two labels is the new one shows
// only while the base is the old one.
func dropExtra(w *work) (verdict, error) {
	for _, d := range w.round.plan.Decisions {
		if d.Attribute.Spec().Carrier == mapping.CarrierLabels && d.GitHub != nil {
			return pass, nil // relabel sees to all of them
		}
	}
	return pass, w.swapLabels(nil, w.extra)
}

// wroteGitHub takes in that a decision's write to GitHub has happened, and the
// answer, where that is the issue.
func (w *work) wroteGitHub(d mapping.Decision, answer *mapping.Issue) {
	w.remarked(d)
	w.wroteTo(mapping.GitHub, d.Attribute)
	journal.MadeAgain(&w.pair.Journal, d.Attribute)
	w.wrote(d.Attribute, d.GitHub.From, w.Now(), answer)
	w.owner.Unfinished = true
	w.setBase(d.Attribute, d.Base)
	if d.Attribute.Spec().Carrier == mapping.CarrierBody {
		w.wroteItems()
	}
	w.count(CountWrites, w.link.Route, string(mapping.GitHub), string(d.Attribute))
	w.note(mapping.GitHub, d.Attribute, "write", d.Why)
	w.lag(mapping.GitHub)
}

func (w *work) opensOrCloses(d mapping.Decision) bool {
	return (d.GitHub.To == mapping.StateDone) != (w.issue.State == "closed")
}

func (w *work) fill(edit *IssueEdit, d mapping.Decision) {
	switch d.Attribute.Spec().Carrier {
	case mapping.CarrierTitle:
		edit.Title = &d.GitHub.To
	case mapping.CarrierBody:
		body := w.issueText(d.GitHub.To)
		edit.Body = &body
	case mapping.CarrierState:
		state, reason := "open", "reopened"
		if d.GitHub.To == mapping.StateDone {
			state, reason = "closed", "completed"
		}
		edit.State, edit.StateReason = &state, &reason
	}
}

// patch makes one PATCH with its pending records around it. They stay, as
// answered, until the echo shows what the PATCH ran over.
func (w *work) patch(ds []mapping.Decision, edit IssueEdit) error {
	item := mapping.IssueRef(w.owner.Issue.ID)
	w.pend(mapping.GitHub, item, ds)
	milestone := w.milestoneAlong()
	if err := w.writing(); err != nil {
		w.unpend(mapping.GitHub, item)
		return err
	}
	issue, err := w.edit(edit, milestone)
	if err != nil {
		return w.patchFailed(item, ds, err)
	}
	journal.Answer(&w.pair.Journal, item, ds)
	for _, d := range ds {
		w.wroteGitHub(d, &issue)
	}
	w.setIssue(&issue)
	w.know(&issue)
	w.stepped(&issue)
	return nil
}

func (w *work) patchFailed(item mapping.Ref, ds []mapping.Decision, err error) error {
	var refused *mapping.Rejection
	switch {
	case errors.As(err, &refused) && len(ds) > 1:
		w.unpend(mapping.GitHub, item)
		for _, d := range ds {
			var edit IssueEdit
			w.fill(&edit, d)
			if err := w.patch([]mapping.Decision{d}, edit); err != nil {
				return err
			}
		}
		return nil
	case errors.As(err, &refused):
		w.unpend(mapping.GitHub, item)
		w.refuseValue(mapping.GitHub, ds[0].Attribute, ds[0].GitHub.To, refused)
		return nil
	case IsGone(err):
		w.unpend(mapping.GitHub, item)
		return w.missing(mapping.GitHub, err)
	case Certain(err):
		w.unpend(mapping.GitHub, item)
	}
	return onGitHub(err)
}

// labelled is relabel with a pending record around it.
func (w *work) labelled(d mapping.Decision) (bool, error) {
	item := mapping.IssueRef(w.owner.Issue.ID)
	w.pend(mapping.GitHub, item, []mapping.Decision{d})
	ok, err := w.relabel(d)
	if err == nil || errors.Is(err, mapping.ErrForbidden) {
		journal.Close(&w.pair.Journal, mapping.GitHub, item, d.Attribute)
	}
	return ok, err
}

// relabel brings the labels in line with an estimate or a state that planning
// changed. It reports false when GitHub drops the label in silence, and when a
// person set another one meanwhile.
func (w *work) relabel(d mapping.Decision) (bool, error) {
	add, remove := d.Attribute.Spec().Relabel(w.set.Scheme, w.issue.Labels, d.GitHub.To)
	if err := w.swapLabels(add, nil); err != nil {
		return false, err
	}
	for _, l := range add {
		if !containsFold(w.issue.Labels, l) {
			w.refuseLabel(d.Attribute, d.GitHub.To)
			return false, nil
		}
	}
	if err := w.swapLabels(nil, slices.DeleteFunc(remove, func(l string) bool { return containsFold(add, l) })); err != nil {
		return false, err
	}
	if d.Attribute.Spec().Carrier == mapping.CarrierLabels && w.swappedMeanwhile(add) {
		return false, w.swapLabels(nil, add)
	}
	return true, nil
}

// swappedMeanwhile reports that the issue has an estimate label beside ours: a
// person set it while we did. Ours goes again, and both sides have changed.
func (w *work) swappedMeanwhile(ours []string) bool {
	_, all := w.set.Scheme.EstimateOf(w.issue.Labels, "")
	return slices.ContainsFunc(all, func(l string) bool { return !containsFold(ours, l) })
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(x, s) })
}

// swapLabels adds and removes single labels; repeating it does no harm, so it
// needs no pending record.
func (w *work) swapLabels(add, remove []string) error {
	if len(add)+len(remove) == 0 {
		return nil
	}
	if err := w.writing(); err != nil {
		return err
	}
	issue := *w.issue
	if len(add) > 0 {
		if err := w.addLabels(&issue, add); err != nil {
			return err
		}
	}
	for _, l := range remove {
		if err := w.removeLabel(&issue, l); err != nil {
			return err
		}
		if value, is := w.set.Scheme.EstimateOf([]string{l}, ""); len(is) > 0 {
			w.wrote(mapping.Estimate, value, w.Now(), nil)
		}
	}
	w.setIssue(&issue)
	return nil
}
