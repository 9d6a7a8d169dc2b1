package reconcile

import (
	"errors"
	"fmt"
	"slices"

	"planbridge/mapping"
)

// mark is one mark of the bridge on an item. off removes it and reports whether it did so:
// people may have removed it already.
type mark struct {
	mapping.CleanStep
	off func() (bool, error)
}

// marks lists the bridge's marks on the items that were read.
func (w cleaner) marks(tasks []mapping.Task) (out []mark) {
	if w.issue != nil && w.route.Writes(mapping.GitHub) {
		if w.link.Moving == nil { // else they go along with the issue
			out = append(w.labelMarks(), w.milestoneMarks()...)
		}
		out = append(out, w.bodyMarks()...)
	}
	if !w.route.Writes(mapping.Planning) {
		return out
	}
	if w.card != nil {
		out = append(out, w.footerMarks(w.pair.Partner(), w.card.Summary)...)
	}
	for _, t := range tasks {
		out = append(out, w.footerMarks(mapping.TaskRef(t.ID), t.Summary)...)
	}
	return out
}

// step describes a step on the pair's own issue, or on an item in planning.
func (w cleaner) step(side mapping.Side, format string, args ...any) mapping.CleanStep {
	return mapping.CleanStep{Where: where(w.pair), Side: side, What: fmt.Sprintf(format, args...)}
}

// labelMarks lists the labels that project the card, and the label of open questions. The
// issue's own labels count, as the answer to the write of a label may have been lost.
func (w cleaner) labelMarks() (out []mark) {
	own := w.shownLabels()
	if len(ledger(w).questions()) > 0 {
		own = append(own, ledger(w).conflictLabel())
	}
	for _, l := range w.issue.Labels {
		if !containsFold(own, l) {
			continue
		}
		out = append(out, mark{w.step(mapping.GitHub, "the label %s is taken off", l), func() (bool, error) {
			if err := saver(w).reserve(WriteEdit); err != nil {
				return false, err
			}
			if err := githubWriter(w).swapLabels(nil, []string{l}); err != nil {
				return false, err
			}
			w.shownLabels()
			return true, nil
		}})
	}
	return out
}

// shown is the projected part of the card on the root's issue. Nothing is recorded of a pair that a
// lost store knew. So a label or milestone of the bridge's form counts as the bridge's.
func (w cleaner) shown() *mapping.Shown {
	if w.link.Shown == nil && !w.pair.IsTask() {
		w.link.Shown = &mapping.Shown{Unsure: true}
	}
	return projector(w).shown()
}

// shownLabels returns the projected labels that the issue has, and records them.
func (w cleaner) shownLabels() []string {
	s := w.shown()
	if s == nil {
		return nil
	}
	s.Carry(w.issue.Labels, labelProjector(w).cardToShow(), w.set.Scheme)
	return slices.Concat(s.Labels, s.Made)
}

// milestoneMarks is the milestone that the bridge set, as long as the issue has it. After a
// write without an answer, the milestone of any sprint counts as ours.
func (w cleaner) milestoneMarks() []mark {
	s := w.shown()
	if s == nil {
		return nil
	}
	if s.Milestone == 0 && s.Unsure && mapping.ShowsSprint(w.issue, w.set.Keys) {
		s.Milestone = w.issue.Milestone
	}
	if s.Milestone == 0 || w.issue.Milestone != s.Milestone {
		return nil
	}
	return []mark{{w.step(mapping.GitHub, "the milestone %s is taken off", milestoneName(w.issue.Milestone)), func() (bool, error) {
		if err := w.lookAgain(); err != nil || w.issue.Milestone != s.Milestone {
			return false, err
		}
		if err := saver(w).writing(); err != nil {
			return false, err
		}
		none := 0
		issue, err := do(w, EditIssue{w.owner.Issue.Repo, w.owner.Issue.Number, IssueEdit{Milestone: &none}, true})
		if err != nil {
			return false, onGitHub(fmt.Errorf("take milestone off: %w", err))
		}
		s.Milestone = 0
		reader(w).issueIs(&issue)
		return true, nil
	}}}
}

// lookAgain reserves a write to the issue, and reads the issue right before it: GitHub has no
// lock.
func (w cleaner) lookAgain() error {
	if err := saver(w).reserve(WriteEdit); err != nil {
		return err
	}
	return reader(w).readIssue()
}

// bodyMarks is the marker in the body of an issue that the bridge made.
func (w cleaner) bodyMarks() []mark {
	marked := func() bool { return w.strip(w.issue.Body) != w.issue.Body }
	if !signer(w).marksItem(mapping.GitHub) || !marked() {
		return nil
	}
	step := w.step(mapping.GitHub, "the marker is taken out of the body")
	return []mark{{step, func() (bool, error) {
		if err := w.lookAgain(); err != nil || !marked() {
			return false, err
		}
		text := w.g[mapping.Summary].Value
		err := githubWriter(w).write(mapping.Plan{Decisions: []mapping.Decision{{
			Attribute: mapping.Summary, Action: mapping.Unmark, Why: step.What, Base: w.pair.Base[mapping.Summary], GitHub: &mapping.Write{From: text, To: text},
		}}})
		if err == nil && marked() {
			err = parks("the marker stays in the body: GitHub refused it: %s", w.pair.Refused[mapping.Summary].Message)
		}
		return err == nil, err
	}}}
}

// footerMarks is the footer of a card or a task; raw is its summary as planning has it.
func (w cleaner) footerMarks(item mapping.Ref, raw mapping.Versioned) []mark {
	bare := w.strip(raw.Value)
	if bare == raw.Value {
		return nil
	}
	return []mark{{w.step(mapping.Planning, "the footer is taken out of %s %s", item.Kind(), item.ID()), func() (bool, error) {
		err := signer(w).putText(item, mapping.Versioned{Value: bare, Version: raw.Version})
		if errors.As(err, new(*mapping.VersionConflict)) {
			return false, later(0, "planning moved while a footer was taken off")
		}
		return err == nil, onPlanning(err)
	}}}
}
