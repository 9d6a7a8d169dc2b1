package reconcile

import (
	"context"
	"slices"
	"time"

	"planbridge/mapping"
)

// pend records the writes that are about to be made. They are saved, under the
// lease, before the first of them goes out (see writing).
func (w *work) pend(side mapping.Side, item mapping.Ref, ds []mapping.Decision) {
	for _, d := range ds {
		write := d.Planning
		if side == mapping.GitHub {
			write = d.GitHub
		}
		p := mapping.Pending{
			ID: mapping.NewNonce(), Side: side, Item: item, Attribute: d.Attribute,
			From: write.From, To: write.To, Next: d.Base, At: time.Now().UTC(),
		}
		if side == mapping.GitHub && w.issue != nil {
			p.After, p.Edited = w.issue.UpdatedAt, w.editedInPlanning(d.Attribute)
			p.Restores = !mapping.Same(d.Attribute, write.To, d.Base.GitHub)
		}
		if old, ok := w.link.Base[d.Attribute]; ok {
			p.Old = &old
		}
		w.link.Pending = append(w.link.Pending, p)
	}
	if side == mapping.GitHub && slices.ContainsFunc(ds, func(d mapping.Decision) bool { return d.Attribute.Spec().Carrier == mapping.CarrierBody }) {
		w.pendItems()
	}
}

// madeAgain notes that a write to GitHub has happened: it holds what late ones
// would have restored.
func (w *work) madeAgain(a mapping.Attribute) {
	for i := range w.link.Late {
		if o := &w.link.Late[i]; o.Side == mapping.GitHub && o.Attribute == a {
			o.Restores = false
		}
	}
}

// unpend removes the unanswered records of a side and item, and returns them: their
// outcome is known.
func (w *work) unpend(side mapping.Side, item mapping.Ref, attrs ...mapping.Attribute) (removed []mapping.Pending) {
	w.link.Pending = slices.DeleteFunc(w.link.Pending, func(p mapping.Pending) bool {
		is := p.Side == side && p.Item == item && !p.Answered && (len(attrs) == 0 || slices.Contains(attrs, p.Attribute))
		if is {
			removed = append(removed, p)
		}
		return is
	})
	if side == mapping.GitHub && len(attrs) == 0 {
		for _, c := range w.items() {
			w.forgetItem(c)
		}
	}
	return removed
}

// verify finds out what became of writes whose outcome is not known, and what
// stood on GitHub when those took effect that have.
func (w *work) verify(ctx context.Context) error {
	if w.set.DryRun {
		return nil // whoever writes again will see to it
	}
	if err := w.readPending(ctx); err != nil {
		return err
	}
	if err := w.finishSwap(ctx); err != nil {
		return err
	}
	before := map[string]ranOver{}
	w.echoes(w.edits, before)
	w.tellApart(ctx, before)
	w.askClosed(ctx, before)
	w.recoverAll(before, w.askReplaced(ctx, before))
	if w.issue != nil && w.takesBack(w.issue) {
		return w.errLags() // it was read before it was known what had happened
	}
	if w.issue == nil && w.unbased() {
		if err := w.readIssue(ctx); err != nil {
			return err
		}
	}
	w.lookBack(ctx, before)
	if err := w.settleLate(ctx, before); err != nil {
		return err
	}
	for _, p := range slices.Clone(w.link.Pending) {
		was, ok := before[p.ID]
		if !ok || p.Verified {
			continue
		}
		if !mapping.Same(p.Attribute, was.text, p.From) && w.lost(p, was.text, before) {
			if err := w.bringBack(ctx, lostUpdate{p, was.text, was.at}); err != nil {
				return err
			}
		}
		w.verified(p, was)
	}
	return nil
}

// finishSwap takes off the old estimate label where a swap got only as far as
// the new one: which of two labels is the new one shows only while the base is
// the old one. Where a person set another one meanwhile ours goes, too, as it
// does while the swap is made.
func (w *work) finishSwap(ctx context.Context) error {
	for _, p := range w.link.Pending {
		if p.Attribute.Spec().Carrier != mapping.CarrierLabels || p.Side != mapping.GitHub || p.Answered || w.issue == nil {
			continue
		}
		was, is := w.set.Scheme.EstimateLabel(p.From), w.set.Scheme.EstimateLabel(p.To)
		if was == is || !containsFold(w.issue.Labels, is) {
			continue
		}
		var off []string
		if w.swappedMeanwhile([]string{was, is}) {
			off = append(off, is)
		}
		if containsFold(w.issue.Labels, was) {
			off = append(off, was)
		}
		if err := w.swapLabels(ctx, nil, off); err != nil {
			return err
		}
	}
	return nil
}

