package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
)

// A write of ours that runs over a person's edit is found by its record and its echo. Where
// the store is lost between the two, the record is lost as well. GitHub remembers both edits.

// keepForgotten keeps what writes of ours ran over shortly before the store lost the pair.
// Nothing tells any more whether the person's edit was known when it was written over, so
// that nothing is brought back: the text goes to the ledger and onto the issue.
func (w *work) keepForgotten(ctx context.Context) error {
	if !w.link.Synced.IsZero() || w.issue == nil || w.unmarked != "" || w.set.DryRun || time.Since(w.issue.UpdatedAt) > lateFor {
		return nil
	}
	for _, a := range []mapping.Attribute{mapping.Title, mapping.Summary} {
		if _, based := w.link.Base[a]; based {
			continue
		}
		edits, err := w.atGitHub().Edits(ctx, w.link.Issue, a)
		if mapping.Refused(err) || err != nil && w.claim.Attempts > 1 {
			w.note(mapping.GitHub, a, "unverified", "whether a write ran over an edit before the store was lost is not known: "+err.Error())
			continue
		}
		if err != nil {
			return onGitHub(fmt.Errorf("earlier edits: %w", err))
		}
		if err := w.keepEach(ctx, a, w.forgotten(a, edits)); err != nil {
			return err
		}
	}
	return nil
}

// keepEach keeps texts that were run over, but for those that a comment of ours has.
func (w *work) keepEach(ctx context.Context, a mapping.Attribute, lost []lostUpdate) error {
	if len(lost) == 0 {
		return nil
	}
	comments, err := w.atGitHub().Comments(ctx, w.link.Issue.Repo, w.link.Issue.Number, time.Time{})
	if err != nil {
		return onGitHub(fmt.Errorf("comments: %w", err))
	}
	for _, l := range lost {
		if slices.ContainsFunc(comments, func(c Comment) bool { return w.GitHub.Whose(c.Author).Ours() && strings.Contains(c.Body, l.text) }) {
			continue
		}
		d := mapping.Decision{Attribute: a, Action: mapping.Settle, Winner: mapping.Planning, Why: "a write of ours ran over an edit before the store was lost", Loses: true}
		if err := w.keepTexts(ctx, d, l.text, l.write.To); err != nil {
			return err
		}
	}
	return nil
}

// forgotten finds, in an attribute's edits, those of people that a write of ours replaced
// so soon that it may not have known them, and that nothing since holds.
func (w *work) forgotten(a mapping.Attribute, edits []mapping.Edit) (lost []lostUpdate) {
	for i := 1; i < len(edits); i++ {
		before, text, edited := editOf(edits[i-1], a)
		from, to, wrote := editOf(edits[i], a)
		before, text, from, to = w.strip(before), w.strip(text), w.strip(from), w.strip(to)
		switch {
		case !edited || !wrote || !w.GitHub.Whose(edits[i].Sender).Ours() || w.GitHub.Whose(edits[i-1].Sender).Ours():
		case !mapping.Same(a, text, from) || edits[i].At.Sub(edits[i-1].At) > doubt:
		case slices.ContainsFunc(edits[i:], func(e mapping.Edit) bool { return w.holds(a, e, before, text) }):
		default:
			lost = append(lost, lostUpdate{write: mapping.Pending{Attribute: a, From: from, To: to}, text: text, by: edits[i].At})
		}
	}
	return lost
}

// holds reports whether what an edit left there holds all that a person had changed.
func (w *work) holds(a mapping.Attribute, e mapping.Edit, before, text string) bool {
	_, to, ok := editOf(e, a)
	to = w.strip(to)
	if !ok || a != mapping.Summary {
		return ok && mapping.Same(a, to, text)
	}
	both, clean := w.merge(before, to, text)
	return clean && mapping.Same(a, both, to)
}
