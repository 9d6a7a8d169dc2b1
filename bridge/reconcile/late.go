package reconcile

import (
	"context"
	"slices"
	"time"

	"planbridge/mapping"
)

const (
	// lateFor is how long a write that had not happened when it was looked for
	// is remembered: its process, or a proxy, may have been stopped for long.
	lateFor = 24 * time.Hour
	// maxLate bounds the records of an attribute, the newest of which are kept.
	maxLate = 4
)

// mayCome remembers a write that had not happened when it was looked for: it
// may still be under way.
func (w *work) mayCome(p mapping.Pending) {
	p.Old = nil
	if p.Side == mapping.GitHub {
		p.Next = mapping.Base{}
	}
	w.link.Late = append(w.link.Late, p)
	newer := 0
	for i, o := range slices.Backward(w.link.Late) {
		if o.Side == p.Side && o.Attribute == p.Attribute {
			newer++
		}
		if newer > maxLate {
			w.link.Late = slices.Delete(w.link.Late, i, i+1)
			return
		}
	}
}

// recoverLate takes in writes to planning that took effect after they had been
// looked for. The version that they carried tells them from a person's edit;
// one that is past cannot take effect any more.
func (w *work) recoverLate(ctx context.Context) error {
	happened := false
	w.link.Late = slices.DeleteFunc(w.link.Late, func(p mapping.Pending) bool {
		now, ok := w.p[p.Attribute]
		if p.Side != mapping.Planning || !ok || now.Version <= p.Next.Version {
			return false
		}
		if now.Version == p.Next.Version+1 && now.Version > w.link.Base[p.Attribute].Version {
			happened = w.recover(p, false, false) || happened
		}
		return true
	})
	if happened && w.issue == nil {
		return w.readIssue(ctx) // GitHub may have moved on since that was written
	}
	return nil
}

// settleLate deals with writes of ours that took effect when nobody expected
// them any more. What they wrote is an old value of ours and no edit: what stood
// there before is written again, and if that was a person's edit it is then a
// change of GitHub as any other. before is what stood there, by record, as far
// as it is known.
func (w *work) settleLate(ctx context.Context, before map[string]ranOver) error {
	w.link.Late = slices.DeleteFunc(w.link.Late, func(p mapping.Pending) bool { return time.Since(p.At) > lateFor })
	w.lookForLate(ctx, before)
	late := slices.Clone(w.link.Late)
	for _, p := range late {
		was, ok := before[p.ID]
		if !ok || p.Verified {
			continue
		}
		if w.lost(p, was.text, before) {
			if err := w.putBack(ctx, p, was, late); err != nil {
				return err
			}
		}
		w.verified(p, was)
	}
	return nil
}

// lookForLate looks for late writes of which no event told: GitHub shows what
// one of them wrote, or a text that no event explains. Where what was agreed on is
// what one of them wrote, anything that happened to the issue may be that; GitHub's
// times have whole seconds, so that its memory is asked once in any case. Where
// GitHub does not tell who wrote it, it counts as somebody's edit.
func (w *work) lookForLate(ctx context.Context, before map[string]ranOver) {
	asked := map[mapping.Attribute]bool{}
	for _, p := range w.link.Late {
		base, ok := w.link.Base[p.Attribute]
		if _, known := before[p.ID]; known || !ok || p.Verified || p.Side != mapping.GitHub {
			continue
		}
		agreed := mapping.Same(p.Attribute, p.To, base.GitHub)
		unasked := w.unasked(p)
		if agreed && !unasked && (w.writtenAgain(p) != nil || w.issue == nil || !w.issue.UpdatedAt.After(w.link.Issue.UpdatedAt)) {
			continue // nothing happened, or it is told apart from the echo that is awaited (tellApart)
		}
		if !p.Attribute.Spec().HasHistory() {
			switch {
			case agreed || !w.shows(p):
			case w.GitHub.Whose(w.issue.Editor).Ours():
				before[p.ID] = ranOver{text: base.GitHub}
			default:
				delete(w.link.Base, p.Attribute)
				w.note(mapping.GitHub, p.Attribute, "late", "an old value of ours arrived late, or a person set the same")
			}
			continue
		}
		if asked[p.Attribute] || !unasked && !w.shows(p) && !w.unexplained(p.Attribute) {
			continue
		}
		asked[p.Attribute] = true // for all of its records
		if err := w.remembered(ctx, p.Attribute, before); err != nil {
			w.note(mapping.GitHub, p.Attribute, "unverified", "whether a late write of ours took effect is not known: "+err.Error())
			if !mapping.Refused(err) {
				continue
			}
		}
		w.asked(p.Attribute)
	}
}