// recoverAll decides what became of each write of unknown outcome. A write to
// GitHub that happened is from now on one whose echo is awaited; one that did
// not may still be under way.
func (w *work) recoverAll(before map[string]ranOver, denied map[string]bool) {
	var kept []mapping.Pending
	for _, p := range w.link.Pending {
		if p.Answered {
			kept = append(kept, p)
			continue
		}
		_, echoed := before[p.ID]
		happened := w.recover(p, echoed, denied[p.ID])
		if happened && p.Side == mapping.GitHub && p.Attribute.Spec().Carrier == mapping.CarrierBody {
			w.wroteItems()
		}
		switch {
		case !happened:
			w.mayCome(p)
		case p.Side != mapping.GitHub:
		case p.Attribute.Spec().HasHistory():
			w.madeAgain(p.Attribute)
			p.Answered, p.At = true, time.Now().UTC()
			kept = append(kept, p)
		}
	}
	w.link.Pending = kept
}

// verified notes that the echo of a write was dealt with. The record stays until
// the sides agree.
func (w *work) verified(done mapping.Pending, over ranOver) {
	spent := spentOn(done, over)
	for _, records := range [][]mapping.Pending{w.link.Pending, w.link.Late} {
		for i := range records {
			if p := &records[i]; p.ID == done.ID {
				p.Answered, p.Verified, spent.Restores = true, true, p.Restores
			}
		}
	}
	if over.at.IsZero() {
		return
	}
	if w.link.Spent = append(w.link.Spent, spent); len(w.link.Spent) > maxSpent {
		w.link.Spent = slices.Delete(w.link.Spent, 0, 1)
	}
}

func (w *work) forget(id string) {
	w.link.Pending = slices.DeleteFunc(w.link.Pending, func(p mapping.Pending) bool { return p.ID == id })
}

// readPending reads every item that a write of unknown outcome was made to.
func (w *work) readPending(ctx context.Context) error {
	var issue, card, task bool
	for _, p := range w.link.Pending {
		if p.Answered {
			continue
		}
		switch p.Item.Kind() {
		case "issue":
			issue, task = true, task || p.Attribute.Spec().Tracked
		case "card":
			card = true
		case "task":
			card, task = card || w.link.Task, true
		}
	}
	if issue && !w.fresh {
		if err := w.readIssue(ctx); err != nil {
			return err
		}
	}
	if card && !w.looked {
		if err := w.readCard(ctx); err != nil {
			return err
		}
	}
	if child := w.link.Child(mapping.Tracking); task && child != nil && !w.looked {
		return w.readTracking(ctx, child)
	}
	return nil
}

// recover decides what became of one write of unknown outcome. A side that
// holds the pending value, or a person's edit built on it, is from now on
// compared with that value and not with the old base; what GitHub, when asked,
// denies (denied) was built on by nobody. A state has but three values, so that a person may have
// set the same: without an event of our own the two sides are as at first sight.
func (w *work) recover(p mapping.Pending, echoed, denied bool) (happened bool) {
	now, ok := w.p[p.Attribute]
	if p.Side == mapping.GitHub {
		now, ok = w.g[p.Attribute]
	}
	if !ok {
		return echoed
	}
	happened = echoed || mapping.Same(p.Attribute, now.Value, p.To) && !w.somebodyWrote(p) ||
		p.Side == mapping.Planning && w.rendersAlike(p.Attribute, now.Value, p.To) ||
		!denied && w.builtOn(p, now)
	if !happened {
		if wentBack(p, now) || w.otherWentBack(p, now) || replaced(p, now) {
			delete(w.link.Base, p.Attribute)
			w.note(p.Side, p.Attribute, "recover", "a write whose answer was lost, or another one, was undone or replaced")
		}
		return false
	}
	if p.Attribute.Spec().Form == mapping.FormWord && !echoed && (p.Side == mapping.GitHub && !w.GitHub.Whose(w.issue.Editor).Ours() ||
		p.Side == mapping.Planning) {
		delete(w.link.Base, p.Attribute)
		w.note(p.Side, p.Attribute, "recover", "a write whose answer was lost had happened, or a person did the same")
		return false
	}
	if p.Side == mapping.GitHub {
		w.wrote(p.Attribute, p.From, time.Now(), nil)
		if echoed {
			w.link.Wrote[len(w.link.Wrote)-1].To = mapping.DigestValue(p.Attribute, p.To)
		}
	}
	base := p.Next
	if p.Side == mapping.Planning && base.Planning == p.To {
		base.Version = now.Version
		if mapping.Same(p.Attribute, now.Value, p.To) || w.SameRendering(now.Value, p.To) {
			base.Planning = now.Value
		}
	}
	w.setBase(p.Attribute, base)
	w.note(p.Side, p.Attribute, "recover", "a write whose answer was lost had happened")
	return true
}

