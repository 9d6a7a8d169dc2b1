package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// verifyWrites finds out the outcome of writes whose outcome is unknown, and the values that
// GitHub had before the successful ones.
func (w repairer) verifyWrites() error {
	if err := w.readPending(); err != nil {
		return err
	}
	if err := githubWriter(w).finishSwap(); err != nil {
		return err
	}
	before := journal.Match(&w.pair.Journal, w.editEvents(), nil)
	w.disambiguate(before)
	if err := w.recoverRead(before); err != nil {
		return err
	}
	w.queryEditHistory(before)
	if err := w.resolveInFlight(before); err != nil {
		return err
	}
	for _, p := range slices.Clone(w.pair.Pending) {
		was, ok := before[p.ID]
		if !ok || p.Verified {
			continue
		}
		if !mapping.Same(p.Attribute, was.Text, p.From) && w.book().Lost(p, was.Text, before) {
			err := w.restoreEdit(journal.LostUpdate{Write: p, Text: was.Text, By: was.At})
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

// readPending reads every item that has a write of unknown outcome.
func (w repairer) readPending() error {
	open := journal.UnansweredIn(&w.pair.Journal, w.pair.IsTask())
	if open.Issue && !w.fresh {
		if err := reader(w).readIssue(); err != nil {
			return err
		}
	}
	if open.Card && !w.mustRead {
		if err := reader(w).readCard(); err != nil {
			return err
		}
	}
	if open.Tracking && !w.mustRead {
		return cardTasks(w).readTracking()
	}
	return nil
}

// recoverAll records the outcome of writes whose outcome was unknown. GitHub's history lacks those in
// denied.
func (w repairer) recoverAll(before journal.Matches, denied map[string]bool) {
	for _, r := range w.book().RecoverAll(before, denied) {
		w.recovered(r)
		if r.Happened && r.Side == mapping.GitHub && r.Attribute.Spec().Carrier == mapping.CarrierBody {
			lister(w).wroteItems()
		}
	}
}

// recoverRead is recoverAll, and puts the key off where the issue was read before the outcome was
// known.
func (w repairer) recoverRead(before journal.Matches) error {
	if err := w.askActed(before); err != nil {
		return err
	}
	w.recoverAll(before, w.askReplaced(before))
	if w.issue != nil && freshness(w).takesBack(w.issue) {
		return freshness(w).deferStale()
	}
	return nil
}

// recovered records the outcome of one such write.
func (w repairer) recovered(r journal.Recovered) {
	if r.Unbased {
		delete(w.pair.Base, r.Attribute)
	}
	if r.Base != nil {
		w.pair.SetBase(r.Attribute, *r.Base)
	}
	if r.Why != "" {
		w.note(r.Side, r.Attribute, "recover", r.Why)
	}
}

// recoverLanded records writes to planning that took effect after the items were read for
// them.
func (w repairer) recoverLanded() error {
	happened := false
	for _, r := range w.book().Landed() {
		w.recovered(r)
		happened = happened || r.Happened
	}
	if happened && w.issue == nil {
		return reader(w).readIssue() // GitHub may have moved on since that write
	}
	return nil
}

// resolveInFlight handles writes of ours that took effect later than expected. Such a write
// sets an old value of ours, which is no edit. The value before it is written again; if a person
// wrote that, it is then an ordinary change of GitHub. The known values before the writes are in
// before, by record.
func (w repairer) resolveInFlight(before journal.Matches) error {
	journal.Expire(&w.pair.Journal, w.Now())
	w.findLanded(before)
	late := slices.Clone(w.pair.InFlight)
	for _, p := range late {
		was, ok := before[p.ID]
		if !ok || p.Verified {
			continue
		}
		if w.book().Lost(p, was.Text, before) {
			if err := w.restoreOverwritten(p, was, late); err != nil {
				return err
			}
		}
		journal.Verify(&w.pair.Journal, p, was)
	}
	return nil
}

// findLanded looks for late writes that no event reported, see [journal.Book.Look].
func (w repairer) findLanded(before journal.Matches) {
	asked := map[mapping.Attribute]bool{}
	for _, p := range w.pair.InFlight {
		a := p.Attribute
		switch look := w.book().Look(p, before); {
		case look == journal.LookLanded:
			before[p.ID] = journal.Overwritten{Text: w.pair.Base[a].GitHub}
		case look == journal.LookUnbased:
			delete(w.pair.Base, a)
			w.note(mapping.GitHub, a, "late", "an old value of ours arrived late, or a person set the same")
		case look == journal.LookAsk && !asked[a]:
			asked[a] = true // for all of its records
			err := w.matchHistory(a, before)
			if err != nil {
				w.note(mapping.GitHub, a, "unverified", "whether a late write of ours took effect is not known: "+err.Error())
			}
			if err == nil || mapping.Refused(err) {
				w.book().Asked(func(o mapping.Pending) bool { return o.Attribute == a })
			}
		}
	}
}

// restoreOverwritten restores the value that a late write replaced.
func (w repairer) restoreOverwritten(p mapping.Pending, over journal.Overwritten, late []mapping.Pending) error {
	if err := reader(w).fetch(); err != nil {
		return err
	}
	a, now := p.Attribute, w.g[p.Attribute].Value
	if s, told := w.claim.Inbox[mapping.IssueRef(w.owner.Issue.ID)]; told && mapping.Same(a, now, over.Text) &&
		s.At == w.issue.UpdatedAt.Unix() && freshness(w).recent(s) {
		return freshness(w).deferStale() // of the second in which an event showed that it is gone
	}
	do, edited := w.book().Repair(p, over.Text, late)
	switch do {
	case journal.RepairLost:
		return w.restoreEdit(journal.LostUpdate{Write: p, Text: over.Text, By: over.At})
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
	return githubWriter(w).write(mapping.Plan{Decisions: []mapping.Decision{{
		Attribute: a, Action: mapping.ToHub, Why: "a write of ours took effect too late", Base: w.pair.Base[a],
		GitHub: &mapping.Write{From: now, To: over.Text},
	}}})
}

// readAgain reads the issue before it is written, as GitHub has no lock. This read may be the
// first to show a late write of ours, which is nobody's edit.
func (w repairer) readAgain() error {
	if err := reader(w).readIssue(); err != nil {
		return err
	}
	w.list = list{} // of another body
	before := journal.Matches{}
	if err := w.recoverRead(before); err != nil {
		return err
	}
	return w.resolveInFlight(before)
}

// queryEditHistory asks GitHub's history about writes whose echo is overdue, and adds the
// values before them. Where GitHub does not tell, the record is dropped, and the link's
// history says so. Where GitHub is away, it is asked later.
func (w repairer) queryEditHistory(before journal.Matches) {
	asked := map[mapping.Attribute]error{}
	for _, p := range w.book().Overdue(before) {
		err, known := asked[p.Attribute]
		if !known {
			err = w.matchHistory(p.Attribute, before)
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
		journal.Forget(&w.pair.Journal, p.ID)
	}
}

// askReplaced asks GitHub's history about writes of unknown outcome that somebody may have
// replaced. It returns those that the history lacks.
func (w repairer) askReplaced(before journal.Matches) map[string]bool {
	denied := map[string]bool{}
	for _, p := range w.book().Replaced(before) {
		if _, echoed := before[p.ID]; echoed {
			continue
		}
		if err := w.matchHistory(p.Attribute, before); err != nil {
			w.log.Warn("whether a write happened is not known and GitHub cannot be asked", "attribute", p.Attribute, "err", err)
			continue
		}
		_, echoed := before[p.ID]
		denied[p.ID] = !echoed
	}
	return denied
}

// askActed asks GitHub whether writes of unknown outcome changed the issue's state or a label, which
// GitHub does not show. A write that did so is no longer in flight. A read from before it is stale, as
// one of the same second may be for a while.
func (w repairer) askActed(before journal.Matches) error {
	writes := w.book().MayHaveHappened()
	for _, p := range writes {
		at, err := do(w, ReadActed{w.owner.Issue.Repo, w.owner.Issue.Number, p.After, w.set.Scheme.ActOf(p.Attribute, p.From, p.To)})
		switch {
		case mapping.Refused(err):
			w.log.Warn("whether a write happened is not known, and GitHub does not tell", "attribute", p.Attribute, "err", err)
		case err != nil:
			return onGitHub(fmt.Errorf("ask whether a write of the %s happened: %w", p.Attribute, err))
		case !at.IsZero() && (w.issue.UpdatedAt.Before(at) || w.issue.UpdatedAt.Equal(at) && w.since(p.At) < journal.Doubt):
			return freshness(w).deferStale()
		case !at.IsZero():
			before[p.ID] = journal.Overwritten{Text: p.From}
			journal.Reopen(&w.pair.Journal, p.ID)
		}
	}
	w.book().Asked(func(o mapping.Pending) bool {
		return slices.ContainsFunc(writes, func(p mapping.Pending) bool { return p.ID == o.ID })
	})
	return nil
}

// matchHistory adds GitHub's history of one attribute.
func (w repairer) matchHistory(a mapping.Attribute, before journal.Matches) error {
	edits, err := do(w, ReadEdits{w.owner.Issue, a})
	if err == nil {
		maps.Copy(before, journal.Match(&w.pair.Journal, w.editsOf(edits), before))
	}
	return err
}

// disambiguate asks GitHub's history where events do not say which of our writes overwrote
// which value.
func (w repairer) disambiguate(before journal.Matches) {
	for _, a := range mapping.AttributesWith((*mapping.AttrSpec).HasHistory) {
		found, unclear := journal.Unclear(&w.pair.Journal, a, before)
		if !unclear {
			continue
		}
		if err := w.matchHistory(a, found); err != nil {
			w.log.Warn("which of our writes ran over what is not known and GitHub cannot be asked", "attribute", a, "err", err)
			continue
		}
		clear(before)
		maps.Copy(before, found)
	}
}

// scheduleVerify makes the key due again when the outcome of a write can be learnt.
func (w repairer) scheduleVerify() {
	for _, wait := range w.book().Waits() {
		w.again = w.again.latest(revisit{wait.After, wait.Why})
	}
}
