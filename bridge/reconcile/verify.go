package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"planbridge/mapping"
)

// ranOver is what stood on GitHub when a write of ours took effect, and GitHub's
// time of that.
type ranOver struct {
	text string
	at   time.Time
}

// maxSpent bounds the edits that are known to be spent; the newest are kept.
const maxSpent = 32

// echoes finds the edits that our writes on record made, and adds by the
// record's id what stood there when each took effect. Each edit is of one write
// only, and one that was dealt with is of no other. One value may have been
// written twice: an edit that came from what was expected goes first, and the
// newest record, which the fewest edits can be of.
func (w *work) echoes(edits []mapping.Edit, before map[string]ranOver) {
	type part struct {
		edit int
		attr mapping.Attribute
	}
	records, taken := slices.Concat(w.link.Late, w.link.Pending), map[part]bool{}
	spent := slices.Clone(w.link.Spent)
	for _, p := range records {
		if over, ok := before[p.ID]; ok && !p.Verified {
			spent = append(spent, spentOn(p, over))
		}
	}
	for _, s := range spent {
		for i, e := range edits {
			if !taken[part{i, s.Attribute}] && w.isSpent(s, e) {
				taken[part{i, s.Attribute}] = true
				break
			}
		}
	}
	for _, expected := range []bool{true, false} {
		for _, p := range slices.Backward(records) {
			if _, ok := before[p.ID]; ok || p.Verified || p.Side != mapping.GitHub {
				continue
			}
			for i, e := range edits {
				was, ok := w.made(p, e)
				if !ok || taken[part{i, p.Attribute}] || expected && !mapping.Same(p.Attribute, was, p.From) {
					continue
				}
				before[p.ID], taken[part{i, p.Attribute}] = ranOver{was, e.At}, true
				break
			}
		}
	}
}

func spentOn(p mapping.Pending, over ranOver) mapping.Spent {
	return mapping.Spent{Attribute: p.Attribute, From: mapping.DigestValue(p.Attribute, over.text), To: mapping.DigestValue(p.Attribute, p.To), At: over.at}
}

// isSpent reports whether an edit is one that was dealt with.
func (w *work) isSpent(s mapping.Spent, e mapping.Edit) bool {
	from, to, ok := editOf(e, s.Attribute)
	return ok && s.At.Equal(e.At) && s.From == mapping.DigestValue(s.Attribute, w.strip(from)) && s.To == mapping.DigestValue(s.Attribute, w.strip(to))
}

// made reports whether an edit may be what a write of ours made, and what
// stood there before it.
func (w *work) made(p mapping.Pending, e mapping.Edit) (was string, ok bool) {
	from, to, ok := editOf(e, p.Attribute)
	ok = ok && w.GitHub.Whose(e.Sender).Perhaps() && !e.At.Before(p.After) && mapping.Same(p.Attribute, w.strip(to), p.To)
	return w.strip(from), ok
}

// lost reports whether a value that a write of ours ran over is missed: it was
// agreed on, or not written by another one of ours.
func (w *work) lost(p mapping.Pending, value string, before map[string]ranOver) bool {
	return mapping.Same(p.Attribute, value, w.link.Base[p.Attribute].GitHub) || !w.wroteOurselves(p, value, before)
}

// wroteOurselves reports whether a value that a write of ours ran over was
// written by another one of ours that is known to have happened. Where that
// restored an edit, it wrote what is lost when it is run over.
func (w *work) wroteOurselves(p mapping.Pending, value string, before map[string]ranOver) bool {
	is := mapping.DigestValue(p.Attribute, value)
	return slices.ContainsFunc(slices.Concat(w.link.Pending, w.link.Late), func(o mapping.Pending) bool {
		_, told := before[o.ID]
		return o.ID != p.ID && (told || o.Answered) && !o.Restores && o.Side == mapping.GitHub && o.Attribute == p.Attribute && mapping.Same(p.Attribute, value, o.To)
	}) || slices.ContainsFunc(w.link.Spent, func(s mapping.Spent) bool { return s.Attribute == p.Attribute && s.To == is && !s.Restores })
}