// wentBack reports that planning holds what it held, or what was agreed on,
// before a write of unknown outcome, yet two versions later: that write, or a person, changed it, and then a
// person changed it back. Compared with the old base that would be no change, so
// the two sides are from then on as at first sight.
func wentBack(p mapping.Pending, now mapping.Versioned) bool {
	return p.Side == mapping.Planning && p.Old != nil && now.Version >= p.Next.Version+2 &&
		(mapping.Same(p.Attribute, now.Value, p.From) || mapping.Same(p.Attribute, now.Value, p.Old.Planning))
}

// replaced reports that GitHub, of which no memory of this attribute can be asked,
// holds neither what a write of unknown outcome wrote nor what stood there before:
// whether a person replaced the one or the other is not known. Compared with the
// old base, planning would not have changed once its change was taken back.
func replaced(p mapping.Pending, now mapping.Versioned) bool {
	return p.Side == mapping.GitHub && !p.Attribute.Spec().HasHistory() && !mapping.Same(p.Attribute, now.Value, p.From)
}

// otherWentBack reports that GitHub, from which a write of unknown outcome to
// planning was made, is again as it was agreed on before, and planning is
// somebody's edit of either. Compared with the old base only planning would have
// changed, and who took the edit on GitHub back would not be heard.
func (w *work) otherWentBack(p mapping.Pending, now mapping.Versioned) bool {
	g, ok := w.g[p.Attribute]
	return ok && p.Side == mapping.Planning && p.Old != nil && now.Version >= p.Next.Version+2 &&
		mapping.Same(p.Attribute, g.Value, p.Old.GitHub) && !mapping.Same(p.Attribute, g.Value, p.Next.GitHub)
}

// builtOn reports whether a value that is neither what stood there before a
// lost write nor what was written is a person's edit of what was written.
//
// Planning's version can tell that it is not: our write carried the old
// version, so it happened only as the first change after it. On GitHub the
// edit's own event tells what it was made from. Where neither does, only a text
// that holds all that was written is taken for an edit of it: two other edits
// raise the version as much, and what they are taken for must not be wrong.
func (w *work) builtOn(p mapping.Pending, now mapping.Versioned) bool {
	late := func(o mapping.Pending) bool {
		return o.Side == p.Side && o.Attribute == p.Attribute && mapping.Same(p.Attribute, now.Value, o.To)
	}
	if mapping.Same(p.Attribute, now.Value, p.From) || slices.ContainsFunc(w.link.Late, late) {
		return false
	}
	if p.Side == mapping.Planning && (p.Old == nil || now.Version < p.Next.Version+2) {
		return false
	}
	for _, e := range w.edits {
		if p.Side != mapping.GitHub {
			break
		}
		if from, to, ok := editOf(e, p.Attribute); ok && !w.GitHub.Whose(e.Sender).Ours() && mapping.Same(p.Attribute, w.strip(to), now.Value) {
			return mapping.Same(p.Attribute, w.strip(from), p.To)
		}
	}
	if !p.Attribute.Spec().Mergeable() {
		return false
	}
	both, clean := w.merge(p.From, p.To, now.Value)
	return clean && mapping.Same(p.Attribute, both, now.Value)
}

// somebodyWrote reports whether an event tells that a person wrote to GitHub
// what a write of ours would have.
func (w *work) somebodyWrote(p mapping.Pending) bool {
	return p.Side == mapping.GitHub && slices.ContainsFunc(w.edits, func(e mapping.Edit) bool {
		_, to, ok := editOf(e, p.Attribute)
		return ok && !w.GitHub.Whose(e.Sender).Perhaps() && mapping.Same(p.Attribute, w.strip(to), p.To)
	})
}

// editOf returns what an edit event says of one attribute.
func editOf(e mapping.Edit, a mapping.Attribute) (from, to string, ok bool) {
	edited := a.Spec().Edited
	if edited == nil {
		return "", "", false
	}
	before, after := edited(&e)
	if before == nil {
		return "", "", false
	}
	return *before, after, true
}

func (w *work) strip(text string) string {
	body, _ := w.set.Keys.Body(text)
	return body
}
