package reconcile

import (
	"context"
	"maps"
	"slices"
	"time"

	"planbridge/mapping"
)

// echoes finds the edits that our writes on record made, and returns by the
// record's id what stood there when each took effect. One value may have been
// written twice: an edit that came from what was expected goes first, and the
// newest record, which the fewest edits can be of.
func (w *work) echoes(edits []mapping.Edit) map[string]string {
	type part struct {
		edit int
		attr mapping.Attribute
	}
	before, taken := map[string]string{}, map[part]bool{}
	for _, expected := range []bool{true, false} {
		for _, p := range slices.Backward(slices.Concat(w.link.Late, w.link.Pending)) {
			if _, ok := before[p.ID]; ok || p.Side != mapping.GitHub {
				continue
			}
			for i, e := range edits {
				was, ok := w.made(p, e)
				if !ok || taken[part{i, p.Attribute}] || expected && !mapping.Same(p.Attribute, was, p.From) {
					continue
				}
				before[p.ID], taken[part{i, p.Attribute}] = was, true
				break
			}
		}
	}
	return before
}

// made reports whether an edit may be what a write of ours made, and what
// stood there before it.
func (w *work) made(p mapping.Pending, e mapping.Edit) (was string, ok bool) {
	from, to, ok := editOf(e, p.Attribute)
	ok = ok && w.GitHub.Whose(e.Sender).Perhaps() && !e.At.Before(p.After) && mapping.Same(p.Attribute, w.strip(to), p.To)
	return w.strip(from), ok
}

// wroteOurselves reports whether a value that a write of ours ran over was
// written by another one of ours.
func (w *work) wroteOurselves(p mapping.Pending, value string) bool {
	return slices.ContainsFunc(slices.Concat(w.link.Pending, w.link.Late), func(o mapping.Pending) bool {
		return o.ID != p.ID && o.Side == mapping.GitHub && o.Attribute == p.Attribute && mapping.Same(p.Attribute, value, o.To)
	})
}

// lookBack asks GitHub what it remembers of the writes whose echo is overdue
// and adds what stood before them. Where GitHub does not tell, the record is
// dropped and the history says so; where it is away, it is asked later.
func (w *work) lookBack(ctx context.Context, before map[string]string) {
	asked := map[mapping.Attribute]error{}
	for _, p := range slices.Clone(w.link.Pending) {
		if _, ok := before[p.ID]; ok || !p.Answered || p.Verified || time.Since(p.At) < w.set.Settle.GitHub {
			continue
		}
		err, known := asked[p.Attribute]
		if !known {
			err = w.remembered(ctx, p.Attribute, before)
			asked[p.Attribute] = err
		}
		if _, ok := before[p.ID]; ok {
			continue
		}
		if err != nil && !mapping.Refused(err) {
			w.log.Warn("an echo is overdue and GitHub cannot be asked", "attribute", p.Attribute, "err", err)
			continue
		}
		why := "GitHub tells of no such edit"
		if err != nil {
			why = "GitHub does not tell: " + err.Error()
		}
		w.note(mapping.GitHub, p.Attribute, "unverified", "whether a write ran over an edit is not known: its echo never came, and "+why)
		w.forget(p.ID)
	}
}

// askReplaced asks GitHub about the writes of unknown outcome of which GitHub
// shows neither what they wrote nor what stood there before: they may have
// happened, and run over an edit, before somebody replaced them.
func (w *work) askReplaced(ctx context.Context, before map[string]string) {
	for _, p := range w.link.Pending {
		if _, echoed := before[p.ID]; echoed || p.Answered || p.Side != mapping.GitHub || p.Attribute != mapping.Title && p.Attribute != mapping.Summary {
			continue
		}
		now := w.g[p.Attribute].Value
		if mapping.Same(p.Attribute, now, p.To) || mapping.Same(p.Attribute, now, p.From) {
			continue
		}
		if err := w.remembered(ctx, p.Attribute, before); err != nil {
			w.log.Warn("whether a write happened is not known and GitHub cannot be asked", "attribute", p.Attribute, "err", err)
		}
	}
}

// remembered adds what GitHub remembers of one attribute's edits. Of late writes
// it counts only where what they wrote stood there when another one of ours took
// effect, or since that was written again: GitHub remembers edits that were dealt
// with, too, and one of them may have written what a late write would.
func (w *work) remembered(ctx context.Context, a mapping.Attribute, before map[string]string) error {
	edits, err := w.GitHub.Edits(ctx, w.link.Issue, a)
	if err != nil {
		return err
	}
	since := func(at time.Time) map[string]string {
		return w.echoes(slices.DeleteFunc(slices.Clone(edits), func(e mapping.Edit) bool { return e.At.Before(at) }))
	}
	add := func(p mapping.Pending, found map[string]string) {
		was, ok := found[p.ID]
		if _, known := before[p.ID]; ok && !known {
			before[p.ID] = was
		}
	}
	all := w.echoes(edits)
	for _, p := range w.link.Pending {
		add(p, all)
	}
	for _, p := range w.link.Late {
		if again := w.writtenAgain(p); again != nil {
			add(p, since(again.After))
		} else if w.stoodThere(p, before) {
			add(p, since(p.After))
		}
	}
	return nil
}

// writtenAgain is the write awaiting its echo that wrote what a late one would
// have; nil: none.
func (w *work) writtenAgain(late mapping.Pending) *mapping.Pending {
	i := slices.IndexFunc(w.link.Pending, func(p mapping.Pending) bool {
		return p.Side == late.Side && p.Attribute == late.Attribute && !p.Verified && mapping.Same(p.Attribute, p.To, late.To)
	})
	if i < 0 {
		return nil
	}
	return &w.link.Pending[i]
}

// stoodThere reports whether a write ran over what a late one wrote: that has
// happened then.
func (w *work) stoodThere(late mapping.Pending, before map[string]string) bool {
	return slices.ContainsFunc(w.link.Pending, func(p mapping.Pending) bool {
		was, ok := before[p.ID]
		return ok && p.Attribute == late.Attribute && mapping.Same(p.Attribute, was, late.To) && !mapping.Same(p.Attribute, was, p.From)
	})
}

// tellApart asks GitHub about late writes that have happened, as another one of
// ours ran over what they wrote, and about those whose echo may be that of the
// write that was made in their stead: each ran over something else.
func (w *work) tellApart(ctx context.Context, before map[string]string) {
	for _, p := range w.link.Late {
		again := w.writtenAgain(p)
		_, told := before[p.ID]
		unclear := !told && w.stoodThere(p, before)
		if again != nil {
			_, other := before[again.ID]
			unclear = told || other
		}
		if !unclear {
			continue
		}
		found := map[string]string{}
		if err := w.remembered(ctx, p.Attribute, found); err != nil {
			w.log.Warn("which of our writes ran over what is not known and GitHub cannot be asked", "attribute", p.Attribute, "err", err)
			continue
		}
		delete(before, p.ID)
		if again != nil {
			delete(before, again.ID)
		}
		maps.Copy(before, found)
	}
}

// verifyLater makes the key come back when the echo of a write is overdue.
func (w *work) verifyLater() {
	for _, p := range w.link.Pending {
		wait := w.set.Settle.GitHub - time.Since(p.At)
		if wait <= 0 {
			wait = w.set.Settle.GitHub // GitHub could not be asked
		}
		if p.Answered && !p.Verified && wait > w.after {
			w.after = wait
		}
	}
}
