package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// A write of ours that runs over a person's edit is found by its record and its echo. Where
// the store is lost between the two, the record is lost as well. GitHub remembers both edits.

// keepForgotten keeps what writes of ours ran over shortly before the store lost the pair.
// Nothing tells any more whether the person's edit was known when it was written over, so
// that nothing is brought back: the text goes to the ledger and onto the issue.
func (w *work) keepForgotten() error {
	if !w.pair.Synced.IsZero() || w.issue == nil || w.unmarked != "" || w.since(w.issue.UpdatedAt) > journal.InFlightFor {
		return nil
	}
	for _, a := range []mapping.Attribute{mapping.Title, mapping.Summary} {
		if _, based := w.pair.Base[a]; based {
			continue
		}
		edits, err := do(w, ReadEdits{w.owner.Issue, a})
		if mapping.Refused(err) || err != nil && w.claim.Attempts > 1 {
			w.note(mapping.GitHub, a, "unverified", "whether a write ran over an edit before the store was lost is not known: "+err.Error())
			continue
		}
		if err != nil {
			return onGitHub(fmt.Errorf("earlier edits: %w", err))
		}
		if err := w.keepEach(a, w.editsOf(edits).Forgotten(a, w.merge)); err != nil {
			return err
		}
	}
	return nil
}

// keepEach keeps texts that were run over, but for those that a comment of ours has.
func (w *work) keepEach(a mapping.Attribute, lost []journal.LostUpdate) error {
	if len(lost) == 0 {
		return nil
	}
	comments, err := do(w, ReadComments{w.owner.Issue.Repo, w.owner.Issue.Number})
	if err != nil {
		return onGitHub(fmt.Errorf("comments: %w", err))
	}
	for _, l := range lost {
		if slices.ContainsFunc(comments, func(c Comment) bool { return w.Whose(c.Author).Ours() && strings.Contains(c.Body, l.Text) }) {
			continue
		}
		d := mapping.Decision{Attribute: a, Action: mapping.Settle, Winner: mapping.Planning, Why: "a write of ours ran over an edit before the store was lost", Loses: true}
		if err := w.keepTexts(d, l.Text, l.Write.To); err != nil {
			return err
		}
	}
	return nil
}