// lookBack asks GitHub what it remembers of the writes whose echo is overdue
// and adds what stood before them. Where GitHub does not tell, the record is
// dropped and the history says so; where it is away, it is asked later.
func (w *work) lookBack(ctx context.Context, before map[string]ranOver) {
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
// happened, and run over an edit, before somebody replaced them. It returns those
// of which GitHub remembers nothing.
func (w *work) askReplaced(ctx context.Context, before map[string]ranOver) map[string]bool {
	denied := map[string]bool{}
	for _, p := range w.link.Pending {
		if _, echoed := before[p.ID]; echoed || p.Answered || p.Side != mapping.GitHub || !p.Attribute.Spec().HasHistory() {
			continue
		}
		now := w.g[p.Attribute].Value
		if mapping.Same(p.Attribute, now, p.To) || mapping.Same(p.Attribute, now, p.From) {
			continue
		}
		if err := w.remembered(ctx, p.Attribute, before); err != nil {
			w.log.Warn("whether a write happened is not known and GitHub cannot be asked", "attribute", p.Attribute, "err", err)
			continue
		}
		_, echoed := before[p.ID]
		denied[p.ID] = !echoed
	}
	return denied
}

// askClosed asks GitHub whether writes of unknown outcome closed the issue, which is open:
// then a person has reopened it since.
func (w *work) askClosed(ctx context.Context, before map[string]ranOver) {
	for _, p := range w.link.Pending {
		now, known := w.g[p.Attribute]
		if p.Attribute != mapping.State || p.Side != mapping.GitHub || p.Answered || p.To != mapping.StateDone || !known || now.Value == p.To {
			continue
		}
		closed, err := w.atGitHub().Closed(ctx, w.link.Issue.Repo, w.link.Issue.Number, p.After)
		if err != nil {
			w.log.Warn("whether a write closed the issue is not known and GitHub cannot be asked", "err", err)
		}
		if closed {
			before[p.ID] = ranOver{text: p.From}
		}
	}
}

// remembered adds what GitHub remembers of one attribute's edits.
func (w *work) remembered(ctx context.Context, a mapping.Attribute, before map[string]ranOver) error {
	edits, err := w.atGitHub().Edits(ctx, w.link.Issue, a)
	if err == nil {
		w.echoes(edits, before)
	}
	return err
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

// ranOverMore reports whether a write of ours ran over something else than what it
// was made from: a late one may be among what happened in between.
func (w *work) ranOverMore(a mapping.Attribute, before map[string]ranOver) bool {
	return slices.ContainsFunc(slices.Concat(w.link.Pending, w.link.Late), func(p mapping.Pending) bool {
		was, ok := before[p.ID]
		return ok && p.Attribute == a && !mapping.Same(a, was.text, p.From)
	})
}

// tellApart asks GitHub about late writes that may have happened before another one
// of ours, which ran over something else than it was made from, and about those
// whose echo may be that of the write that was made in their stead.
func (w *work) tellApart(ctx context.Context, before map[string]ranOver) {
	for _, a := range mapping.AttributesWith((*mapping.AttrSpec).HasHistory) {
		found, unclear := maps.Clone(before), false
		for _, p := range w.link.Late {
			if p.Side != mapping.GitHub || p.Attribute != a || p.Verified {
				continue
			}
			_, told := before[p.ID]
			if again := w.writtenAgain(p); again == nil {
				unclear = unclear || !told && w.ranOverMore(a, before)
			} else if _, other := before[again.ID]; told || other {
				unclear = true
				delete(found, p.ID)
				delete(found, again.ID)
			}
		}
		if !unclear {
			continue
		}
		if err := w.remembered(ctx, a, found); err != nil {
			w.log.Warn("which of our writes ran over what is not known and GitHub cannot be asked", "attribute", a, "err", err)
			continue
		}
		clear(before)
		maps.Copy(before, found)
	}
}

// verifyLater makes the key come back when the echo of a write is overdue, or one that
// seemed lost cannot be under way any more.
func (w *work) verifyLater() {
	for _, p := range w.link.Pending {
		wait := w.set.Settle.GitHub - time.Since(p.At)
		if wait <= 0 {
			wait = w.set.Settle.GitHub // GitHub could not be asked
		}
		if p.Answered && !p.Verified {
			w.again = w.again.later(revisit{wait, fmt.Sprintf("GitHub has not told of our write of the %s yet: it is asked then", p.Attribute)})
		}
	}
	for _, p := range w.link.Late {
		if wait := w.set.Settle.GitHub - time.Since(p.At); toAsk(p) {
			w.again = w.again.later(revisit{wait, fmt.Sprintf("a write of the %s that was given up may still be under way", p.Attribute)})
		}
	}
}
