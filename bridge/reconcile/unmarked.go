package reconcile

import (
	"errors"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
)

// Between a create and the moment when its link has what was made, a person may
// take the marker off it, or move the text that holds it elsewhere. What the
// bridge made is then known by what the text was before, and what another link
// has meanwhile stays there.

// madeWith is the text of an issue by which the bridge knows what it made: the body,
// or the one that a person took the marker off, as an event or GitHub's memory tells
// it; "" where there is no marker of ours on an issue that may be ours.
func (w *work) madeWith(i *mapping.Issue) string {
	if !w.Whose(i.Author).Perhaps() {
		return ""
	}
	if w.set.Keys.Marked(i.Body) {
		return i.Body
	}
	for _, e := range w.edits {
		if e.Item == mapping.IssueRef(i.ID) && e.BodyFrom != nil && w.set.Keys.Marked(*e.BodyFrom) {
			return *e.BodyFrom
		}
	}
	if !w.Whose(i.Author).Ours() && !i.UpdatedAt.After(i.CreatedAt) {
		return "" // anybody's, and as it was opened as far as whole seconds tell
	}
	edits, err := do(w, ReadEdits{mapping.NameIssue(i), mapping.Summary})
	if err != nil { // many a GitHub does not tell
		w.log.Debug("earlier bodies are not told", "issue", issueName(i.Repo, i.Number), "err", err)
	}
	for _, e := range edits {
		if e.BodyFrom != nil && w.set.Keys.Marked(*e.BodyFrom) {
			return *e.BodyFrom
		}
	}
	return ""
}

// mayTake reports whether what was found by its marker is free to be the link's,
// and says so where it is not. What another link is only about to take in may yet
// be given back.
func (w *work) mayTake(ref mapping.Ref) (bool, error) {
	id, err := do(w, FindLink{w.link.Project, ref})
	if errors.Is(err, store.ErrNotFound) || err == nil && id == w.link.ID {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("find %s: %w", ref, err)
	}
	other, err := do(w, ReadLink{store.Key{Project: w.link.Project, Link: id}})
	switch {
	case errors.Is(err, store.ErrNotFound) || err == nil && other.State == mapping.Entering && w.since(other.Created) < parentFor:
		return false, later(lookupGap, "%s is between two links", ref)
	case err != nil:
		return false, fmt.Errorf("read link of %s: %w", ref, err)
	}
	w.note("", "", "left", fmt.Sprintf("%s carries its marker and belongs to another link, %s: it stays there", ref, id))
	return false, nil
}

// handBack gives an issue that is about to enter to the link that waits for it: the
// bridge made it for that, and a person took its marker off. It reports whether
// there is one.
func (w *work) handBack() (handed bool, err error) {
	if w.link.Import != "" {
		return false, nil
	}
	_, marks := w.set.Keys.Body(w.madeWith(w.issue))
	for _, m := range marks {
		if m.Kind != mapping.MarkIssue {
			continue
		}
		ref := mapping.CardRef(mapping.ObjectID(m.Partner))
		id, err := do(w, FindLink{w.link.Project, ref})
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("find %s: %w", ref, err)
		}
		maker, err := do(w, ReadLink{store.Key{Project: w.link.Project, Link: id}})
		if errors.Is(err, store.ErrNotFound) || err == nil && (maker.State != mapping.Creating || maker.Issue.ID != 0) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("read link of %s: %w", ref, err)
		}
		if err := w.tell(w.link.Project, ref); err != nil {
			return false, err
		}
		return true, w.refuse("the bridge made it for " + string(ref))
	}
	return false, nil
}

// tell hands over what was seen of the issue, and what its events told, to the link
// that has ref in a project.
func (w *work) tell(project mapping.ObjectID, ref mapping.Ref) error {
	var told []store.Observation
	for _, event := range w.claim.Events {
		if !w.pair.IsTask() { // a part's are among its root's
			told = append(told, store.Observation{Refs: []mapping.Ref{ref}, Event: event})
		}
	}
	if err := w.pass(w.issue, project, store.Observation{Refs: []mapping.Ref{ref}}, told...); err != nil {
		return fmt.Errorf("hand over to %s: %w", ref, err)
	}
	return nil
}
