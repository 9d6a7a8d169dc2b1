package reconcile

import (
	"errors"
	"slices"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// pend records the writes that are about to be made. They are saved, under the
// lease, before the first of them goes out (see writing).
func (w *work) pend(side mapping.Side, item mapping.Ref, ds []mapping.Decision) {
	for _, d := range ds {
		edited := w.editedInPlanning(d.Attribute)
		w.pair.Pending = append(w.pair.Pending, w.book().Record(w.draw(), side, item, d, edited))
	}
	if side == mapping.GitHub && slices.ContainsFunc(ds, func(d mapping.Decision) bool { return d.Attribute.Spec().Carrier == mapping.CarrierBody }) {
		w.pendItems()
	}
}

// unpend removes the unanswered records of a side and item, and returns them: their
// outcome is known.
func (w *work) unpend(side mapping.Side, item mapping.Ref) (removed []mapping.Pending) {
	removed = journal.Close(&w.pair.Journal, side, item)
	if side == mapping.GitHub {
		for _, c := range w.items() {
			w.forgetItem(c)
		}
	}
	return removed
}

// verify finds out what became of writes whose outcome is not known, and what
// stood on GitHub when those took effect that have.
func (w *work) verify() error {
	if err := w.readPending(); err != nil {
		return err
	}
	if err := w.finishSwap(); err != nil {
		return err
	}
	before := journal.Match(&w.pair.Journal, w.editEvents(), nil)
	w.tellApart(before)
	w.askClosed(before)
	w.recoverAll(before, w.askReplaced(before))
	if w.issue != nil && w.takesBack(w.issue) {
		return w.errLags() // it was read before it was known what had happened
	}
	if w.issue == nil && w.unbased() {
		if err := w.readIssue(); err != nil {
			return err
		}
	}
	w.lookBack(before)
	if err := w.settleLate(before); err != nil {
		return err
	}
	for _, p := range slices.Clone(w.pair.Pending) {
		was, ok := before[p.ID]
		if !ok || p.Verified {
			continue
		}
		if !mapping.Same(p.Attribute, was.Text, p.From) && w.book().Lost(p, was.Text, before) {
			err := w.bringBack(journal.LostUpdate{Write: p, Text: was.Text, By: was.At})
			if errors.As(err, &w.withheld) { // the text is kept once the repository is private again
				continue
			}
			if err != nil {
				return err
			}
		}
		journal.Verify(&w.pair.Journal, p, was)
	}
	return nil
}

// finishSwap takes off the old estimate label where a swap got only as far as
// the new one: which of two labels is the new one shows only while the base is
// the old one. Where a person set another one meanwhile ours goes, too, as it
// does while the swap is made.
func (w *work) finishSwap() error {
	for _, p := range w.pair.Pending {
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
		if err := w.swapLabels(nil, off); err != nil {
			return err
		}
	}
	return nil
}

// recoverAll takes in what became of the writes of unknown outcome.
func (w *work) recoverAll(before journal.Matches, denied map[string]bool) {
	for _, r := range w.book().RecoverAll(before, denied) {
		w.recovered(r)
		if r.Happened && r.Side == mapping.GitHub && r.Attribute.Spec().Carrier == mapping.CarrierBody {
			w.wroteItems()
		}
	}
}

// recovered takes in what became of one write of unknown outcome.
func (w *work) recovered(r journal.Recovered) {
	if r.Unbased {
		delete(w.pair.Base, r.Attribute)
	}
	if r.Base != nil {
		w.setBase(r.Attribute, *r.Base)
	}
	if r.Why != "" {
		w.note(r.Side, r.Attribute, "recover", r.Why)
	}
}

// readPending reads every item that a write of unknown outcome was made to.
func (w *work) readPending() error {
	open := journal.UnansweredIn(&w.pair.Journal, w.pair.IsTask())
	if open.Issue && !w.fresh {
		if err := w.readIssue(); err != nil {
			return err
		}
	}
	if open.Card && !w.looked {
		if err := w.readCard(); err != nil {
			return err
		}
	}
	if child := w.trackingPair(); open.Tracking && child != nil && !w.looked {
		return w.readTracking(child)
	}
	return nil
}

// book is the link's journal, with what is known now.
func (w *work) book() journal.Book {
	return journal.Book{
		Journal: &w.pair.Journal, Edits: w.editEvents(), Base: w.pair.Base, GitHub: w.g, Planning: w.p, Issue: w.issue, Known: w.owner.Issue.UpdatedAt, Agreed: w.owner.Issue.Agreed,
		SameRendering: w.SameRendering, Merge: w.merge, Settle: w.set.Settle.GitHub, Now: w.Now(),
	}
}

// editEvents are the edits that this claim's events told of.
func (w *work) editEvents() journal.Edits { return w.editsOf(w.edits) }

// editsOf are edits that GitHub told of in any way.
func (w *work) editsOf(edits []mapping.Edit) journal.Edits {
	return journal.Edits{All: edits, Whose: w.Whose, Bare: w.strip}
}

func (w *work) strip(text string) string {
	body, _ := w.set.Keys.Body(text)
	return body
}
