package reconcile

import (
	"slices"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// recoverLate takes in writes to planning that took effect after they had been looked for.
func (w *work) recoverLate() error {
	happened := false
	for _, r := range w.book().Landed() {
		w.recovered(r)
		happened = happened || r.Happened
	}
	if happened && w.issue == nil {
		return w.readIssue() // GitHub may have moved on since that was written
	}
	return nil
}

// settleLate deals with writes of ours that took effect when nobody expected
// them any more. What they wrote is an old value of ours and no edit: what stood
// there before is written again, and if that was a person's edit it is then a
// change of GitHub as any other. before is what stood there, by record, as far
// as it is known.
func (w *work) settleLate(before journal.Matches) error {
	journal.Expire(&w.pair.Journal, w.Now())
	w.lookForLate(before)
	late := slices.Clone(w.pair.Late)
	for _, p := range late {
		was, ok := before[p.ID]
		if !ok || p.Verified {
			continue
		}
		if w.book().Lost(p, was.Text, before) {
			if err := w.putBack(p, was, late); err != nil {
				return err
			}
		}
		journal.Verify(&w.pair.Journal, p, was)
	}
	return nil
}

// lookForLate looks for late writes of which no event told, see [journal.Book.Look].
func (w *work) lookForLate(before journal.Matches) {
	asked := map[mapping.Attribute]bool{}
	for _, p := range w.pair.Late {
		a := p.Attribute
		switch look := w.book().Look(p, before); {
		case look == journal.LookLanded:
			before[p.ID] = journal.Overwritten{Text: w.pair.Base[a].GitHub}
		case look == journal.LookUnbased:
			delete(w.pair.Base, a)
			w.note(mapping.GitHub, a, "late", "an old value of ours arrived late, or a person set the same")
		case look == journal.LookAsk && !asked[a]:
			asked[a] = true // for all of its records
			err := w.remembered(a, before)
			if err != nil {
				w.note(mapping.GitHub, a, "unverified", "whether a late write of ours took effect is not known: "+err.Error())
			}
			if err == nil || mapping.Refused(err) {
				w.book().Asked(a)
			}
		}
	}
}

// putBack restores what a late write ran over.
func (w *work) putBack(p mapping.Pending, over journal.Overwritten, late []mapping.Pending) error {
	if !w.fresh {
		if err := w.readIssue(); err != nil {
			return err
		}
	}
	a, now := p.Attribute, w.g[p.Attribute].Value
	if s, told := w.claim.Inbox[mapping.IssueRef(w.owner.Issue.ID)]; told && mapping.Same(a, now, over.Text) &&
		s.At == w.issue.UpdatedAt.Unix() && w.recent(s) {
		return w.errLags() // of the second in which an event told that it stands there no more
	}
	do, edited := w.book().Repair(p, over.Text, late)
	switch do {
	case journal.RepairLost:
		return w.bringBack(journal.LostUpdate{Write: p, Text: over.Text, By: over.At})
	case journal.RepairUnbased:
		delete(w.pair.Base, a)
		w.note(mapping.GitHub, a, "late", "an old value of ours arrived late, and somebody edited that")
		return nil
	case journal.RepairNothing:
		return nil
	}
	if edited {
		w.count(CountRecovered, w.link.Route)
	}
	w.note(mapping.GitHub, a, "late", "an old value of ours arrived late: what stood there is written again")
	return w.writeGitHub(mapping.Plan{Decisions: []mapping.Decision{{
		Attribute: a, Action: mapping.ToHub, Why: "a write of ours took effect too late", Base: w.pair.Base[a],
		GitHub: &mapping.Write{From: now, To: over.Text},
	}}})
}