// toAsk reports whether GitHub's memory is yet to be asked for a late write.
func toAsk(p mapping.Pending) bool {
	return !p.Asked && !p.Verified && p.Side == mapping.GitHub && p.Attribute.Spec().HasHistory()
}

// unasked reports whether a late write cannot be under way any more, and GitHub's memory
// is yet to be asked for it.
func (w *work) unasked(p mapping.Pending) bool {
	return toAsk(p) && time.Since(p.At) >= w.set.Settle.GitHub
}

// asked notes that GitHub's memory was asked for the late writes of an attribute.
func (w *work) asked(a mapping.Attribute) {
	for i := range w.link.Late {
		if p := &w.link.Late[i]; p.Attribute == a && w.unasked(*p) {
			p.Asked = true
		}
	}
}

// unexplained reports whether GitHub shows another value than what was agreed
// on or written by a write on record, and no event tells that it was made from
// what was agreed on.
func (w *work) unexplained(a mapping.Attribute) bool {
	now, ok := w.g[a]
	base := w.link.Base[a].GitHub
	if w.issue == nil || !ok || mapping.Same(a, now.Value, base) || w.onRecord(a, now.Value) {
		return false
	}
	return !slices.ContainsFunc(w.edits, func(e mapping.Edit) bool {
		from, to, ok := editOf(e, a)
		return ok && mapping.Same(a, w.strip(to), now.Value) && mapping.Same(a, w.strip(from), base)
	})
}

// shows reports whether GitHub shows what a write of ours wrote, and no write
// on record explains it.
func (w *work) shows(p mapping.Pending) bool {
	now, ok := w.g[p.Attribute]
	return w.issue != nil && ok && mapping.Same(p.Attribute, now.Value, p.To) && !w.onRecord(p.Attribute, p.To)
}

// onRecord reports whether a write to GitHub that is not forgotten yet wrote a
// value, and nothing was agreed on since.
func (w *work) onRecord(a mapping.Attribute, value string) bool {
	return slices.ContainsFunc(w.link.Pending, func(o mapping.Pending) bool {
		return o.Side == mapping.GitHub && o.Attribute == a && mapping.Same(a, o.To, value) &&
			mapping.Same(a, o.Next.GitHub, w.link.Base[a].GitHub)
	})
}

// putBack restores what a late write ran over.
func (w *work) putBack(ctx context.Context, p mapping.Pending, over ranOver, late []mapping.Pending) error {
	if !w.fresh {
		if err := w.readIssue(ctx); err != nil {
			return err
		}
	}
	a, was := p.Attribute, over.text
	base, now := w.link.Base[a], w.g[a].Value
	if s, told := w.claim.Inbox[mapping.IssueRef(w.link.Issue.ID)]; told && mapping.Same(a, now, was) &&
		s.At == w.issue.UpdatedAt.Unix() && recent(s) {
		return w.errLags() // of the second in which an event told that it stands there no more
	}
	edited := !mapping.Same(a, was, base.GitHub) && !mapping.Same(a, was, p.From)
	planned, known := w.p[a]
	stands := slices.ContainsFunc(late, func(o mapping.Pending) bool { // what came late, and not what was written in its stead
		return o.Attribute == a && mapping.Same(a, now, o.To) && (w.writtenAgain(o) == nil || o.ID == p.ID && !edited)
	})
	switch {
	case p.Restores, // it seemed lost, but was not made again
		!stands && (edited || a.Spec().Mergeable()): // somebody has edited a text on top of it
		return w.bringBack(ctx, lostUpdate{p, was, over.at})
	case !stands && a.Spec().HasHistory() && !mapping.Same(a, now, was): // who edited it never saw what was agreed on
		delete(w.link.Base, a)
		w.note(mapping.GitHub, a, "late", "an old value of ours arrived late, and somebody edited that")
		return w.readCard(ctx)
	case !stands, mapping.Same(a, now, was):
		return nil
	case !edited && (mapping.Same(a, now, base.GitHub) || known && mapping.Equal(a, now, planned.Value)):
		return nil // by now it is what both sides hold
	}
	if edited {
		w.Metrics.Recovered.WithLabelValues(w.link.Route).Inc()
	}
	w.note(mapping.GitHub, a, "late", "an old value of ours arrived late: what stood there is written again")
	return w.writeGitHub(ctx, mapping.Plan{Decisions: []mapping.Decision{{
		Attribute: a, Action: mapping.ToHub, Why: "a write of ours took effect too late", Base: base,
		GitHub: &mapping.Write{From: now, To: was},
	}}})
}
