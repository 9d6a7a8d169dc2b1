package reconcile

import (
	"maps"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// lookBack asks GitHub what it remembers of the writes whose echo is overdue
// and adds what stood before them. Where GitHub does not tell, the record is
// dropped and the history says so; where it is away, it is asked later.
func (w *work) lookBack(before journal.Matches) {
	asked := map[mapping.Attribute]error{}
	for _, p := range w.book().Overdue(before) {
		if _, ok := before[p.ID]; ok {
			continue
		}
		err, known := asked[p.Attribute]
		if !known {
			err = w.remembered(p.Attribute, before)
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

// askReplaced asks GitHub about the writes of unknown outcome that somebody may have
// replaced. It returns those of which GitHub remembers nothing.
func (w *work) askReplaced(before journal.Matches) map[string]bool {
	denied := map[string]bool{}
	for _, p := range w.book().Replaced(before) {
		if _, echoed := before[p.ID]; echoed {
			continue
		}
		if err := w.remembered(p.Attribute, before); err != nil {
			w.log.Warn("whether a write happened is not known and GitHub cannot be asked", "attribute", p.Attribute, "err", err)
			continue
		}
		_, echoed := before[p.ID]
		denied[p.ID] = !echoed
	}
	return denied
}

// askClosed asks GitHub whether writes of unknown outcome closed the issue, which is open.
func (w *work) askClosed(before journal.Matches) {
	for _, p := range w.book().MayHaveClosed() {
		closed, err := do(w, ReadClosed{w.owner.Issue.Repo, w.owner.Issue.Number, p.After})
		if err != nil {
			w.log.Warn("whether a write closed the issue is not known and GitHub cannot be asked", "err", err)
		}
		if closed {
			before[p.ID] = journal.Overwritten{Text: p.From}
		}
	}
}

// remembered adds what GitHub remembers of one attribute's edits.
func (w *work) remembered(a mapping.Attribute, before journal.Matches) error {
	edits, err := do(w, ReadEdits{w.owner.Issue, a})
	if err == nil {
		maps.Copy(before, journal.Match(&w.pair.Journal, w.editsOf(edits), before))
	}
	return err
}

// tellApart asks GitHub where events do not tell which of our writes ran over what.
func (w *work) tellApart(before journal.Matches) {
	for _, a := range mapping.AttributesWith((*mapping.AttrSpec).HasHistory) {
		found, unclear := journal.Unclear(&w.pair.Journal, a, before)
		if !unclear {
			continue
		}
		if err := w.remembered(a, found); err != nil {
			w.log.Warn("which of our writes ran over what is not known and GitHub cannot be asked", "attribute", a, "err", err)
			continue
		}
		clear(before)
		maps.Copy(before, found)
	}
}

// verifyLater makes the key come back when something is to be learnt of a write.
func (w *work) verifyLater() {
	for _, wait := range w.book().Waits() {
		w.again = w.again.later(revisit{wait.After, wait.Why})
	}
}
